package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// attempts bounds how often a change is planned anew because somebody else
// changed the sequence at the same time.
const attempts = 8

// planner makes a plan of what was read. again says that this change has been
// begun before, and somebody else was faster somewhere.
type planner func(s Sequence, again bool) (Plan, error)

// change plans, carries out and verifies; dry stops after the plan.
func change(ctx context.Context, fleet *ticket.Fleet, name string, dry bool, plan planner) (Plan, error) {
	if err := CheckName(name); err != nil {
		return Plan{}, err
	}
	for attempt := range attempts {
		s, err := look(ctx, fleet, name)
		if err != nil {
			return Plan{}, begun(name, attempt > 0, err)
		}
		p, err := plan(s, attempt > 0)
		if err != nil || dry || p.Empty() {
			return p, err
		}
		done, err := carryOut(ctx, fleet, p)
		if err != nil {
			return p, err
		}
		if done {
			return p, nil
		}
	}
	return Plan{}, interrupted(name, errors.New("other clients keep changing it"))
}

// look reads the sequence on every server; all must answer.
func look(ctx context.Context, fleet *ticket.Fleet, name string) (Sequence, error) {
	readings, errs := readAll(ctx, fleet, []string{name})
	if err := ctx.Err(); err != nil {
		return Sequence{}, err
	}
	if err := errors.Join(errs...); err != nil {
		return Sequence{}, &Error{
			Sequence: name, Problem: "cannot be changed unless every server of the fleet is up", Kind: ErrServers, Err: err,
			Remedy: "Nothing was changed; try again when these are up",
		}
	}
	s := assemble(name, readings)
	if err := unnamed(name, readings); err != nil {
		return Sequence{}, err
	}
	return s, s.sameTime()
}

// unnamed refuses a client that does not name all servers of the fleet. Whether a
// sequence is new, and how far it is, may be known to the missing one alone.
func unnamed(name string, readings []reading) error {
	for _, r := range readings {
		for _, offset := range r.peers {
			if !slices.ContainsFunc(readings, func(r reading) bool { return r.on.Class.Offset == offset }) {
				return &Error{
					Sequence: name, Kind: ErrServers,
					Problem: fmt.Sprintf("cannot be changed without the server with offset %d, which is not among those given and which %s remembers", offset, r.on.Server),
					Remedy:  fmt.Sprintf("Nothing was changed; give all servers of the fleet, or retire that one for good (`oddeven migrate up --retired %d`)", offset),
				}
			}
		}
	}
	return nil
}

// sameTime refuses clocks that clock lines cannot bear.
func (s Sequence) sameTime() error {
	first, last := s.Servers[0].Now, s.Servers[0].Now
	for _, o := range s.Servers {
		first, last = min(first, o.Now), max(last, o.Now)
	}
	if last-first <= schema.ClockMargin/2 {
		return nil
	}
	return &Error{
		Sequence: s.Name, Problem: fmt.Sprintf("cannot be changed while the clocks of the servers are %d seconds apart", last-first), Kind: ErrClocks,
		Remedy: "Nothing was changed; set the clocks",
	}
}

// begun says of an error after a change was begun that it has to be completed.
func begun(name string, begun bool, err error) error {
	if !begun {
		return err
	}
	return interrupted(name, err)
}

// interrupted says that a change has to be completed. That nothing was changed, as a
// look says that comes too late, is then not so.
func interrupted(name string, err error) error {
	if look, ok := errors.AsType[*Error](err); ok && (errors.Is(look.Kind, ErrServers) || errors.Is(look.Kind, ErrClocks)) {
		err = look.Err
		if err == nil {
			err = errors.New(look.Problem)
		}
	}
	return &Error{
		Sequence: name, Problem: "the change was begun and may not have reached every server", Kind: ErrInterrupted, Err: err,
		Remedy: "No ID can be issued twice because of that. Run the same command again, or `oddeven sequence repair`, to complete it",
	}
}

// carryOut writes the rows and reads them back. It reports false if somebody
// else has changed the sequence meanwhile. The server with the lowest offset
// comes first: of two clients, the one that is faster there goes on.
func carryOut(ctx context.Context, fleet *ticket.Fleet, p Plan) (bool, error) {
	order := make([]OnServer, len(p.Changes))
	for i, c := range p.Changes {
		order[i].Class = c.Class
	}
	first := byOffset(order)[0]
	won, err := write(ctx, fleet, p, func(i int) bool { return i == first })
	if err != nil {
		return false, interrupted(p.Sequence, err)
	}
	if !won {
		return false, nil
	}
	if _, err := write(ctx, fleet, p, func(i int) bool { return i != first }); err != nil {
		return false, interrupted(p.Sequence, err)
	}
	s, err := look(ctx, fleet, p.Sequence)
	if err != nil {
		return false, interrupted(p.Sequence, err)
	}
	return p.reached(s), nil
}

// write carries out the changes on the chosen servers, side by side. It reports
// false if something was not as it was planned from.
func write(ctx context.Context, fleet *ticket.Fleet, p Plan, chosen func(int) bool) (bool, error) {
	changes := map[string]Change{}
	for i, c := range p.Changes {
		if chosen(i) && c.Changes() {
			changes[c.Server] = c
		}
	}
	if len(changes) == 0 {
		return true, nil
	}
	var mu sync.Mutex
	all := true
	errs := fleet.Each(ctx, func(ctx context.Context, conn *ticket.Conn) error {
		c, mine := changes[conn.Server()]
		if !mine {
			return nil
		}
		done, err := put(ctx, conn, p.Sequence, c.From, c.To)
		mu.Lock()
		defer mu.Unlock()
		all = all && (done || err != nil)
		return err
	})
	for i := range errs {
		if !chosen(i) {
			errs[i] = nil // was not asked for anything
		}
	}
	return all, errors.Join(errs...)
}

// reached reports whether every row is what the plan wanted, or further.
func (p Plan) reached(s Sequence) bool {
	for i, o := range s.Servers {
		to := p.Changes[i].To
		if o.Row == nil || o.Row.Gen != o.Gen || o.Row.State != to.State || o.Row.Rounds < to.Rounds {
			return false
		}
	}
	return true
}
