package sequence

import (
	"fmt"
	"math"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// Plan is a change of a sequence: what is and what will be on every server.
type Plan struct {
	Sequence string
	Changes  []Change // in the order of the fleet's configuration; all servers, also those that stay as they are
	Warnings []string // whole sentences
}

// Change is the part of a plan on one server.
type Change struct {
	Server string       // host:port/database
	Class  schema.Class // residue class of the server
	From   *Row         // nil if there is none
	To     *Row         //
	Leap   bool         // the row is missing or may have forgotten, so it goes beyond all that may have been issued
}

// Changes reports whether the row becomes another.
func (c Change) Changes() bool {
	return c.From == nil || c.From.State != c.To.State || c.From.Gen != c.To.Gen || c.From.Rounds < c.To.Rounds
}

// FirstID is the lowest ID that the server issues after the change.
func (c Change) FirstID() int64 { return idOf(c.Class, c.To.Rounds+1) }

// Empty reports whether nothing is to be changed.
func (p Plan) Empty() bool {
	for _, c := range p.Changes {
		if c.Changes() {
			return false
		}
	}
	return true
}

// goal is what a plan is to reach.
type goal struct {
	want   State // the new state; base and birth are those of the newest state, unless they have to move
	start  int64 // no ID below it is to be issued any more
	rebase bool  // the clock line begins anew, and every server goes to its base
	leap   bool  // every row may have forgotten
	fresh  bool  // the sequence is created, perhaps again: created_at is set
}

// plan is the change of every row that reaches the goal.
//
// Let now be the greatest server time, L the line of the new state. Then, for
// every row, L.At(now) >= rounds, if that was so before or the line moves; the
// package documentation says why that matters.
func (s Sequence) plan(g goal) (Plan, error) {
	now, class := latest(s.Servers), s.Servers[0].Class
	floor := roundBelow(g.start, class.Increment)
	leaps := make([]bool, len(s.Servers))
	var rounds, leap int64
	birth := int64(math.MinInt64)
	for i, o := range s.Servers {
		if leaps[i] = newest(s.Servers) != nil && (g.leap || s.forgetful(o)); leaps[i] {
			leap = s.leap(now)
		}
		if o.Row != nil {
			rounds, birth = max(rounds, o.Row.Rounds), max(birth, o.Row.Birth+1)
		}
	}
	if leap > 0 || g.rebase {
		if err := s.follows(floor, now); err != nil {
			return Plan{}, err
		}
	}
	state, base := g.want, max(rounds, leap, floor)
	if err := s.room(g, floor, base); err != nil {
		return Plan{}, err
	}
	if g.rebase || leap > state.line(class).At(now) {
		state.Base, state.Birth = base, max(now, birth)
	}
	p := Plan{Sequence: s.Name}
	for i, o := range s.Servers {
		to := s.target(g, o, state, now)
		switch {
		case g.rebase:
			to.Rounds = max(to.Rounds, base)
		case leaps[i]:
			to.Rounds = max(to.Rounds, leap)
		}
		p.Changes = append(p.Changes, Change{Server: o.Server, Class: o.Class, From: o.Row, To: to, Leap: leaps[i]})
	}
	return p, nil
}

// forgetful reports whether the server has not got the newest state, so that it
// may have forgotten what it issued, or has been fenced without knowing it.
func (s Sequence) forgetful(o OnServer) bool {
	return o.Row == nil || o.Row.Gen != o.Gen || !o.Row.sameLine(s.State)
}

// leap is the round that no server has issued beyond, whatever it has forgotten:
// the greatest clock line, or what the rows say, if that is more; then what was
// issued last, and forgotten, is no more than is used in an hour.
func (s Sequence) leap(now int64) int64 {
	var line, rounds, peak, last int64
	for _, o := range s.Servers {
		if o.Row == nil {
			continue
		}
		own := o.Row.line(o.Class)
		line, last = max(line, own.At(now)), max(last, own.Last)
		rounds, peak = max(rounds, o.Row.Rounds), max(peak, o.Row.Peak)
	}
	return schema.Leap(line, rounds, peak, last)
}

// target is the row of one server in the new state, before it is raised.
func (s Sequence) target(g goal, o OnServer, state State, now int64) *Row {
	from := newest(s.Servers)
	to := &Row{CreatedAt: time.Unix(now, 0).UTC()}
	if from != nil && !g.fresh {
		to.CreatedAt, to.DeletedAt = from.CreatedAt, from.DeletedAt
	}
	if o.Row != nil {
		to.Rounds, to.Peak, to.Step, to.Refills = o.Row.Rounds, o.Row.Peak, o.Row.Step, o.Row.Refills
		to.RefilledAt, to.RefilledBy = o.Row.RefilledAt, o.Row.RefilledBy
	}
	to.State, to.Gen = state, o.Gen
	switch {
	case !state.Deleted:
		to.DeletedAt = time.Time{}
	case to.DeletedAt.IsZero():
		to.DeletedAt = time.Unix(now, 0).UTC()
	}
	return to
}

// follows refuses to take every server to where one damaged row is, and to let a row
// go on that is held back while no other one says how far that server was, unless the
// caller names a start that is beyond it. A row in use may have gone on from there.
func (s Sequence) follows(floor, now int64) error {
	if err := s.lost(floor); err != nil {
		return err
	}
	for i, o := range s.Servers {
		named := floor > 0 && o.Row != nil && o.Row.reach() <= floor+s.State.line(o.Class).MaxDrift()
		if o.Row == nil || named || !s.farAhead(i, now) {
			continue
		}
		top := idOf(o.Class, o.Row.reach())
		there := fmt.Sprintf("`oddeven sequence bump NAME %d`", top+1)
		if s.State.Deleted {
			there = fmt.Sprintf("`oddeven sequence create NAME --start %d`", top+1)
		}
		return &Error{
			Sequence: s.Name, Kind: ErrFarAhead,
			Problem: fmt.Sprintf("its row on %s is at ID %d, far ahead of what the other servers believe, and no row can be lowered", o.Server, top),
			Remedy: fmt.Sprintf("If IDs up to there may be in use, take all servers there: %s. If the row was damaged and nothing of it was used, "+
				"leave that server out of every client's configuration and retire it (`oddeven migrate up --retired %d`)", there, o.Class.Offset),
		}
	}
	return nil
}

// lost refuses a row that is held back, because others were further, if none of them
// is left that says how far.
func (s Sequence) lost(floor int64) error {
	var known int64
	for _, o := range s.Servers {
		if o.Row != nil && o.Row.Gen != schema.HeldBack {
			known = max(known, o.Row.Rounds)
		}
	}
	for _, o := range s.Servers {
		if o.Row == nil || o.Row.Gen != schema.HeldBack || o.Row.Rounds < max(known, floor) {
			continue
		}
		return &Error{
			Sequence: s.Name, Kind: ErrFarAhead,
			Problem: fmt.Sprintf("its row on %s is held back at ID %d, because other servers were further, and none of those is left to say how far", o.Server, idOf(o.Class, o.Row.Rounds)),
			Remedy:  "Find the largest ID in your data and take all servers above it: `oddeven sequence bump NAME START`",
		}
	}
	return nil
}

// room refuses a start, or a ceiling for a sequence that is created again, that
// leaves nothing to be issued. floor is the round before the start, base the one
// that every server goes to.
func (s Sequence) room(g goal, floor, base int64) error {
	class := s.Servers[0].Class
	last := class.LastRound(g.want.Ceiling)
	switch {
	case g.start > 0 && floor >= last:
		return &ticket.ConfigError{
			Field: "Start", Value: g.start,
			Remedy: fmt.Sprintf("leaves no room below the ceiling %d; start at %d at most", g.want.Ceiling, last*class.Increment+1),
		}
	case g.fresh && base >= last:
		return &ticket.ConfigError{
			Field: "Ceiling", Value: g.want.Ceiling,
			Remedy: fmt.Sprintf("leaves no room; the sequence was used before and may have issued IDs up to %d", idOf(schema.Class{Offset: class.Increment, Increment: class.Increment}, base)),
		}
	}
	return nil
}

// roundBelow is the last round of which some ID is below start, so that every ID
// after it is at least start; 0 if that is so from the beginning.
func roundBelow(start, increment int64) int64 {
	return max(0, schema.Class{Offset: 1, Increment: increment}.Round(start-1))
}

// outrun warns of a sequence whose clock line rises slowly.
func outrun(state State, class schema.Class) []string {
	const slow = 1000 // IDs a second
	rate := float64(class.LastRound(state.Ceiling)-state.Base) / schema.Lifetime
	if rate >= slow {
		return nil
	}
	shown := fmt.Sprintf("%.3g", rate)
	if rate >= 1 {
		shown = fmt.Sprint(math.Floor(rate))
	}
	return []string{fmt.Sprintf("The ceiling %d is so low that the clock line rises by only %s IDs a second. "+
		"If the sequence is used faster than that for long, a server that forgets is protected only by what the other servers and the clients know.",
		state.Ceiling, shown)}
}
