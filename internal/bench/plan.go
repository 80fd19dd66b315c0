package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// fastest is how many calls a second, over the network, no fleet is expected to
	// answer. A measurement that comes to it ends, so the plan is a bound.
	fastest = 500_000
	// mostFromMemory is how many IDs are drawn from memory in one measurement.
	mostFromMemory = 50_000_000
	// largestStep is how many IDs are reserved at a time for that. Three times as
	// many can be left when an Allocator is closed.
	largestStep = 20_000_000
	leftAtClose = 3 * largestStep
	// forFailingOver bounds what is reserved for it.
	forFailingOver = 1_000_000
	// share is the part of what is left that may be used up.
	share = 1000
)

// Plan is how much a run uses up at most.
type Plan struct {
	Servers     int           // of the fleet that answer
	Tickets     int64         // drawn
	TicketsLeft int64         // rounds of tickets until the ceiling
	TicketsOut  string        // why tickets are left out; empty if they are not
	Rounds      int64         // of the sequence, reserved
	RoundsLeft  int64         // until its ceiling
	Takes       time.Duration // roughly
}

// SpaceError says that a sequence is too small to be measured with.
type SpaceError struct {
	Sequence string
	Need     int64 // rounds that a run uses at most
	Left     int64 // rounds until the ceiling
}

// Error says how much is needed, how much is left, and what to do.
func (e *SpaceError) Error() string {
	return fmt.Sprintf("bench: sequence %s has %d rounds left, and measuring with it could use up %d, more than a thousandth: "+
		"create one for it, without --ceiling, or take a shorter --duration", sequence.Quote(e.Sequence), e.Left, e.Need)
}

// NewPlan finds out how much a run would use up, and changes nothing. Errors: a
// *ticket.ConfigError; those of ticket.Open; a *segment.UnknownSequenceError if no
// server that answers has the sequence; a *SpaceError.
func NewPlan(ctx context.Context, cfg Config) (p Plan, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return p, err
	}
	fleet, err := cfg.open(ctx)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, fleet.Close()) }()
	runs := int64(len(cfg.Callers))
	perRun := int64(math.Ceil(cfg.Duration.Seconds() * fastest))
	for _, s := range fleet.Stats().Servers {
		if s.State == ticket.StateUp {
			p.Servers++
		}
	}
	p.Tickets = runs * perRun
	if p.TicketsLeft, err = ticketsLeft(ctx, cfg); err != nil {
		return p, err
	}
	if p.Tickets > p.TicketsLeft/share {
		p.TicketsOut = fmt.Sprintf("of the %d rounds left up to %d could be used up, more than a thousandth; take a shorter --duration", p.TicketsLeft, p.Tickets)
		p.Tickets = 0
	}
	p.Takes = time.Duration(runs) * time.Duration(p.Servers+2) * cfg.Duration
	if cfg.Sequence == "" {
		return p, nil
	}
	memory := int64(len(inMemory(cfg.Callers)))
	p.Rounds = runs*perRun + 3*memory*mostFromMemory + 2*leftAtClose + forFailingOver
	p.Takes += time.Duration(runs)*cfg.Duration + 3*time.Duration(memory)*min(cfg.Duration, time.Second/2) + 2*outageOf(cfg.Duration, leaseWanted) + 2*time.Second
	return p, p.checkSequence(ctx, fleet, cfg.Sequence)
}

// checkSequence finds out how much of the sequence is left.
func (p *Plan) checkSequence(ctx context.Context, fleet *ticket.Fleet, name string) error {
	source, err := segment.NewSource(fleet, name)
	if err != nil {
		return err
	}
	if _, err := source.Floor(ctx); err != nil {
		return err
	}
	found, errs := sequence.Read(ctx, fleet, name)
	if len(found) == 0 {
		return errors.Join(append([]error{ticket.ErrUnavailable}, errs...)...)
	}
	p.RoundsLeft = math.MaxInt64
	for _, s := range found[0].Servers {
		if s.Row != nil {
			p.RoundsLeft = min(p.RoundsLeft, s.Class.LastRound(s.Row.Ceiling)-s.Row.Rounds)
		}
	}
	if p.Rounds > p.RoundsLeft/share {
		return &SpaceError{Sequence: name, Need: p.Rounds, Left: p.RoundsLeft}
	}
	return nil
}

// ticketsLeft is how many rounds of tickets are left on the server that has the
// fewest.
func ticketsLeft(ctx context.Context, cfg Config) (int64, error) {
	all, err := ticket.Inspect(ctx, ticket.Config{Servers: cfg.Servers, Timeout: cfg.Timeout})
	if err != nil {
		return 0, err
	}
	left := int64(math.MaxInt64)
	for _, s := range all {
		if s.Err == nil {
			class := schema.Class{Offset: s.Offset, Increment: s.Increment}
			left = min(left, class.LastRound(s.Ceiling)-class.Round(max(s.Top, 0)))
		}
	}
	return max(0, left), nil
}
