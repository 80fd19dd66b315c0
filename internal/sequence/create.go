package sequence

import (
	"context"
	"fmt"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// Spec is a sequence to be created.
type Spec struct {
	// Name is as CheckName wants it.
	Name string
	// Start is a number that no ID is below, 1 to the ceiling. Zero is the
	// beginning: the first IDs are increment + 1 to 2 · increment.
	Start int64
	// Ceiling is a number that no ID is above, without shard bits. Zero is the
	// largest: 2^(53 − shard bits) − 1.
	Ceiling int64
	// Description is for people: at most 255 characters, none of them control
	// characters.
	Description string
}

// Create creates a sequence on every server of the fleet, all of which must be
// up, and returns what it did. A sequence that was deleted goes on above
// everything it may have issued, with the ceiling and the description of spec.
// One that a client began to create like this and did not complete is completed.
// Two clients may create a sequence at the same time.
//
// It waits for the network and ends with ctx. Errors: a *ticket.ConfigError; or an
// *Error of kind ErrExists, ErrIncomplete, ErrFarAhead, ErrServers, ErrClocks or
// ErrInterrupted.
func Create(ctx context.Context, fleet *ticket.Fleet, spec Spec) (Plan, error) {
	return spec.run(ctx, fleet, false)
}

// PlanCreate returns what Create would do, and changes nothing.
func PlanCreate(ctx context.Context, fleet *ticket.Fleet, spec Spec) (Plan, error) {
	return spec.run(ctx, fleet, true)
}

func (spec Spec) run(ctx context.Context, fleet *ticket.Fleet, dry bool) (Plan, error) {
	if err := checkDescription(spec.Description); err != nil {
		return Plan{}, err
	}
	return change(ctx, fleet, spec.Name, dry, spec.plan)
}

// plan creates, revives or completes.
func (spec Spec) plan(s Sequence, again bool) (Plan, error) {
	if err := spec.check(s.Servers[0]); err != nil {
		return Plan{}, err
	}
	g := goal{
		want:  State{Ceiling: spec.ceiling(s.Servers[0]), Description: spec.Description},
		start: spec.Start, rebase: true, fresh: true,
	}
	state, floor := s.State, roundBelow(spec.Start, s.Servers[0].Class.Increment)
	like := state.Ceiling == g.want.Ceiling && state.Description == g.want.Description
	switch found := newest(s.Servers); {
	case found == nil:
	case state.Deleted:
		g.leap = true // a restored server may not even know that it was deleted
	case s.everywhere() && (!again || !like || floor > state.Base):
		return Plan{}, spec.exists(s)
	case !like:
		return Plan{}, &Error{
			Sequence: s.Name, Problem: fmt.Sprintf("some servers have it, with ceiling %d and description %q, others do not", state.Ceiling, state.Description),
			Remedy: "Run `oddeven sequence repair` to complete it", Kind: ErrIncomplete,
		}
	default:
		g = goal{want: state, start: spec.Start, rebase: floor > state.Base}
	}
	p, err := s.plan(g)
	if err == nil {
		p.Warnings = outrun(p.Changes[0].To.State, s.Servers[0].Class)
	}
	return p, err
}

// everywhere reports whether every server has the sequence, and not as a tombstone.
func (s Sequence) everywhere() bool {
	for _, o := range s.Servers {
		if o.Row == nil || o.Row.Deleted {
			return false
		}
	}
	return true
}

// exists says what to do instead.
func (spec Spec) exists(s Sequence) error {
	err := &Error{Sequence: s.Name, Problem: "exists already", Remedy: "`oddeven sequence bump` raises it", Kind: ErrExists}
	if !s.InOrder() {
		err.Remedy = "`oddeven sequence repair` mends what some servers have missed"
	}
	return err
}

func (spec Spec) ceiling(o OnServer) int64 {
	if spec.Ceiling == 0 {
		return schema.CeilingFor(o.bits)
	}
	return spec.Ceiling
}

// check refuses numbers that no fleet like this one can have.
func (spec Spec) check(o OnServer) error {
	lowest, highest := 2*o.Class.Increment, schema.CeilingFor(o.bits)
	if c := spec.ceiling(o); c < lowest || c > highest {
		return &ticket.ConfigError{Field: "Ceiling", Value: spec.Ceiling, Remedy: fmt.Sprintf("must be %d to %d in this fleet", lowest, highest)}
	}
	if spec.Start < 0 {
		return &ticket.ConfigError{Field: "Start", Value: spec.Start, Remedy: "must be at least 1"}
	}
	return nil
}
