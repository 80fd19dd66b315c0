package importer

import (
	"context"
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// Run reads the old tables and the fleet anew, creates what is missing on every
// server, reads it back, and reads the old tables once more. before is the plan
// that somebody agreed to; the zero Plan if nobody was asked.
//
// Nothing is created unless everything can be. The same call again completes what
// was interrupted. The plan that is returned is what was done, also beside an
// error of kind ErrRisen or ErrVerify; else it is empty if there is an error. It
// waits for the network and ends with ctx. Errors are those of Prepare, and *Error
// of kind ErrRunning, ErrRisen or ErrVerify.
func Run(ctx context.Context, fleet *ticket.Fleet, cfg Config, before Plan) (Plan, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return Plan{}, err
	}
	p, err := c.prepare(ctx, fleet)
	if err != nil {
		return Plan{}, err
	}
	if err := c.stillRunning(before, p); err != nil {
		return Plan{}, err
	}
	for i := range p.Steps {
		if err := p.Steps[i].create(ctx, fleet); err != nil {
			return Plan{}, p.interrupted(i, err)
		}
	}
	return p, c.verify(ctx, fleet, p)
}

// stillRunning notices an old system that was to be stopped and issues numbers.
func (c Config) stillRunning(before, now Plan) error {
	var errs []error
	for _, rise := range rises(before.numberings(), now.numberings()) {
		if c.Margin == 0 {
			errs = append(errs, &Error{
				Subject: rise.old, Problem: fmt.Sprintf("rose from %d to %d since the plan was made, so the old system still issues numbers", rise.from, rise.to),
				Remedy: "Nothing was changed. Stop the old system, or leave it room with --margin", Kind: ErrRunning,
			})
		}
	}
	return errors.Join(errs...)
}

// rise is an old numbering that went on between two readings.
type rise struct {
	sequence, old string
	from, to      int64
}

func rises(before, after []Numbering) []rise {
	type key struct{ sequence, source, old string }
	known := map[key]int64{}
	for _, n := range before {
		for _, r := range n.Readings {
			known[key{n.Sequence, r.Source, r.Old}] = r.Highest
		}
	}
	var all []rise
	for _, n := range after {
		for _, r := range n.Readings {
			if from, found := known[key{n.Sequence, r.Source, r.Old}]; found && r.Highest > from {
				all = append(all, rise{n.Sequence, r.Old + " on " + r.Source, from, r.Highest})
			}
		}
	}
	return all
}

// create makes the sequence of a step, unless it is there.
func (s *Step) create(ctx context.Context, fleet *ticket.Fleet) error {
	if (sequence.Plan{Changes: s.Servers}).Empty() {
		return nil
	}
	p, err := sequence.Create(ctx, fleet, s.spec)
	if err == nil {
		s.Servers = p.Changes
	}
	return err
}

// interrupted says how far an import came.
func (p Plan) interrupted(done int, err error) error {
	if done == 0 {
		return err
	}
	return fmt.Errorf("%d of %d sequences were created; the same command again creates the others: %w", done, len(p.Steps), err)
}

// verify reads the fleet and the old tables once more.
func (c Config) verify(ctx context.Context, fleet *ticket.Fleet, p Plan) error {
	if err := p.verifyFleet(ctx, fleet); err != nil {
		return err
	}
	after, err := c.read(ctx)
	if err != nil {
		return fmt.Errorf("the sequences were created, but the old tables could not be read again; the same command again checks them: %w", err)
	}
	return c.verifyOld(p, after)
}

// verifyFleet holds every server to the plan.
func (p Plan) verifyFleet(ctx context.Context, fleet *ticket.Fleet) error {
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Sequence)
	}
	all, errs := sequence.Read(ctx, fleet, names...)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the sequences were created, but could not be read back; the same command again checks them: %w", err)
	}
	found := map[string]sequence.Sequence{}
	for _, q := range all {
		found[q.Name] = q
	}
	for _, s := range p.Steps {
		q, ok := found[s.Sequence]
		if !ok || !q.InOrder() || len(q.Servers) != len(s.Servers) {
			return s.unverified("is not in order on every server")
		}
		for _, o := range q.Servers {
			if next := o.Class.ID(o.Row.Rounds + 1); next <= s.Highest {
				return s.unverified(fmt.Sprintf("issues %d next on %s, which is not above %d", next, o.Server, s.Highest))
			}
		}
	}
	return nil
}

func (s Step) unverified(problem string) error {
	return &Error{
		Subject: "sequence " + sequence.Quote(s.Sequence), Problem: problem, Kind: ErrVerify,
		Remedy: "Do not use it before `oddeven sequence show " + sequence.ShellQuote(s.Sequence) + "` says that it is in order",
	}
}

// verifyOld compares the old tables with what they were when the sequences were created.
func (c Config) verifyOld(p Plan, after []Numbering) error {
	var errs []error
	for _, rise := range rises(p.numberings(), after) {
		for i, s := range p.Steps {
			if s.Sequence != rise.sequence {
				continue
			}
			if left := s.FirstID() - 1 - rise.to; c.Margin > 0 && left >= 0 {
				p.Steps[i].Warnings = append(s.Warnings, fmt.Sprintf("%s still issues numbers: it rose from %d to %d, and %d are left before it meets the first ID.", rise.old, rise.from, rise.to, left))
				continue
			}
			errs = append(errs, &Error{
				Subject: rise.old, Kind: ErrRisen,
				Problem: fmt.Sprintf("rose from %d to %d while sequence %s was created to start at %d", rise.from, rise.to, sequence.Quote(s.Sequence), s.FirstID()),
				Remedy:  fmt.Sprintf("Do not use the sequence yet: stop the old system, then run `oddeven sequence bump %s N` with an N above its last number", sequence.ShellQuote(s.Sequence)),
			})
		}
	}
	return errors.Join(errs...)
}
