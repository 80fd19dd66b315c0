package segment

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchAllocator never runs dry within a benchmark.
func benchAllocator(b *testing.B) *Allocator {
	b.Helper()
	a, err := New(b.Context(), &Memory{Increment: 2, Offset: 1}, Config{MinStep: 100_000_000, MaxStep: maxStep})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, a.Close()) })
	return a
}

// Not parallel: AllocsPerRun counts those of the whole process.
func TestIDsAtHandCostNoAllocation(t *testing.T) {
	a, err := New(t.Context(), &Memory{Increment: 2}, Config{MinStep: 1_000_000})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	ctx := t.Context()
	ids := make([]int64, 64)
	_, err = a.Next(ctx)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() { _, err = a.Next(ctx) }))
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = a.TryNext() }))
	require.Zero(t, testing.AllocsPerRun(1000, func() { err = a.NextN(ctx, ids) }))
	require.NoError(t, err)
}

func BenchmarkAdd(b *testing.B) {
	var n atomic.Int64
	for b.Loop() {
		n.Add(2)
	}
}

func BenchmarkNext(b *testing.B) {
	a := benchAllocator(b)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTryNext(b *testing.B) {
	a := benchAllocator(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := a.TryNext(); !ok {
			b.Fatal("no ID")
		}
	}
}

func BenchmarkFill64(b *testing.B) {
	ids := make([]int64, 64)
	v := int64(0)
	for b.Loop() {
		for i := range ids {
			ids[i] = v
			v += 2
		}
	}
}

func BenchmarkNextN64(b *testing.B) {
	a := benchAllocator(b)
	ctx := context.Background()
	ids := make([]int64, 64)
	b.ReportAllocs()
	for b.Loop() {
		if err := a.NextN(ctx, ids); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddParallel(b *testing.B) {
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.Add(2)
		}
	})
}

func BenchmarkNextParallel(b *testing.B) {
	a := benchAllocator(b)
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		for pb.Next() {
			if _, err := a.Next(ctx); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkTryNextParallel(b *testing.B) {
	a := benchAllocator(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, ok := a.TryNext(); !ok {
				b.Error("no ID")
				return
			}
		}
	})
}

func BenchmarkNextN1000Parallel(b *testing.B) {
	a := benchAllocator(b)
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		ids := make([]int64, 1000)
		for pb.Next() {
			if err := a.NextN(ctx, ids); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
