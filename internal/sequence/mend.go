package sequence

import (
	"context"

	"github.com/oddeven/oddeven/ticket"
)

// Bump raises a sequence on every server of the fleet, all of which must be up,
// so that no ID below start, at least 1, is reserved any more; clients use up what
// they hold. Nothing is lowered:
// where the sequence is beyond start already, and nothing is to be mended, it
// stays as it is. Its clock line begins anew. Servers that missed a change are
// mended by the way.
//
// It waits for the network and ends with ctx. Errors: a *ticket.ConfigError; or an
// *Error of kind ErrUnknown, ErrDeleted, ErrFarAhead, ErrServers, ErrClocks or
// ErrInterrupted.
func Bump(ctx context.Context, fleet *ticket.Fleet, name string, start int64) (Plan, error) {
	return change(ctx, fleet, name, false, bump(start))
}

// PlanBump returns what Bump would do, and changes nothing.
func PlanBump(ctx context.Context, fleet *ticket.Fleet, name string, start int64) (Plan, error) {
	return change(ctx, fleet, name, true, bump(start))
}

func bump(start int64) planner {
	return func(s Sequence, _ bool) (Plan, error) {
		if start < 1 {
			return Plan{}, &ticket.ConfigError{Field: "Start", Value: start, Remedy: "must be at least 1"}
		}
		if err := s.known(); err != nil {
			return Plan{}, err
		}
		if s.State.Deleted {
			return Plan{}, &Error{Sequence: s.Name, Problem: "is deleted", Remedy: "`oddeven sequence create` revives it above everything it has issued", Kind: ErrDeleted}
		}
		floor := roundBelow(start, s.Servers[0].Class.Increment)
		rebase := false
		for _, o := range s.Servers {
			rebase = rebase || o.Row == nil || o.Row.Rounds < floor || s.forgetful(o)
		}
		return s.plan(goal{want: s.State, start: start, rebase: rebase})
	}
}

// Repair mends the servers that missed a change, or forgot it: every row gets
// the newest state that a server has, a tombstone as well. A row that is missing,
// older, or of another generation than its server leaps beyond everything that
// may have been issued. All servers of the fleet must be up. A row that is far
// ahead of the others cannot be lowered: that is an *Error of kind ErrFarAhead.
//
// It waits for the network and ends with ctx. Other errors: an *Error of kind
// ErrUnknown, ErrServers, ErrClocks or ErrInterrupted.
func Repair(ctx context.Context, fleet *ticket.Fleet, name string) (Plan, error) {
	return change(ctx, fleet, name, false, repair)
}

// PlanRepair returns what Repair would do, and changes nothing.
func PlanRepair(ctx context.Context, fleet *ticket.Fleet, name string) (Plan, error) {
	return change(ctx, fleet, name, true, repair)
}

func repair(s Sequence, _ bool) (Plan, error) {
	if err := s.known(); err != nil {
		return Plan{}, err
	}
	if err := s.follows(0, latest(s.Servers)); err != nil {
		return Plan{}, err
	}
	return s.plan(goal{want: s.State})
}

// Delete leaves a tombstone on every server of the fleet, all of which must be
// up. Clients go on with what they have reserved. The name may be created again;
// it then goes on above everything it may have issued.
//
// It waits for the network and ends with ctx. Errors: an *Error of kind
// ErrUnknown, ErrFarAhead, ErrServers, ErrClocks or ErrInterrupted.
func Delete(ctx context.Context, fleet *ticket.Fleet, name string) (Plan, error) {
	return change(ctx, fleet, name, false, remove)
}

// PlanDelete returns what Delete would do, and changes nothing.
func PlanDelete(ctx context.Context, fleet *ticket.Fleet, name string) (Plan, error) {
	return change(ctx, fleet, name, true, remove)
}

func remove(s Sequence, _ bool) (Plan, error) {
	if err := s.known(); err != nil {
		return Plan{}, err
	}
	want := s.State
	want.Deleted = true
	return s.plan(goal{want: want})
}

// known refuses a sequence that no server has.
func (s Sequence) known() error {
	if newest(s.Servers) == nil {
		return &Error{Sequence: s.Name, Problem: "no server has it", Remedy: "`oddeven sequence list` shows those there are", Kind: ErrUnknown}
	}
	return nil
}
