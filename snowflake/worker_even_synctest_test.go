package snowflake

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// chiSquareBound is exceeded by chance once in a thousand million times with that
// many shards. An uneven generator exceeds it by far: one that never made an odd
// ID would get as many as it made IDs.
var chiSquareBound = map[int64]float64{2: 37.3, 4: 44.8, 8: 55.9, 16: 73.6, 32: 103.4, 64: 155.1}

// requireEven checks by chi-square that shards chosen by the low bits of an ID get
// the same share each.
func requireEven(t *testing.T, ids []int64) {
	t.Helper()
	for shards, bound := range chiSquareBound {
		counts := make([]float64, shards)
		for _, id := range ids {
			counts[id&(shards-1)]++
		}
		expected, sum := float64(len(ids))/float64(shards), 0.0
		for _, n := range counts {
			sum += (n - expected) * (n - expected) / expected
		}
		require.LessOrEqual(t, sum, bound, "%d shards", shards)
	}
}

// A producer that makes fewer IDs than there are ticks, or a few in a row now and
// then, fills all shards.
func TestSlowProducersFillAllShards(t *testing.T) {
	t.Parallel()
	for _, burst := range []int{1, 2, 3, 8, 64, 100} {
		for _, pause := range []time.Duration{300 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 7 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprint(burst, " every ", pause), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := bubbleWorker(t, spec2000, Config{})
					var ids []int64
					for len(ids) < 6400 {
						for range burst {
							id, err := w.Next(t.Context())
							require.NoError(t, err)
							ids = append(ids, id)
						}
						time.Sleep(pause)
					}
					requireEven(t, ids)
				})
			})
		}
	}
}

// So do processes that make one ID each.
func TestManyStartsFillAllShards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := bubbleWorker(t, spec2000, Config{})
		ids := make([]int64, 12800)
		for i := range ids {
			again, err := New(1, Config{Layout: w.g.layout, Ceiling: -1})
			require.NoError(t, err)
			ids[i], err = again.Next(t.Context())
			require.NoError(t, err)
			require.NoError(t, again.Close())
		}
		requireEven(t, ids)
	})
}
