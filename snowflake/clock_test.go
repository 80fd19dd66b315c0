package snowflake_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/snowflake"
)

func TestTickOf(t *testing.T) {
	t.Parallel()
	l, err := snowflake.ParseLayout("time:39,sequence:8,worker:16;unit=10ms;epoch=2026-01-01T00:00:00Z")
	require.NoError(t, err)
	tests := []struct {
		name  string
		after time.Duration
		want  int64
	}{
		{"Epoch", 0, 0},
		{"LastNanosecondOfTick0", 10*time.Millisecond - 1, 0},
		{"Tick1", 10 * time.Millisecond, 1},
		{"JustBeforeTheEpoch", -1, -1},
		{"OneTickBefore", -10 * time.Millisecond, -1},
		{"MoreThanOneTickBefore", -10*time.Millisecond - 1, -2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, l.TickOf(epoch2026.Add(tt.after)))
		})
	}
}

func TestTickOfFarAwayTimesIsOutOfRange(t *testing.T) {
	t.Parallel()
	for _, p := range snowflake.Presets() {
		for _, sec := range []int64{math.MaxInt64, math.MaxInt64 / 1000, math.MaxInt64/2000 + 1, math.MaxInt64 / 2000} {
			require.Greater(t, p.Layout.TickOf(time.Unix(sec, 0)), p.Layout.MaxTick(), "%s %d", p.Name, sec)
			require.Negative(t, p.Layout.TickOf(time.Unix(-sec, 0)), "%s -%d", p.Name, sec)
		}
		require.Negative(t, p.Layout.TickOf(time.Time{}), p.Name)
	}
}

func TestTimeOfAndTickOfAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		tick := rapid.Int64Range(0, l.MaxTick()).Draw(t, "tick")
		start := l.TimeOf(tick)
		inside := start.Add(time.Duration(rapid.Int64Range(0, int64(l.Unit())-1).Draw(t, "inside")))
		if got := l.TickOf(inside); got != tick {
			t.Fatalf("tick %d begins at %s, which is in tick %d of %s", tick, start, got, l)
		}
		if got := l.TickOf(start.Add(-1)); got != tick-1 {
			t.Fatalf("tick %d begins at %s, the nanosecond before is in tick %d of %s", tick, start, got, l)
		}
	})
}

func TestExhaustedIsTheFirstInstantPastTheLastTick(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		end := l.Exhausted()
		if got := l.TickOf(end); got != l.MaxTick()+1 {
			t.Fatalf("tick of Exhausted is %d, MaxTick %d in %s", got, l.MaxTick(), l)
		}
		if got := l.TickOf(end.Add(-1)); got != l.MaxTick() {
			t.Fatalf("tick before Exhausted is %d, MaxTick %d in %s", got, l.MaxTick(), l)
		}
	})
}

func TestTimeOfStaysBetweenEpochAndExhausted(t *testing.T) {
	t.Parallel()
	l := snowflake.Default()
	require.Equal(t, l.Epoch(), l.TimeOf(-1))
	require.Equal(t, l.Epoch(), l.TimeOf(math.MinInt64))
	require.Equal(t, l.Exhausted(), l.TimeOf(math.MaxInt64))
	require.Equal(t, l.Exhausted(), l.TimeOf(l.MaxTick()+1))
	require.Equal(t, l.Exhausted().Add(-time.Millisecond), l.TimeOf(l.MaxTick()))
}
