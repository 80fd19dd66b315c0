package segment

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func newPacer() pacer { return pacer{interval: 10, min: 1000, max: 100_000_000} }

func TestStepStartsSmallAndFollowsTheRate(t *testing.T) {
	t.Parallel()
	p := newPacer()
	next := func(ahead int64) int64 {
		n := p.next(ahead, 0)
		p.began(n)
		return n
	}
	require.Equal(t, int64(1000), next(0))
	p.used(750, 750*time.Microsecond) // a million a second
	require.Equal(t, int64(4_000), next(250), "at most four times as much")
	require.Equal(t, int64(16_000), next(0))
	p.began(4_000_000)
	require.Equal(t, int64(10_000_000), next(0), "an interval")
	p.used(1000, time.Second)
	require.Equal(t, int64(15_000), next(0), "one and a half intervals at most, though half of the last step is more")
	require.Equal(t, int64(10_000), next(0))
	p.used(900, time.Second)
	require.Equal(t, int64(9_000), next(0))
	p.used(300, time.Second)
	require.Equal(t, int64(4500), next(0), "half of the last at least")
	require.Equal(t, int64(1000), next(4500), "as reserved ahead allows")
	p.used(1, time.Hour)
	require.Equal(t, int64(1000), next(0))
}

func TestWhatWasAskedForWithoutBeingUsedIsNoReasonToAskForMore(t *testing.T) {
	t.Parallel()
	p := newPacer()
	p.began(1000)
	p.used(750, 0) // a burst
	for range 10 { // say the attempts fail
		require.Equal(t, int64(4000), p.next(250, 0))
		require.Equal(t, int64(64_000), p.enlarge(4000, 0))
	}
	p.forget()
	require.Equal(t, int64(1000), p.next(0, 0), "it got too old")
	require.Equal(t, int64(2001), p.next(0, 2001), "somebody needs so many")
}

func TestStepKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPacer()
		p.interval = rapid.Float64Range(0.001, 3600).Draw(t, "interval")
		p.min = rapid.Int64Range(1, 10_000).Draw(t, "min")
		p.max = p.min + rapid.Int64Range(0, 1<<40).Draw(t, "more")
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			p.used(rapid.Int64Range(0, 1<<40).Draw(t, "used"), time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "within")))
			p.refilled(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "took")))
			before := rapid.Int64Range(0, p.max).Draw(t, "current")
			p.began(before)
			ahead := rapid.Int64Range(0, 1<<41).Draw(t, "ahead")
			wanted := rapid.SampledFrom([]int64{0, 0, 0, 17, 1_000_000}).Draw(t, "wanted")
			n := p.next(ahead, wanted)
			switch {
			case n < p.min || n > p.max:
				t.Fatalf("step %d", n)
			case wanted == 0 && before > 0 && n > max(p.min, mul(before, 4)):
				t.Fatalf("step grew from %d to %d", before, n)
			case wanted == 0 && p.rate > 0 && n > p.min && float64(n+ahead) > 1.5*p.rate*p.interval+1:
				t.Fatalf("%d and %d are more than one and a half intervals at %f a second", n, ahead, p.rate)
			}
			if r := p.reserve(n); r < n/4 || r > n {
				t.Fatalf("prefetch at %d of %d", r, n)
			}
			if e := p.enlarge(n, 0); e != 0 && (e < n*2 || e > p.max || e > mul(before, 64)) {
				t.Fatalf("%d enlarged to %d", n, e)
			}
		}
	})
}

func TestPrefetchBeginsInTime(t *testing.T) {
	t.Parallel()
	p := newPacer()
	require.Equal(t, int64(250), p.reserve(1000))
	p.refilled(50 * time.Millisecond)
	p.used(1000, time.Second)
	require.Equal(t, int64(2500), p.reserve(10_000), "a quarter")
	p.used(10_000, time.Second)
	require.Equal(t, int64(2000), p.reserve(4000), "four refill times")
	require.Equal(t, int64(1500), p.reserve(1600), "after a sixteenth")
	require.Equal(t, int64(15), p.reserve(15), "at once")
}

func TestLatencyRisesAtOnceAndFallsByAndBy(t *testing.T) {
	t.Parallel()
	p := newPacer()
	p.refilled(time.Millisecond)
	p.refilled(100 * time.Millisecond)
	require.InDelta(t, 0.1, p.latency, 1e-9)
	p.refilled(20 * time.Millisecond)
	require.InDelta(t, 0.09, p.latency, 1e-9)
}

func TestEnlargementCoversWhatTheRefillDoesNot(t *testing.T) {
	t.Parallel()
	p := newPacer()
	p.began(1000)
	p.used(900, time.Millisecond)
	require.Equal(t, int64(64_000), p.enlarge(4000, 0), "64 times what was used up")
	require.Equal(t, int64(64_000), p.step)
	p.used(900, time.Second)
	require.Zero(t, p.enlarge(9000, 0), "enough is under way")
	require.Equal(t, int64(50_000+9000), p.enlarge(9000, 50_000), "somebody wants many at once")
}

// A steady user refills about once per interval and reserves what it uses.
func TestSteadyRateRefillsOncePerInterval(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{100, 1000, 1e6, 1e8} {
		p := newPacer()
		p.max = 1 << 40
		p.refilled(50 * time.Millisecond)
		var reserved, used float64
		refills := 0
		p.used(int64(rate), time.Second)
		n, elapsed := p.next(0, 0), 0.0
		p.began(n)
		for elapsed < 600 {
			ahead := p.reserve(n)
			use := n - ahead
			p.used(use, seconds(float64(use)/rate))
			elapsed += float64(n) / rate
			used += float64(n)
			reserved += float64(n)
			n = p.next(ahead, 0)
			p.began(n)
			refills++
		}
		require.InDelta(t, 60, refills, 6, "rate %f", rate)
		require.InDelta(t, 1, reserved/used, 0.01)
	}
}
