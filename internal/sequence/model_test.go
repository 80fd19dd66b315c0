package sequence

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

// world is a fleet in which everything is known: what every server has issued,
// and every state that its row was ever in. Servers are used at less than the
// rate of the clock line, forget, are fenced, and are administered, also half way.
type world struct {
	now     int64
	bits    int
	servers []OnServer
	issued  []int64  // the last round that the server has handed out, whatever it remembers
	past    [][]*Row // every row that the server ever had; nil where it had none
}

func newWorld(t *rapid.T) *world {
	n := rapid.IntRange(1, 4).Draw(t, "servers")
	w := &world{now: 1_700_000_000, bits: rapid.SampledFrom([]int{0, 10}).Draw(t, "bits"), issued: make([]int64, n), past: make([][]*Row, n)}
	for k := range n {
		w.servers = append(w.servers, OnServer{Server: string(rune('a' + k)), Class: schema.Class{Offset: int64(k + 1), Increment: int64(n)}, Gen: 1, bits: w.bits})
		w.past[k] = []*Row{nil}
	}
	return w
}

// look is what a client reads now.
func (w *world) look() Sequence {
	s := Sequence{Name: "s", Servers: slices.Clone(w.servers)}
	for i := range s.Servers {
		s.Servers[i].Now = w.now
		if row := s.Servers[i].Row; row != nil {
			s.Servers[i].Row = new(*row)
		}
	}
	s.examine()
	return s
}

func (w *world) set(i int, row *Row) {
	w.servers[i].Row = row
	w.past[i] = append(w.past[i], new(*row))
}

// reserve hands out rounds of a server, if it can, above a floor that it believes.
func (w *world) reserve(t *rapid.T, i int, floor, count int64) {
	o := w.servers[i]
	if o.Row == nil || o.Row.Deleted || o.Row.Gen != o.Gen {
		return
	}
	line := o.Row.line(o.Class)
	row := *o.Row
	if floor <= line.Reach(row.Rounds, w.now) {
		row.Rounds = max(row.Rounds, floor)
	}
	if row.Rounds+count > line.Last {
		return
	}
	if row.Rounds < w.issued[i] {
		t.Fatalf("server %d issues round %d again, it has issued up to %d\n%+v\n%+v", i, row.Rounds+1, w.issued[i], w.look(), row)
	}
	row.Rounds += count
	row.Peak = max(row.Peak, count)
	w.issued[i] = row.Rounds
	w.set(i, &row)
}

// use lets time pass, and the servers be used at less than the rate of the line.
func (w *world) use(t *rapid.T, longest int64) {
	rate := float64(1 << 53)
	var top int64
	for _, o := range w.servers {
		if o.Row != nil {
			line := o.Row.line(o.Class)
			rate, top = min(rate, float64(line.Last-line.Base)/schema.Lifetime), max(top, o.Row.Rounds)
		}
	}
	for range rapid.IntRange(1, 3).Draw(t, "refills") {
		passed := rapid.Int64Range(0, longest).Draw(t, "seconds")
		w.now += passed
		count := int64(0.9 * rate * float64(passed))
		if count < 1 {
			continue
		}
		floor := rapid.SampledFrom([]int64{0, top}).Draw(t, "floor")
		w.reserve(t, rapid.IntRange(0, len(w.servers)-1).Draw(t, "server"), floor, count)
		for _, o := range w.servers {
			if o.Row != nil {
				top = max(top, o.Row.Rounds)
			}
		}
	}
}

// forget puts a server back to what it was at some time, and fences it as
// package ticket does. All servers are reachable and were in order before: of two
// states that only one server knew, one would be lost.
func (w *world) forget(t *rapid.T) {
	i := rapid.IntRange(0, len(w.servers)-1).Draw(t, "server")
	if s := w.look(); !s.InOrder() || len(s.Servers) == 1 {
		return
	}
	row := rapid.SampledFrom(w.past[i]).Draw(t, "restored")
	w.servers[i].Gen++
	if row == nil {
		w.servers[i].Row = nil
		return
	}
	row = new(*row)
	now, own := w.now, row.line(w.servers[i].Class)
	reached := own.At(now)
	for _, o := range w.servers {
		if o.Row != nil {
			reached = max(reached, o.Row.line(o.Class).At(now))
		}
	}
	target := max(reached, row.Rounds)
	if row.Rounds > own.At(now) {
		target = max(target, row.Rounds+row.Peak)
	}
	for j, o := range w.servers {
		if j == i || o.Row == nil || o.Row.Rounds > max(reached, row.Rounds+own.MaxDrift()) {
			continue
		}
		theirs := o.Row.Rounds
		if theirs > reached {
			theirs += max(o.Row.Peak, row.Peak)
		}
		target = max(target, theirs)
	}
	row.Rounds, row.Gen = max(row.Rounds, min(target, max(own.Last, row.Rounds))), w.servers[i].Gen
	w.set(i, row)
}

// administer plans a change and carries it out, perhaps only in part, while the
// servers are used.
func (w *world) administer(t *rapid.T, plan planner) {
	s := w.look()
	p, err := plan(s, false)
	if err != nil {
		return
	}
	checkPlan(t, s, p)
	order := rapid.Permutation(byOffset(s.Servers)).Draw(t, "order")
	for _, i := range order[:rapid.IntRange(0, len(order)).Draw(t, "reached")] {
		w.use(t, 60)
		c, have := p.Changes[i], w.servers[i].Row
		if !c.Changes() || (have == nil) != (c.From == nil) || have != nil && !have.sameLine(c.From.State) {
			continue // as the statement's WHERE
		}
		row := new(*c.To)
		if have != nil {
			row.Rounds, row.Peak = max(row.Rounds, have.Rounds), have.Peak
		}
		w.set(i, row)
	}
}

// checkPlan holds a plan against what every plan must be.
func checkPlan(t *rapid.T, s Sequence, p Plan) {
	now := latest(s.Servers)
	covered := true
	for _, o := range s.Servers {
		covered = covered && (o.Row == nil || s.State.line(o.Class).At(now) >= o.Row.Rounds)
	}
	for i, c := range p.Changes {
		to := c.To
		if from := c.From; from != nil {
			if to.Rounds < from.Rounds || to.Base < from.Base || to.Birth < from.Birth || to.compare(from.State) < 0 {
				t.Fatalf("lowered from %+v to %+v", from, to)
			}
			if to.sameLine(from.State) != (to.compare(from.State) == 0 || to.Description != from.Description && to.sameLine(from.State)) {
				t.Fatalf("not comparable: %+v and %+v", from, to)
			}
		}
		if to.State != p.Changes[0].To.State {
			t.Fatalf("the servers get different states: %+v", p)
		}
		if to.Gen != s.Servers[i].Gen {
			t.Fatalf("row without its server's generation: %+v", p)
		}
		if line := to.line(c.Class); covered && line.At(now) < to.Rounds {
			t.Fatalf("the line is at %d, below round %d: %+v", line.At(now), to.Rounds, to)
		}
	}
}

// Whatever is done to a sequence, in whatever order, interrupted or not: no
// server hands out a round again that it has handed out and forgotten.
func TestNothingIsIssuedTwiceWhateverIsDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		ceiling := rapid.SampledFrom([]int64{0, 1<<31 - 1, 1 << 42}).Draw(t, "ceiling")
		start := func() int64 { return rapid.Int64Range(1, 1<<rapid.IntRange(1, 31).Draw(t, "size")).Draw(t, "start") }
		w.administer(t, Spec{Ceiling: ceiling}.plan)
		t.Repeat(map[string]func(*rapid.T){
			"use":          func(t *rapid.T) { w.use(t, 3600) },
			"use for long": func(t *rapid.T) { w.use(t, 40*24*3600) },
			"forget":       w.forget,
			"create":       func(t *rapid.T) { w.administer(t, Spec{Ceiling: ceiling, Start: start()}.plan) },
			"bump":         func(t *rapid.T) { w.administer(t, bump(start())) },
			"repair":       func(t *rapid.T) { w.administer(t, repair) },
			"delete":       func(t *rapid.T) { w.administer(t, remove) },
		})
	})
}
