// Package bench measures oddeven beside other ways to make IDs, in one run on one
// machine: raw limits, ours, other products in this process, other products'
// statements on the same servers, and Redis. Its test is the command behind `make
// bench`, because servers come from testfleet; docs/benchmarks.md is what it
// writes.
package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/oddeven/oddeven/integration/measure"
)

// A line is one line of the table: something that is done again and again.
type line struct {
	name string // at most nameWidth characters
	does string // what one operation includes
	base string // the line it is compared with, by name, or ""
	// costs are seconds from one completion to the next, over all callers, a median
	// of rounds, by the number of callers.
	costs   map[int]float64
	rounds  map[int][]float64 // what costs are the medians of
	each    int64             // IDs of one operation
	found   findings          // about the IDs of the whole run
	looked  bool              // found is known
	killed  int64             // duplicates when the server was killed in between
	kill    bool              // killed is known
	reserve float64           // IDs reserved for one that was issued; 0 is unknown
}

// A group is lines that were measured in turns.
type group struct {
	title   string
	unit    string // of an operation: "ID"
	callers []int
	lines   []*line
}

func newLine(name, base, does string, each int64) *line {
	return &line{name: name, base: base, does: does, each: each, costs: map[int]float64{}, rounds: map[int][]float64{}}
}

// line returns a line by its name.
func (g *group) line(name string) *line {
	for _, l := range g.lines {
		if l.name == name {
			return l
		}
	}
	return nil
}

// A table is everything that was measured.
type table struct{ groups []*group }

// base finds what a line is compared with: in its own group, or in the first one
// that has it, where servers of several kinds do.
func (t *table) base(g *group, l *line) *line {
	if l.base == "" {
		return nil
	}
	if b := g.line(l.base); b != nil {
		return b
	}
	return t.line(l.base)
}

// line returns the first line of that name.
func (t *table) line(name string) *line {
	for _, g := range t.groups {
		if l := g.line(name); l != nil {
			return l
		}
	}
	return nil
}

// ratio is what a line costs against its base with as many callers; NaN if that
// is not known. Within a group it is the median over the rounds.
func (t *table) ratio(g *group, l *line, callers int) float64 {
	b := t.base(g, l)
	if b == nil || l.costs[callers] == 0 || b.costs[callers] == 0 {
		return math.NaN()
	}
	ours, theirs := l.rounds[callers], b.rounds[callers]
	if g.line(l.base) == nil || len(ours) != len(theirs) {
		return l.costs[callers] / b.costs[callers]
	}
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	return measure.Median(ratios)
}

// findings are what the IDs of a run show.
type findings struct {
	ids        int64
	duplicates int64
	passed     int64 // numbers between the first and the last ID, both included
}

// find looks at numbers that were handed out in runs of each, one run beginning
// at each of firsts. Numbers of different residues modulo stride come from
// different servers, and follow each other in steps of stride.
func find(firsts []int64, each, stride int64) findings {
	slices.SortFunc(firsts, func(a, b int64) int {
		if ra, rb := a%stride, b%stride; ra != rb {
			return int(ra - rb)
		}
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	f := findings{ids: int64(len(firsts)) * each}
	var begin, end int64 // of the residue, in steps; end is the first unused one
	for i, first := range firsts {
		n := first / stride
		if i == 0 || first%stride != firsts[i-1]%stride {
			f.passed += end - begin
			begin, end = n, n
		}
		f.duplicates += min(each, max(0, end-n))
		end = max(end, n+each)
	}
	f.passed += end - begin
	return f
}

// figure shows a cost: short ones as a time, others as how many there are a
// second.
func figure(cost float64) string {
	switch {
	case cost == 0:
		return "–"
	case cost < 1e-6:
		return fmt.Sprintf("%.3g ns", cost*1e9)
	}
	return thousands(int64(math.Round(1/cost))) + "/s"
}

// thousands separates groups of digits.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// times shows a ratio.
func times(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return "–"
	case ratio >= 100:
		return thousands(int64(math.Round(ratio)))
	case ratio < 0.1:
		return fmt.Sprintf("%.2g", ratio)
	}
	return fmt.Sprintf("%.3g", ratio)
}
