//go:build ratios

package ratios

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/segment"
)

const (
	memoryWindow = 300 * time.Millisecond // of a round
	// IDs of one caller before the other side has its turn: a fraction of a
	// millisecond, so that most turns are not interrupted.
	batch     = 50_000
	fillBatch = 1_000_000
)

// segments are the claims about an Allocator that has IDs at hand. They need no
// server. Both sides have the same shape of loop.
func segments(t *testing.T) []claim {
	a, err := segment.New(t.Context(), &segment.Memory{Increment: 2}, segment.Config{MinStep: 100_000_000, MaxStep: 1 << 40})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	var counter struct { // on a cache line of its own
		_ [64]byte
		n atomic.Int64
		_ [64]byte
	}
	add := func(int) func(int) error { return additions(&counter.n) }
	next := func(int) func(int) error { return nexts(a) }
	tryNext := func(int) func(int) error { return tryNexts(a) }
	claims := []claim{
		memoryClaim("TryNext, one caller, against atomic.Int64.Add", 1.1, 1, 0, tryNext, add),
		memoryClaim("Next, one caller, against atomic.Int64.Add", 1.25, 1, 0, next, add),
		memoryClaim("TryNext, two callers, against atomic.Int64.Add of two", 0, 2, 0, tryNext, add),
		memoryClaim("Next, two callers, against atomic.Int64.Add of two", 1.3, 2, 0, next, add),
	}
	nextN := func(size int) func(int) error { return nextNs(a, size) }
	for _, c := range []struct{ callers, size int }{{1, 64}, {1, 1000}, {1, 10_000}, {2, 1000}, {2, 10_000}} {
		who := [...]string{"", "one caller", "two callers"}[c.callers]
		name := fmt.Sprintf("NextN of %d, %s, per ID, against filling a slice", c.size, who)
		claims = append(claims, memoryClaim(name, 1.3, c.callers, c.size, nextN, fills))
	}
	return claims
}

// memoryClaim compares what callers do, each with a function and, in each round,
// memory of its own for size IDs at once: where it lies matters.
func memoryClaim(name string, bound float64, callers, size int, op, base func(size int) func(n int) error) claim {
	n := batch
	if size > 0 {
		n = fillBatch
	}
	return claim{name: name, bound: bound, both: func(context.Context) (float64, float64, error) {
		ops, bases := make([]func(int) error, callers), make([]func(int) error, callers)
		for i := range callers {
			ops[i], bases[i] = op(size), base(size)
		}
		return measure.SharedBatches(memoryWindow, n, ops, bases)
	}}
}

// The loops are functions of their own, as an application's are: in a function
// literal that is inlined itself not all calls are.

func additions(counter *atomic.Int64) func(n int) error {
	return func(n int) error { return addAll(counter, n) }
}

func addAll(counter *atomic.Int64, n int) error {
	for range n {
		if counter.Add(2) == 0 {
			return measure.ErrNothing
		}
	}
	return nil
}

func nexts(a *segment.Allocator) func(n int) error {
	return func(n int) error { return nextAll(context.Background(), a, n) }
}

func nextAll(ctx context.Context, a *segment.Allocator, n int) error {
	for range n {
		if _, err := a.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func tryNexts(a *segment.Allocator) func(n int) error {
	return func(n int) error { return tryNextAll(a, n) }
}

func tryNextAll(a *segment.Allocator, n int) error {
	for range n {
		if _, ok := a.TryNext(); !ok {
			return measure.ErrNothing
		}
	}
	return nil
}

func fills(size int) func(n int) error {
	ids := make([]int64, size)
	return func(n int) error {
		fillAll(ids, n/len(ids), 2)
		return nil
	}
}

func fillAll(ids []int64, times int, stride int64) {
	var last int64
	for range times {
		v := last
		for i := range ids {
			ids[i] = v
			v += stride
		}
		last = v
	}
}

func nextNs(a *segment.Allocator, size int) func(n int) error {
	ids := make([]int64, size)
	return func(n int) error { return nextNAll(context.Background(), a, ids, n/len(ids)) }
}

func nextNAll(ctx context.Context, a *segment.Allocator, ids []int64, times int) error {
	for range times {
		if err := a.NextN(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}
