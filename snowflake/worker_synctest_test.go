package snowflake

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// spec2000 counts from the time at which a bubble begins.
const spec2000 = "time:41,worker:10,sequence:12;unit=1ms;epoch=2000-01-01T00:00:00Z"

// bubbleWorker makes a Worker inside a bubble, 1 second after the epoch of most
// specs here.
func bubbleWorker(t *testing.T, spec string, cfg Config) *Worker {
	t.Helper()
	time.Sleep(time.Second)
	l, err := ParseLayout(spec)
	require.NoError(t, err)
	cfg.Layout, cfg.Ceiling = l, -1
	w, err := New(1, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// idle reports whether there is no timer and the next call will look at the clock.
func (w *Worker) idle() bool {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	return !w.g.armed && isParked(w.g.state.Load())
}

// tickOf returns the tick of an ID.
func tickOf(t *testing.T, w *Worker, id int64) int64 {
	t.Helper()
	p, err := w.g.layout.Decompose(id)
	require.NoError(t, err)
	return p.Tick
}

// The first tick is one that a process which ended just now has not used, though
// it had borrowed all it could.
func TestRestartWithTheSameNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		last := int64(0)
		for range 20 {
			w := bubbleWorker(t, spec2000, Config{})
			for {
				id, ok := w.TryNext()
				if !ok && last != 0 && w.Stats().Used > 0 {
					break
				}
				if !ok {
					var err error
					start := time.Now()
					id, err = w.Next(t.Context())
					require.NoError(t, err)
					require.LessOrEqual(t, time.Since(start), time.Millisecond)
				}
				require.Greater(t, id, last)
				last = id
			}
			require.NoError(t, w.Close())
			again, err := New(1, Config{Layout: w.g.layout, Ceiling: -1})
			require.NoError(t, err)
			id, err := again.Next(t.Context())
			require.NoError(t, err)
			require.Greater(t, id, last)
			last = id
			require.NoError(t, again.Close())
		}
	})
}

func TestBurstBorrowsAndThenWaits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, spec string
		ahead      time.Duration
		perTick    int64
	}{
		{"Default", spec2000, 20 * time.Millisecond, 4096},
		{"Long", spec2000, 100 * time.Millisecond, 4096},
		{"Short", spec2000, time.Millisecond, 4096},
		{"Sonyflake", "time:39,sequence:8,worker:16;unit=10ms;epoch=2000-01-01T00:00:00Z", 20 * time.Millisecond, 256},
		{"Seconds", "time:33,worker:14,sequence:10;unit=1s;epoch=2000-01-01T00:00:00Z", 20 * time.Millisecond, 1024},
		{"NoSequence", "time:41,worker:10;unit=1ms;epoch=2000-01-01T00:00:00Z", 20 * time.Millisecond, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := bubbleWorker(t, tt.spec, Config{MaxAhead: tt.ahead})
				unit := w.g.layout.Unit()
				begin, drawn, last := time.Now(), int64(0), int64(-1)
				for time.Since(begin) < 50*unit {
					id, err := w.Next(t.Context())
					require.NoError(t, err)
					if tt.spec[:6] == "time:4" && id <= last {
						t.Fatalf("%d after %d", id, last)
					}
					last = id
					drawn++
					if early := time.Until(w.g.layout.TimeOf(tickOf(t, w, id))); early > tt.ahead {
						t.Fatalf("an ID of a tick that begins %s from now", early)
					}
				}
				const startMask = 1<<startBits - 1
				ticks := 50 + int64(tt.ahead/unit)
				require.GreaterOrEqual(t, drawn, (50-1)*tt.perTick-startMask, "the layout's rate, less where the first tick began")
				require.LessOrEqual(t, drawn, (ticks+1)*tt.perTick)
				st := w.Stats()
				require.Equal(t, drawn, st.Used)
				require.GreaterOrEqual(t, st.Waits, int64(48))
				require.LessOrEqual(t, st.Waited, 51*unit)
			})
		})
	}
}

// What callers claim while they wait is theirs: no value is lost between them, so
// many get the layout's rate too.
func TestManyWaitersLoseNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const perTick = 16
		w := bubbleWorker(t, "time:41,worker:10,sequence:4;unit=1ms;epoch=2000-01-01T00:00:00Z", Config{})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		results := make([][]int64, 100)
		var wg sync.WaitGroup
		for i := range results {
			wg.Go(func() {
				for {
					id, err := w.Next(ctx)
					if err != nil {
						return
					}
					results[i] = append(results[i], id)
				}
			})
		}
		wg.Wait()
		var values []int64
		for _, id := range slices.Concat(results...) {
			p, err := w.g.layout.Decompose(id)
			require.NoError(t, err)
			values = append(values, p.Tick*perTick+p.Sequence)
		}
		slices.Sort(values)
		// One tick a millisecond, but for where the first began, and the last, in
		// which callers gave up.
		whole := len(values) - perTick
		require.GreaterOrEqual(t, len(values), 199*perTick-(perTick-1))
		require.LessOrEqual(t, len(values), 201*perTick)
		require.Equal(t, values[0]+int64(whole)-1, values[whole-1], "holes or duplicates")
	})
}

func TestContextEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := bubbleWorker(t, "time:33,worker:14,sequence:8;unit=1h;epoch=2000-01-01T00:00:00Z", Config{})
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, err := w.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the first tick is the next one")
		require.Equal(t, 1500*time.Millisecond, time.Since(begin))

		id, err := w.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(1), tickOf(t, w, id))
		_, err = w.Next(ctx)
		require.NoError(t, err, "it is not looked at if there are IDs")
		ids := slices.Repeat([]int64{7}, 256)
		require.ErrorIs(t, w.NextN(ctx, ids), context.DeadlineExceeded)
		require.Equal(t, make([]int64, 256), ids, "all or nothing")
		st := w.Stats()
		require.Equal(t, int64(3), st.Waits)
	})
}

// In use, ticks follow the clock within a tick of the timer, without waiting.
func TestTicksFollowTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := bubbleWorker(t, spec2000, Config{})
		_, err := w.Next(t.Context())
		require.NoError(t, err)
		time.Sleep(50 * time.Millisecond)
		waits := w.Stats().Waits
		for range 10_000 {
			id, ok := w.TryNext()
			require.True(t, ok)
			require.InDelta(t, w.g.layout.TickOf(time.Now()), tickOf(t, w, id), 1)
			time.Sleep(100 * time.Microsecond)
		}
		require.Equal(t, waits, w.Stats().Waits)
	})
}
