package schema_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

const (
	hour    = int64(3600)
	century = int64(100 * 365.25 * 24 * 3600)
	// someNow is a time in 2026.
	someNow = int64(1_780_000_000)
)

func TestClassOwns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		class schema.Class
		owns  []int64
		not   []int64
	}{
		{"Odd", schema.Class{Offset: 1, Increment: 2}, []int64{1, 3, 1<<53 - 1}, []int64{0, 2, -1, -3, 1 << 53}},
		{"Even", schema.Class{Offset: 2, Increment: 2}, []int64{2, 4, 1 << 53}, []int64{0, 1, -2, -4}},
		{"OfOne", schema.Class{Offset: 1, Increment: 1}, []int64{1, 2, 3}, []int64{0, -1}},
		{"SecondOfThree", schema.Class{Offset: 2, Increment: 3}, []int64{2, 5, 8}, []int64{1, 3, 4, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, id := range tt.owns {
				require.True(t, tt.class.Owns(id), "%d", id)
			}
			for _, id := range tt.not {
				require.False(t, tt.class.Owns(id), "%d", id)
			}
		})
	}
}

func anyClass(t *rapid.T) schema.Class {
	n := rapid.Int64Range(1, schema.MaxIncrement).Draw(t, "n")
	return schema.Class{Offset: rapid.Int64Range(1, n).Draw(t, "k"), Increment: n}
}

func TestEveryNumberHasOneOwner(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, schema.MaxIncrement).Draw(t, "n")
		id := rapid.Int64Range(1, schema.Ceiling).Draw(t, "id")
		owners := 0
		for k := int64(1); k <= n; k++ {
			if (schema.Class{Offset: k, Increment: n}).Owns(id) {
				owners++
			}
		}
		if owners != 1 {
			t.Fatalf("%d has %d owners in a fleet of %d", id, owners, n)
		}
	})
}

func TestRoundAndIDAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyClass(t)
		round := rapid.Int64Range(0, c.LastRound(schema.Ceiling)).Draw(t, "round")
		id := c.ID(round)
		if !c.Owns(id) || c.Round(id) != round {
			t.Fatalf("round %d of %v is %d, whose round is %d", round, c, id, c.Round(id))
		}
		inside := rapid.Int64Range(0, c.Increment-1).Draw(t, "inside")
		if got := c.Round(id + inside); got != round {
			t.Fatalf("round of %d is %d, of %d it is %d", id, round, id+inside, got)
		}
		if got := c.Round(id - 1); got != round-1 {
			t.Fatalf("round below %d is %d", id, got)
		}
	})
}

func TestLeap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                             string
		line, rounds, margin, last, want int64
	}{
		{"BelowTheLine", 100, 70, 50, 1000, 100},
		{"OnTheLine", 100, 100, 50, 1000, 100},
		{"PastTheLine", 100, 101, 50, 1000, 151},
		{"UpToTheLastRound", 100, 990, 50, 1000, 1000},
		{"NothingIsLowered", 100, 2000, 50, 1000, 2000},
		{"NoMargin", 100, 101, 0, 1000, 101},
		{"MarginOfADamagedRow", 100, 101, math.MaxInt64, 1000, 1000},
		{"NegativeMargin", 100, 101, -7, 1000, 101},
		{"RoundOfADamagedRow", 100, math.MaxInt64, math.MaxInt64, 1000, math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, schema.Leap(tt.line, tt.rounds, tt.margin, tt.last))
		})
	}
}

func TestRoundBelowTheFirst(t *testing.T) {
	t.Parallel()
	c := schema.Class{Offset: 3, Increment: 5}
	for _, id := range []int64{2, 1, 0, -1, -100} {
		require.Equal(t, int64(-1), c.Round(id), "%d", id)
	}
	require.Zero(t, c.Round(3))
}

func TestLastRoundIsTheLastOfEveryClass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyClass(t)
		ceiling := rapid.Int64Range(c.Increment, schema.Ceiling).Draw(t, "ceiling")
		last := c.LastRound(ceiling)
		if c.ID(last) > ceiling {
			t.Fatalf("round %d of %v is %d, above %d", last, c, c.ID(last), ceiling)
		}
		highest := schema.Class{Offset: c.Increment, Increment: c.Increment}
		if highest.ID(last) > ceiling || highest.ID(last+1) <= ceiling {
			t.Fatalf("round %d is not the last of %v below %d", last, highest, ceiling)
		}
	})
}

func TestCeilingFor(t *testing.T) {
	t.Parallel()
	require.Equal(t, int64(1)<<53, schema.Ceiling)
	require.Equal(t, int64(1)<<53-1, schema.CeilingFor(0))
	require.Equal(t, int64(1)<<43-1, schema.CeilingFor(10))
	require.Equal(t, int64(1)<<21-1, schema.CeilingFor(schema.MaxShardBits))
	for bits := range schema.MaxShardBits + 1 {
		composed := schema.CeilingFor(bits)<<bits | (int64(1)<<bits - 1)
		require.Equal(t, schema.Ceiling-1, composed, "%d shard bits", bits)
	}
}

func TestClockLineAtItsEnds(t *testing.T) {
	t.Parallel()
	l := schema.ClockLine{Base: 1_000, Birth: someNow, Last: 1_000_000_000}
	tests := []struct {
		name string
		now  int64
		want int64
	}{
		{"LongBeforeBirth", 0, 1_001},
		{"JustBeforeTheMargin", someNow - hour, 1_001},
		{"AfterACentury", someNow + century - hour, 1_000_000_000},
		{"AfterTwo", someNow + 2*century, 1_000_000_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, l.At(tt.now))
		})
	}
	require.Greater(t, l.At(someNow), l.Base, "one hour ahead of the server's time")
	middle := l.Base + (l.Last-l.Base)/2
	require.InDelta(t, middle, l.At(someNow+century/2-hour), 2)
}

func TestClockLineWithoutRoom(t *testing.T) {
	t.Parallel()
	full := schema.ClockLine{Base: 500, Birth: someNow, Last: 500}
	require.Equal(t, int64(500), full.At(someNow+century))
	// A base beyond the ceiling is never lowered.
	beyond := schema.ClockLine{Base: 600, Birth: someNow, Last: 500}
	require.Equal(t, int64(600), beyond.At(someNow+century))
}

func anyLine(t *rapid.T) schema.ClockLine {
	last := rapid.Int64Range(0, schema.Ceiling).Draw(t, "last")
	return schema.ClockLine{
		Base: rapid.Int64Range(0, last).Draw(t, "base"), Birth: rapid.Int64Range(0, 4*century).Draw(t, "birth"), Last: last,
	}
}

func TestClockLineStaysBetweenBaseAndLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLine(t)
		now := rapid.Int64Range(-century, 8*century).Draw(t, "now")
		if at := l.At(now); at < l.Base || at > l.Last {
			t.Fatalf("%+v at %d is %d", l, now, at)
		}
	})
}

func TestClockLineNeverFalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLine(t)
		now := rapid.Int64Range(-century, 8*century).Draw(t, "now")
		later := now + rapid.Int64Range(0, 2*century).Draw(t, "passed")
		if l.At(later) < l.At(now) {
			t.Fatalf("%+v falls from %d at %d to %d at %d", l, l.At(now), now, l.At(later), later)
		}
	})
}

// Two leaps an hour or less apart must not reach the same round if something
// was issued in between at less than the line's rate.
func TestClockLineRisesAtItsRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := schema.ClockLine{Base: rapid.Int64Range(0, 1<<40).Draw(t, "base"), Birth: someNow, Last: 1<<52 - 1}
		now := someNow + rapid.Int64Range(0, century-2*hour).Draw(t, "age")
		seconds := rapid.Int64Range(1, hour).Draw(t, "seconds")
		rate := float64(l.Last-l.Base) / float64(century)
		risen := float64(l.At(now+seconds) - l.At(now))
		if want := rate * float64(seconds); risen < 0.999*want-1 || risen > 1.001*want+1 {
			t.Fatalf("rose by %.0f in %d s, want %.0f", risen, seconds, want)
		}
	})
}

func TestTablesStartWithTheVersions(t *testing.T) {
	t.Parallel()
	require.Equal(t, schema.VersionTable, schema.Tables()[0])
	tables := schema.Tables()
	tables[0] = "changed"
	require.Equal(t, schema.VersionTable, schema.Tables()[0], "the slice is the caller's")
}

func TestReachBelievesTheLineAndALittleMore(t *testing.T) {
	t.Parallel()
	l := schema.ClockLine{Base: 0, Birth: someNow, Last: 1 << 52}
	require.Equal(t, int64(1<<52)/1000, l.MaxDrift())
	require.Equal(t, int64(1_000_000), schema.ClockLine{Last: 1000}.MaxDrift(), "at least a million rounds")
	require.Equal(t, l.MaxDrift(), l.Reach(0, someNow-century), "own value and drift before the line has risen")
	late := someNow + century/2
	require.Equal(t, l.At(late), l.Reach(0, late), "the line once it is further")
	require.Equal(t, l.At(late)+l.MaxDrift(), l.Reach(l.At(late), late))
}
