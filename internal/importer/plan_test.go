package importer

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
)

// on is a sequence with one base and the rounds of two servers; -1 is a server without it.
func on(base int64, refills int64, rounds ...int64) sequence.Sequence {
	q := sequence.Sequence{Name: "s", State: sequence.State{Base: base, Ceiling: schema.CeilingFor(0)}}
	for i, r := range rounds {
		o := sequence.OnServer{Server: "db", Class: schema.Class{Offset: int64(i + 1), Increment: 2}}
		if r < 0 {
			o.Problems = []sequence.Problem{sequence.Missing}
		} else {
			o.Row = &sequence.Row{State: q.State, Rounds: r, Refills: refills}
		}
		q.Servers = append(q.Servers, o)
	}
	return q
}

func TestSequencesThatExist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		q       sequence.Sequence
		highest int64
		done    bool
		kind    error
		bump    string
	}{
		"above":                        {on(500, 0, 500, 500), 1002, true, nil, ""},
		"just above":                   {on(500, 0, 500, 500), 1003, false, ErrBelow, "bump s 1006"},
		"one server too low":           {on(500, 0, 499, 500), 1002, false, ErrBelow, ""},
		"above, used":                  {on(500, 7, 900, 700), 1002, true, nil, ""},
		"overtaken, used":              {on(500, 7, 900, 700), 1200, false, ErrInUse, "bump s 1805"},
		"below, used":                  {on(500, 7, 900, 700), 3000, false, ErrInUse, "bump s 3001"},
		"rows below their base":        {on(500, 0, 10, 500), 600, false, ErrBelow, ""},
		"one server has it":            {on(500, 0, 500, -1), 1002, false, nil, ""},
		"one has it, too low":          {on(500, 0, 500, -1), 9999, false, nil, ""},
		"one has it, used, too low":    {on(500, 1, 900, -1), 1200, false, ErrInUse, ""},
		"one has it, used, not so low": {on(500, 1, 900, -1), 1000, false, nil, ""},
	} {
		for _, kind := range []Kind{Leaf, AutoIncrement} {
			s := Step{Numbering: Numbering{Sequence: "s", Highest: c.highest}, Start: c.highest + 1}
			done, err := Config{Kind: kind}.judge(c.q, &s)
			require.Equal(t, c.done, done, name)
			require.ErrorIs(t, err, c.kind, name)
			if c.kind != nil {
				require.ErrorContains(t, err, c.bump, name)
			}
			require.Equal(t, done, len(s.Servers) == 2, name)
		}
	}
}

func at(highest int64) Step {
	return Step{
		Numbering: Numbering{Sequence: "s", Highest: highest, Readings: []Reading{{Source: "db/a", Old: "t", Highest: highest}}},
		Servers:   []sequence.Change{{Class: schema.Class{Offset: 2, Increment: 2}, To: &sequence.Row{Rounds: 500}}, {Class: schema.Class{Offset: 1, Increment: 2}, To: &sequence.Row{Rounds: 500}}},
	}
}

// Without a margin every rise counts; with one that which uses it up.
func TestOldSystemThatGoesOn(t *testing.T) {
	t.Parallel()
	p := Plan{Steps: []Step{at(900)}}
	require.Equal(t, int64(1003), p.Steps[0].FirstID())
	require.NoError(t, Config{}.verifyOld(p, []Numbering{at(900).Numbering}))
	require.ErrorIs(t, Config{}.verifyOld(p, []Numbering{at(901).Numbering}), ErrRisen)
	require.NoError(t, Config{Margin: 100}.verifyOld(p, []Numbering{at(1002).Numbering}))
	require.Contains(t, p.Steps[0].Warnings[0], "rose from 900 to 1002, and 0 are left")
	require.ErrorIs(t, Config{Margin: 100}.verifyOld(p, []Numbering{at(1003).Numbering}), ErrRisen)

	require.NoError(t, Config{}.stillRunning(Plan{}, p), "nobody was asked")
	require.NoError(t, Config{}.stillRunning(p, p))
	require.ErrorIs(t, Config{}.stillRunning(p, Plan{Steps: []Step{at(901)}}), ErrRunning)
	require.NoError(t, Config{Margin: 1}.stillRunning(p, Plan{Steps: []Step{at(901)}}))
}

func TestNarrowestNamesItsColumn(t *testing.T) {
	t.Parallel()
	n := Numbering{Sequence: "s", Limit: 127, Readings: []Reading{{Old: "a", Limit: math.MaxInt64}, {Source: "db", Old: "b", Limit: 127}}}
	require.Equal(t, "b on db", n.narrowest())
}
