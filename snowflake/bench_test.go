package snowflake

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchWorker has so long a sequence that no benchmark gets to MaxAhead.
func benchWorker(b *testing.B) *Worker {
	b.Helper()
	return handWorker(b, "time:37,worker:2,sequence:24;unit=1ms;epoch=2026-01-01T00:00:00Z", Config{Ceiling: -1})
}

// handWorker makes a Worker that has its first tick.
func handWorker(tb testing.TB, spec string, cfg Config) *Worker {
	tb.Helper()
	l, err := ParseLayout(spec)
	require.NoError(tb, err)
	cfg.Layout = l
	w, err := New(1, cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, w.Close()) })
	_, err = w.Next(tb.Context())
	require.NoError(tb, err)
	return w
}

// clockAndCAS is what Next is compared with: a generator that reads the clock
// for every ID.
type clockAndCAS struct {
	start time.Time
	state atomic.Int64
}

func (g *clockAndCAS) next() int64 {
	for {
		now := time.Since(g.start).Milliseconds() << 24
		previous := g.state.Load()
		next := max(previous+1, now)
		if g.state.CompareAndSwap(previous, next) {
			return next
		}
	}
}

func BenchmarkClockAndCAS(b *testing.B) {
	g := clockAndCAS{start: time.Now()}
	for b.Loop() {
		g.next()
	}
}

func BenchmarkNext(b *testing.B) {
	w, ctx := benchWorker(b), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTryNext(b *testing.B) {
	w := benchWorker(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := w.TryNext(); !ok {
			b.Fatal("no ID")
		}
	}
}

func BenchmarkClockAndCASParallel(b *testing.B) {
	g := clockAndCAS{start: time.Now()}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.next()
		}
	})
}

func BenchmarkNextParallel(b *testing.B) {
	w := benchWorker(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		for pb.Next() {
			if _, err := w.Next(ctx); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// fill is what NextN is compared with. It is not inlined, or its variables would
// live in memory because of b.Loop.
//
//go:noinline
func fill(ids []int64, v, step int64) {
	for i := range ids {
		ids[i] = v
		v += step
	}
}

func BenchmarkFill1000(b *testing.B) {
	ids := make([]int64, 1000)
	for b.Loop() {
		fill(ids, 1, 2)
	}
}

func BenchmarkNextN1000(b *testing.B) {
	w, ctx, ids := benchWorker(b), context.Background(), make([]int64, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.NextN(ctx, ids); err != nil {
			b.Fatal(err)
		}
	}
}
