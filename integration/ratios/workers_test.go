//go:build ratios

package ratios

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/snowflake"
)

const (
	// sustainedWindow is how long a round of the sustained rate lasts. A tick more
	// or less at its ends is a fiftieth of a percent.
	sustainedWindow = 5 * time.Second
	// sustainedRounds are few, because each is long.
	sustainedRounds = 3
	// longSequence is a layout with so many IDs in a tick that no caller gets to
	// MaxAhead: all of a round is inside a burst.
	longSequence  = "time:37,worker:2,sequence:24;unit=1ms;epoch=2026-01-01T00:00:00Z"
	longSeqBits   = 24
	workerCeiling = -1 // its IDs meet no others
)

// workers are the claims about a Worker whose number is assigned by hand. They
// need no server. Both sides have the same shape of loop.
func workers(t *testing.T) []claim {
	layout, err := snowflake.ParseLayout(longSequence)
	require.NoError(t, err)
	w := newWorker(t, snowflake.Config{Layout: layout, Ceiling: workerCeiling})
	clock := clockAndSwap{start: time.Now()}
	next := func(int) func(int) error { return workerNexts(w) }
	base := func(int) func(int) error { return swaps(&clock) }
	nextN := func(size int) func(int) error { return workerNextNs(w, size) }
	return []claim{
		sustained(t),
		memoryClaim("Worker.Next in a burst, one caller, against time.Since and one CAS", 0.3, 1, 0, next, base),
		memoryClaim("Worker.Next in a burst, two callers, against time.Since and one CAS of two", 0.6, 2, 0, next, base),
		memoryClaim("Worker.NextN of 1000 in a burst, one caller, per ID, against filling a slice", 1.5, 1, 1000, nextN, fills),
	}
}

// newWorker makes a Worker that has come to its first tick.
func newWorker(t *testing.T, cfg snowflake.Config) *snowflake.Worker {
	w, err := snowflake.New(1, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	_, err = w.Next(t.Context())
	require.NoError(t, err)
	return w
}

// sustained compares the limit of the default layout with what one caller gets.
func sustained(t *testing.T) claim {
	layout := snowflake.Default()
	w := newWorker(t, snowflake.Config{Layout: layout})
	inTick := int64(1) << layout.Width(snowflake.KindSequence)
	limit := layout.Unit().Seconds() / float64(inTick)
	return claim{
		name:   fmt.Sprintf("Worker.Next sustained over %s, against the layout's limit", sustainedWindow),
		bound:  1.002,
		rounds: sustainedRounds,
		both: func(ctx context.Context) (float64, float64, error) {
			cost, err := sustain(ctx, w, sustainedWindow, int(inTick))
			if err == nil && cost < limit*0.998 {
				err = fmt.Errorf("an ID every %s is more than the layout has", describe(cost))
			}
			return cost, limit, err
		},
	}
}

// sustain draws for a while and returns the time from one ID to the next. It
// begins and ends when everything is borrowed that may be: so the burst before it
// does not count, and what it leaves for later does.
func sustain(ctx context.Context, w *snowflake.Worker, window time.Duration, portion int) (float64, error) {
	drain(w)
	began := time.Now()
	n := 0
	for time.Since(began) < window {
		if err := workerNextAll(ctx, w, portion); err != nil {
			return 0, err
		}
		n += portion
	}
	n += drain(w)
	return time.Since(began).Seconds() / float64(n), nil
}

// drain takes what is at hand and returns how many IDs that was.
func drain(w *snowflake.Worker) (n int) {
	for {
		if _, ok := w.TryNext(); !ok {
			return n
		}
		n++
	}
}

// clockAndSwap is a generator that reads the clock for every ID.
type clockAndSwap struct {
	start time.Time
	_     [64]byte // state has a cache line of its own
	state atomic.Int64
	_     [64]byte
}

func (g *clockAndSwap) next() int64 {
	for {
		now := time.Since(g.start).Milliseconds() << longSeqBits
		previous := g.state.Load()
		next := max(previous+1, now)
		if g.state.CompareAndSwap(previous, next) {
			return next
		}
	}
}

func swaps(g *clockAndSwap) func(n int) error {
	return func(n int) error { return swapAll(g, n) }
}

func swapAll(g *clockAndSwap, n int) error {
	for range n {
		if g.next() == 0 {
			return measure.ErrNothing
		}
	}
	return nil
}

func workerNexts(w *snowflake.Worker) func(n int) error {
	return func(n int) error { return workerNextAll(context.Background(), w, n) }
}

func workerNextAll(ctx context.Context, w *snowflake.Worker, n int) error {
	for range n {
		if _, err := w.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func workerNextNs(w *snowflake.Worker, size int) func(n int) error {
	ids := make([]int64, size)
	return func(n int) error { return workerNextNAll(context.Background(), w, ids, n/len(ids)) }
}

func workerNextNAll(ctx context.Context, w *snowflake.Worker, ids []int64, times int) error {
	for range times {
		if err := w.NextN(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// TestWorkerRatios measures these claims alone.
func TestWorkerRatios(t *testing.T) {
	var r report
	r.measure(t, workers(t))
	require.NoError(t, r.print(os.Stdout))
	require.True(t, r.ok())
}
