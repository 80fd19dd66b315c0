package doctor

import (
	"fmt"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
)

// How far tickets and sequences have come: against the other servers, against
// their clock line, against their ceiling.

// manyRounds is a difference between servers that clients would not let stand:
// ten times what they pull level.
const manyRounds = 100_000

// counter is the tickets or one sequence on one server, in rounds.
type counter struct {
	name string
	own  int64
	line schema.ClockLine
	now  int64
}

// counters are all that a server has, the tickets first.
func (f *facts) counters() []counter {
	if !f.inspected() {
		return nil
	}
	all := []counter{{name: "tickets", own: f.round(), line: f.row.TicketLine(), now: f.now()}}
	for _, s := range f.sequences {
		all = append(all, counter{name: fmt.Sprintf("sequence %q", s.Name), own: s.Rounds, line: s.line(f.row.Class()), now: f.now()})
	}
	return all
}

// spread is a counter that differs between two servers.
type spread struct {
	counter
	other  *facts
	theirs int64
}

// spreads finds, over all counters, where the server is further ahead of
// another one than that one believes, and where it is furthest behind.
func spreads(f *facts, fleet []*facts) (wild []spread, behind *spread) {
	own := f.counters()
	for _, o := range fleet {
		if o == f {
			continue
		}
		theirs := map[string]counter{}
		for _, c := range o.counters() {
			theirs[c.name] = c
		}
		for _, c := range own {
			t, found := theirs[c.name]
			if !found {
				continue
			}
			s := spread{counter: c, other: o, theirs: t.own}
			if c.own > t.line.Reach(t.own, t.now) {
				wild = append(wild, s)
			}
			ahead := t.own - c.own
			if ahead > manyRounds && t.own <= c.line.Reach(c.own, c.now) && (behind == nil || ahead > behind.theirs-behind.own) {
				behind = &s
			}
		}
	}
	return wild, behind
}

func judgeDrift(f *facts, fleet []*facts) finding {
	if !f.inspected() {
		return uninspected(f)
	}
	for _, s := range f.sequences {
		if s.Held {
			return bad("`oddeven sequence repair` says what to do.",
				"sequence %q: held back at round %d, because others were so far ahead that this server has forgotten what it issued, or a row of theirs was damaged", s.Name, s.Rounds)
		}
	}
	wild, behind := spreads(f, fleet)
	switch {
	case len(wild) > 0:
		w := wild[0]
		return bad("Find out which of the two is wrong. If the other one has forgotten, it issues nothing until it is taken there (`oddeven sequence repair` says how). If this one was moved by hand (a row changed, an explicit ID), its numbers are not carried to the others: restore the row, or retire the server, before any other one is restarted: that one would be held back.",
			"%s: round %d, but %s stands at %d: further ahead than its clock line and a thousandth of the space allow", w.name, w.own, w.other.label, w.theirs)
	case behind != nil:
		return warning("Run `oddeven next`, or any client: it pulls tickets level within seconds, and sequences with their next refill.",
			"%s: %d rounds behind %s, so this server does not remember for that one, and IDs are out of order by that much", behind.name, behind.theirs-behind.own, behind.other.label)
	}
	return ok("level with the other servers")
}

func judgeClockLine(f *facts) finding {
	if !f.inspected() {
		return uninspected(f)
	}
	if f.sequencesErr != nil {
		return unread(f.sequencesErr)
	}
	var past []string
	for _, c := range f.counters() {
		if c.own > c.line.At(c.now) {
			past = append(past, c.name)
		}
	}
	if len(past) > 0 {
		return warning("Keep innodb_flush_log_at_trx_commit and sync_binlog at 1, at least two servers in the fleet, and restore servers one at a time, while another one is up.",
			"%s: used faster than a hundredth of its space a year, so it is past its clock line. If the server forgets, a fence leaps only by the busiest hour on record and what other servers remember", strings.Join(past, ", "))
	}
	return ok("a fence would leap tickets from %d to %d", f.inspection.Top, f.inspection.Line)
}

// nearCeiling is the share of the space, in percent, from which on it is time to act.
const nearCeiling = 80

func judgeCeiling(f *facts) finding {
	if !f.inspected() {
		return uninspected(f)
	}
	if f.sequencesErr != nil {
		return unread(f.sequencesErr)
	}
	var out, near []string
	most := 0.0
	for _, c := range f.counters() {
		used := 100 * float64(c.own) / float64(max(1, c.line.Last))
		most = max(most, used)
		switch {
		case c.own >= c.line.Last:
			out = append(out, c.name)
		case used >= nearCeiling:
			near = append(near, fmt.Sprintf("%s (%.1f %%)", c.name, used))
		}
	}
	const remedy = "Move on to a sequence with a higher ceiling that starts above this one (--start), or for new tables to a new fleet, while there is time."
	switch {
	case len(out) > 0:
		return bad("Take another sequence with a higher ceiling that starts above this one (--start), or for new tables a new fleet.", "%s: the ceiling is reached, nothing more is issued", strings.Join(out, ", "))
	case len(near) > 0:
		return warning(remedy, "close to the ceiling: %s", strings.Join(near, ", "))
	}
	return ok("%.2g %% of the space is used", most)
}
