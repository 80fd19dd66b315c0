package sequence

import (
	"cmp"
	"slices"

	"github.com/oddeven/oddeven/internal/schema"
)

// newest is the row with the newest state; nil if no server has one.
func newest(servers []OnServer) *Row {
	var found *Row
	for _, o := range servers {
		if o.Row != nil && (found == nil || o.Row.compare(found.State) > 0) {
			found = o.Row
		}
	}
	return found
}

// latest is the greatest time of the servers.
func latest(servers []OnServer) int64 {
	var now int64
	for _, o := range servers {
		now = max(now, o.Now)
	}
	return now
}

// examine notes the newest state, and what is wrong on each server.
func (s *Sequence) examine() {
	found := newest(s.Servers)
	if found == nil {
		return
	}
	s.State = found.State
	now := latest(s.Servers)
	for i := range s.Servers {
		s.Servers[i].Problems = s.problems(i, now)
	}
}

// problems is what is wrong with the row of server i.
func (s *Sequence) problems(i int, now int64) []Problem {
	o := s.Servers[i]
	if o.Row == nil {
		return []Problem{Missing}
	}
	var found []Problem
	note := func(is bool, p Problem) {
		if is {
			found = append(found, p)
		}
	}
	row, state := o.Row, s.State
	note(row.Gen == schema.HeldBack, HeldBack)
	note(row.Gen != o.Gen && row.Gen != schema.HeldBack, OtherGen)
	switch {
	case row.Birth != state.Birth && row.Deleted && !state.Deleted:
		note(true, DeletedHere)
	case row.Deleted != state.Deleted:
		note(true, NotDeleted)
	case row.Birth != state.Birth:
		note(true, Older)
	default:
		note(row.Base != state.Base, OtherBase)
		note(row.Ceiling != state.Ceiling, OtherCeiling)
		note(row.Description != state.Description, OtherDescription)
	}
	note(row.Birth > now+schema.ClockMargin, BornInTheFuture)
	note(s.farAhead(i, now), FarAhead)
	return found
}

// farAhead reports whether the row of server i lies above what any other server
// believes and above what the newest state explains: a bump is in its base.
func (s *Sequence) farAhead(i int, now int64) bool {
	row, line := s.Servers[i].Row, s.State.line(s.Servers[i].Class)
	if row.Base > row.line(s.Servers[i].Class).Last {
		return true // no command makes such a row
	}
	believed, others := line.Reach(s.State.Base, now), false
	for j, o := range s.Servers {
		if j != i && o.Row != nil {
			others = true
			believed = max(believed, o.Row.line(o.Class).Reach(o.Row.Rounds, now))
		}
	}
	return others && row.reach() > believed
}

// reach is how far a row leads others that follow it.
func (r *Row) reach() int64 { return max(r.Rounds, r.Base) }

// byOffset are the indices of servers in the order of their offsets, which is
// the same for every client.
func byOffset(servers []OnServer) []int {
	order := make([]int, len(servers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(servers[a].Class.Offset, servers[b].Class.Offset) })
	return order
}
