package oddeven

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/segment"
)

// inBubble runs f where time stands still while everybody waits.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// A server that is frozen costs every caller After, once.
func TestGeneratorWaitsForAnAnswerOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTestClient(t, Config{}, 0)
		useWorker(t, c)
		s := &source{}
		g := newTestGenerator(t, c, s, "orders", 10)
		s.silent = make(chan struct{})
		defer close(s.silent)
		began := time.Now()
		for range 10 { // what is at hand takes no time
			_, err := g.Next(t.Context())
			require.NoError(t, err)
		}
		require.Zero(t, time.Since(began))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				id, err := g.Next(context.Background())
				if err != nil || id < ID(schema.Ceiling) {
					panic("not from the worker")
				}
			})
		}
		wg.Wait()
		require.InDelta(t, defaultFailoverAfter, time.Since(began), float64(2*time.Millisecond))
		began = time.Now()
		for range 100 {
			_, err := g.Next(t.Context())
			require.NoError(t, err)
		}
		require.Zero(t, time.Since(began))
	})
}

// slow answers after a time.
type slow struct {
	segment.Memory
	after time.Duration
}

func (s *slow) Reserve(ctx context.Context, floor, count int64) (segment.Range, error) {
	if !pause.For(ctx, s.after) {
		return segment.Range{}, ctx.Err()
	}
	return s.Memory.Reserve(ctx, floor, count)
}

// A batch that takes many answers waits for all of them, if each comes in time.
func TestGeneratorWaitsAsLongAsServersAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTestClient(t, Config{}, 0)
		useWorker(t, c)
		g := newTestGenerator(t, c, &slow{after: 40 * time.Millisecond}, "orders", 10)
		ids := make([]ID, 100)
		began := time.Now()
		require.NoError(t, g.NextN(t.Context(), ids))
		require.Less(t, ids[99], ID(schema.Ceiling))
		require.Greater(t, time.Since(began), 5*defaultFailoverAfter)
	})
}

// Whoever is told to wait is not sent away by a failure.
func TestGeneratorWaitsWhenConfigured(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTestClient(t, Config{Failover: Failover{Outage: Wait}}, 0)
		s := &source{}
		g := newTestGenerator(t, c, s, "orders", 10)
		s.Fail(errDown)
		back := time.AfterFunc(time.Hour, func() { s.Fail(nil) })
		defer back.Stop()
		began := time.Now()
		for range 11 {
			_, err := g.Next(t.Context())
			require.NoError(t, err)
		}
		require.GreaterOrEqual(t, time.Since(began), time.Hour)
	})
}

// Ready waits for the lease, and says so.
func TestReadyNamesWhatIsMissing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTestClient(t, Config{}, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := c.Ready(ctx)
		require.ErrorIs(t, err, ErrNotReady)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errNoLease)
		require.False(t, c.Stats().Worker.Leased)
		time.AfterFunc(time.Minute, func() { useWorker(t, c) })
		began := time.Now()
		require.NoError(t, c.Ready(t.Context()))
		require.InDelta(t, time.Minute, time.Since(began), float64(time.Second))
		require.True(t, c.Stats().Worker.Leased)
		synctest.Wait()
	})
}
