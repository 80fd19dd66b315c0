package snowflake

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// grantedTicks is a rectangle that the test has granted, and where it ended in fact.
type grantedTicks struct{ from, until, unused int64 }

// Goroutines draw IDs while rectangles of a few ticks, with gaps between
// them that belong to others, come and go. No ID twice, none in a gap, none at or
// above the first unused tick.
func TestManyGoroutinesOverTinyRectangles(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		"time:41,worker:2,sequence:2;unit=1h;epoch=1970-01-01T00:00:00Z",
		"time:41,sequence:1,worker:2;unit=1h;epoch=1970-01-01T00:00:00Z",
		"worker:2,time:41;unit=1h;epoch=1970-01-01T00:00:00Z",
	} {
		l, err := ParseLayout(spec)
		require.NoError(t, err)
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			g, err := newGenerator(l, 3, 1000*time.Hour)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var count atomic.Int64
			drawn := drawConcurrently(ctx, g, &count)
			granted := grantTiny(g, 500, &count)
			g.stop()
			cancel()
			all := drawn()
			require.GreaterOrEqual(t, len(all), 50)
			slices.Sort(all)
			require.Len(t, slices.Compact(slices.Clone(all)), len(all), "duplicates")
			checkInside(t, l, all, granted)
			st := g.stats()
			require.GreaterOrEqual(t, st.Used, int64(len(all)))
		})
	}
}

// drawConcurrently draws until ctx ends, and counts; the function returned waits
// for that and returns what was drawn.
func drawConcurrently(ctx context.Context, g *generator, count *atomic.Int64) func() []int64 {
	var wg sync.WaitGroup
	results := make([][]int64, 6)
	for i := range results {
		wg.Go(func() {
			for ctx.Err() == nil {
				ids := drawSome(ctx, g, i%3)
				results[i] = append(results[i], ids...)
				count.Add(int64(len(ids)))
				if len(ids) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	return func() []int64 {
		wg.Wait()
		return slices.Concat(results...)
	}
}

// drawSome draws in one of three ways.
func drawSome(ctx context.Context, g *generator, way int) []int64 {
	switch way {
	case 0:
		if id, err := g.next(ctx); err == nil {
			return []int64{id}
		}
	case 1:
		if id, ok := g.tryNext(); ok {
			return []int64{id}
		}
	default:
		ids := make([]int64, 3)
		if g.nextN(ctx, ids) == nil {
			return ids
		}
	}
	return nil
}

// errTaken is why the test revokes.
var errTaken = errors.New("number taken")

// grantTiny grants one rectangle after the other, most of them revoked before the
// next, some extended. Of every tenth something is drawn first, unless claims beyond
// the one before have used it up or one of several IDs could not be had.
func grantTiny(g *generator, n int, count *atomic.Int64) []grantedTicks {
	var granted []grantedTicks
	at := int64(5)
	for i := range int64(n) {
		r := grantedTicks{from: at, until: at + 1 + i%3}
		now := serverTime{ms: r.from * g.layout.unit, read: time.Now()}
		g.grant(rectangle{r.from, r.until}, now)
		if i%4 == 0 {
			r.until += 2
			g.grant(rectangle{r.from, r.until}, now)
		}
		tries, before := i%20, count.Load()
		if i%10 == 9 {
			tries = 2000
		}
		for ; tries > 0 && count.Load() == before; tries-- {
			runtime.Gosched()
		}
		r.unused = r.until
		if i%5 != 0 {
			g.revoke(errTaken)
			r.unused = g.firstUnused()
		}
		granted = append(granted, r)
		at = r.until + 1 + i%2
	}
	return granted
}

// checkInside checks that every ID lies in what was used of a rectangle.
func checkInside(t *testing.T, l Layout, sorted []int64, granted []grantedTicks) {
	t.Helper()
	for _, id := range sorted {
		p, err := l.Decompose(id)
		require.NoError(t, err)
		i, _ := slices.BinarySearchFunc(granted, p.Tick, func(r grantedTicks, tick int64) int {
			if r.until <= tick {
				return -1
			}
			return 1
		})
		require.Less(t, i, len(granted), "tick %d after all rectangles", p.Tick)
		require.GreaterOrEqual(t, p.Tick, granted[i].from, "tick %d in the gap before %v", p.Tick, granted[i])
		require.Less(t, p.Tick, granted[i].unused, "tick %d not used in %v", p.Tick, granted[i])
	}
}
