package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBucketsFollowEachOtherWithoutGap(t *testing.T) {
	t.Parallel()
	last := time.Duration(-1)
	for i := range (latencies{}).buckets {
		require.Equal(t, i, bucketOf(last+1), "where bucket %d begins", i)
		require.Equal(t, i, bucketOf(boundOf(i)), "where bucket %d ends", i)
		require.LessOrEqual(t, boundOf(i)-last-1, (last+1)/fine, "width of bucket %d", i)
		last = boundOf(i)
	}
	require.EqualValues(t, 1<<coarsest-1, last)
	require.Zero(t, bucketOf(-time.Second))
	require.Equal(t, len((latencies{}).buckets)-1, bucketOf(math.MaxInt64))
}

// A quantile is the exact one, or at most 1/64 more.
func TestQuantilesAgainstSortedDurations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(0, int64(10*time.Minute)), 1, 300).Draw(t, "durations")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var one, other latencies
		for i, d := range all {
			if i%2 == 0 {
				one.add(time.Duration(d))
			} else {
				other.add(time.Duration(d))
			}
		}
		one.merge(&other)
		slices.Sort(all)
		exact := all[max(0, int(math.Ceil(q*float64(len(all))))-1)]
		got := one.quantile(q).Nanoseconds()
		require.GreaterOrEqual(t, got, exact)
		require.LessOrEqual(t, got, exact+exact/fine)
		require.Equal(t, all[len(all)-1], one.max.Nanoseconds())
		require.Equal(t, all[len(all)-1], one.quantile(1).Nanoseconds())
	})
}

func TestSummary(t *testing.T) {
	t.Parallel()
	var l latencies
	require.Nil(t, l.summary())
	require.Zero(t, l.quantile(0.5))
	for i := range 1000 {
		l.add(time.Duration(i + 1))
	}
	require.Equal(t, &Latency{P50: 503, P90: 903, P99: 991, P999: 999, Max: 1000}, l.summary())
}

func BenchmarkLatenciesAdd(b *testing.B) {
	var l latencies
	d := time.Duration(rand.Int64N(int64(time.Millisecond)))
	for b.Loop() {
		l.add(d)
	}
}
