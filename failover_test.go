package oddeven

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// until asks again and again until the answer is yes.
func until(t testing.TB, yes func() bool) {
	t.Helper()
	require.Eventually(t, yes, time.Minute, 2*time.Millisecond)
}

// useUp takes IDs until the Generator falls back, and returns the first ID of the
// worker.
func useUp(t testing.TB, g *Generator) ID {
	t.Helper()
	for {
		id, err := g.Next(bounded(t))
		require.NoError(t, err)
		if id >= ID(schema.Ceiling) {
			return id
		}
	}
}

func TestGeneratorFallsBackAndReturns(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	useWorker(t, c)
	s := &source{}
	g := newTestGenerator(t, c, s, "orders", 10)
	require.Equal(t, PlaneSegment, g.Stats().Plane)
	s.Fail(errDown)
	first := useUp(t, g)
	second, err := g.Next(bounded(t))
	require.NoError(t, err)
	require.Greater(t, second, first)
	st := g.Stats()
	require.Equal(t, PlaneSnowflake, st.Plane)
	require.ErrorIs(t, st.Err, errDown)
	require.Equal(t, []int64{1, 0, 2}, []int64{st.Failovers, st.Returns, st.FromWorker})
	s.Fail(nil)
	until(t, func() bool {
		id, err := g.Next(bounded(t))
		require.NoError(t, err)
		return id < ID(schema.Ceiling)
	})
	st = g.Stats()
	require.Equal(t, PlaneSegment, st.Plane)
	require.NoError(t, st.Err)
	require.Equal(t, int64(1), st.Returns)
}

func TestGeneratorReturnsOnlyWhenTold(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{Failover: Failover{Return: WhenTold}}, 0)
	useWorker(t, c)
	s := &source{}
	g := newTestGenerator(t, c, s, "orders", 10)
	s.Fail(errDown)
	useUp(t, g)
	s.Fail(nil)
	began := time.Now()
	until(t, func() bool { // longer than an Allocator waits between two attempts
		id, err := g.Next(bounded(t))
		require.NoError(t, err)
		require.GreaterOrEqual(t, id, ID(schema.Ceiling))
		return time.Since(began) > 200*time.Millisecond
	})
	c.FailBack()
	until(t, func() bool {
		id, err := g.Next(bounded(t))
		require.NoError(t, err)
		return id < ID(schema.Ceiling)
	})
	s.Fail(errDown) // and is to be told again
	useUp(t, g)
	require.True(t, g.held.Load())
}

func TestGeneratorFailsWhenConfigured(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{Failovers: map[string]Failover{"orders": {Outage: Fail}}}, 0)
	useWorker(t, c)
	s := &source{}
	orders, users := newTestGenerator(t, c, s, "orders", 10), newTestGenerator(t, c, s, "users", 10)
	s.Fail(errDown)
	var err error
	until(t, func() bool {
		_, err = orders.Next(bounded(t))
		return err != nil
	})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorIs(t, err, errDown)
	require.NotContains(t, err.Error(), "worker")
	require.Zero(t, orders.Stats().FromWorker)
	useUp(t, users) // the other ones do as the client does
}

func TestGeneratorWithoutWorkerSaysWhy(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	s := &source{}
	g := newTestGenerator(t, c, s, "orders", 10)
	s.Fail(errDown)
	var err error
	until(t, func() bool {
		_, err = g.Next(bounded(t))
		return err != nil
	})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorIs(t, err, errNoLease)
	require.ErrorIs(t, err, errDown)
	require.Equal(t, PlaneSegment, g.Stats().Plane)
	s.Fail(nil)
	until(t, func() bool {
		_, err := g.Next(bounded(t))
		return err == nil
	})
}

// The ceiling of a sequence is an error, not an outage.
func TestGeneratorDoesNotMakeUpForTheCeiling(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	useWorker(t, c)
	s := &source{}
	s.Ceiling = 15
	g := newTestGenerator(t, c, s, "orders", 10)
	var err error
	for err == nil {
		var id ID
		id, err = g.Next(bounded(t))
		require.LessOrEqual(t, id, ID(15))
	}
	require.ErrorIs(t, err, segment.ErrExhausted)
	require.NotErrorIs(t, err, ErrUnavailable)
}

// A Generator that was away when its sequence came to its end says so.
func TestGeneratorAwayNoticesTheCeiling(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	useWorker(t, c)
	s := &source{}
	s.Ceiling = 15
	g := newTestGenerator(t, c, s, "orders", 10)
	s.Fail(errDown)
	useUp(t, g)
	s.Fail(segment.ErrExhausted)
	until(t, func() bool {
		c.bringBack()
		_, err := g.Next(bounded(t))
		return errors.Is(err, segment.ErrExhausted)
	})
}

func TestNextNIsOfOnePlane(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	useWorker(t, c)
	s := &source{}
	g := newTestGenerator(t, c, s, "orders", 10)
	ids := make([]ID, 25)
	require.NoError(t, g.NextN(bounded(t), ids))
	require.Less(t, slices.Max(ids), ID(schema.Ceiling))
	require.True(t, slices.IsSorted(ids))
	s.Fail(errDown)
	until(t, func() bool {
		require.NoError(t, g.NextN(bounded(t), ids))
		require.True(t, slices.IsSorted(ids))
		require.Equal(t, ids[0] < ID(schema.Ceiling), ids[24] < ID(schema.Ceiling))
		return ids[0] >= ID(schema.Ceiling)
	})
	s.Fail(nil)
	until(t, func() bool {
		require.NoError(t, g.NextN(bounded(t), ids))
		require.True(t, slices.IsSorted(ids))
		return ids[24] < ID(schema.Ceiling)
	})
	for _, n := range []int{0, MaxN + 1} {
		var e *ticket.ConfigError
		require.ErrorAs(t, g.NextN(bounded(t), make([]ID, n)), &e)
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{Failover: Failover{Outage: Wait}}, 0)
	s := &source{}
	g := newTestGenerator(t, c, s, "orders", 10)
	s.Fail(errDown)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var err error
	for err == nil {
		_, err = g.Next(ctx)
	}
	require.ErrorIs(t, err, context.DeadlineExceeded)
	ids := []ID{1, 2, 3}
	require.ErrorIs(t, g.NextN(ctx, ids), context.DeadlineExceeded)
	require.Equal(t, []ID{0, 0, 0}, ids)
}

func TestCloseWhileCallsWait(t *testing.T) {
	t.Parallel()
	for _, outage := range []Outage{FallBack, Wait, Fail} {
		c := newTestClient(t, Config{Failover: Failover{Outage: outage, After: time.Minute}}, 0)
		useWorker(t, c)
		s := &source{}
		g := newTestGenerator(t, c, s, "orders", 10)
		s.silent = make(chan struct{})
		errs := make(chan error)
		for range 4 {
			go func() {
				var err error
				for err == nil {
					_, err = g.Next(context.Background())
				}
				errs <- err
			}()
		}
		until(t, func() bool { return g.Stats().Segment.Waits >= 4 })
		require.NoError(t, c.Close())
		for range 4 {
			require.Equal(t, ErrClosed, <-errs)
		}
		require.NoError(t, c.Close())
		_, err := g.Next(t.Context())
		require.Equal(t, ErrClosed, err)
		_, err = c.Sequence(t.Context(), "orders")
		require.Equal(t, ErrClosed, err)
		_, err = c.Sequence(t.Context(), "others")
		require.Equal(t, ErrClosed, err)
		require.Equal(t, ErrClosed, c.Ready(t.Context()))
		require.Len(t, c.Stats().Sequences, 1)
	}
}

// Callers draw while servers come and go: nothing comes twice, all is in a plane,
// and within a plane a caller's IDs rise.
func TestNothingComesTwiceWhileServersFlap(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{Failover: Failover{After: 5 * time.Millisecond}}, 0)
	useWorker(t, c)
	s := &source{}
	g := newTestGenerator(t, c, s, "orders", 100)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all := make([][]ID, 8)
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i], errs[i] = drawUntil(ctx, g) })
	}
	down := false
	until(t, func() bool {
		down = !down
		if down {
			s.Fail(errDown)
		} else {
			s.Fail(nil)
		}
		return g.Stats().Returns >= 3
	})
	stop()
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	var ids []ID
	for _, own := range all {
		last := map[bool]ID{}
		for _, id := range own {
			upper := id >= ID(schema.Ceiling)
			require.Greater(t, id, last[upper])
			last[upper] = id
		}
		ids = append(ids, own...)
	}
	slices.Sort(ids)
	require.Len(t, slices.Compact(slices.Clone(ids)), len(ids))
}

// drawUntil draws a hundred IDs every millisecond until ctx ends.
func drawUntil(ctx context.Context, g *Generator) (ids []ID, err error) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		for range 100 {
			id, err := g.Next(context.Background())
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
		<-tick.C
	}
	return ids, nil
}

func TestWhatIsAnOutage(t *testing.T) {
	t.Parallel()
	unknown := func(errs ...error) error {
		return &segment.UnknownSequenceError{Sequence: "orders", Err: errors.Join(errs...)}
	}
	lacks := &ticket.ServerError{Server: "a", Kind: segment.ErrUnknownSequence}
	down := &ticket.ServerError{Server: "b", Problem: "connection refused"}
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"AllDown", ticket.ErrUnavailable, true},
		{"NoAnswer", context.DeadlineExceeded, true},
		{"UnknownWhereItAnswers", unknown(lacks, down), true},
		{"UnknownEverywhere", unknown(lacks, lacks), false},
		{"UnknownOnTheOnlyServer", unknown(lacks), false},
		{"Exhausted", segment.ErrExhausted, false},
		{"Config", &ticket.ConfigError{Field: "MinStep"}, false},
		{"Plane", &PlaneError{}, false},
	} {
		require.Equal(t, tt.want, isOutage(tt.err), tt.name)
	}
}
