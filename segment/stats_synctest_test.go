package segment

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// requireCounted checks that every confirmed refill has one cause and one duration.
func requireCounted(t *testing.T, st Stats) {
	t.Helper()
	require.Equal(t, st.Refills, st.RefillsBy.Total())
	require.Equal(t, st.Refills, st.RefillTimes.Count())
	require.Nil(t, st.Servers, "this source is not a fleet's")
}

func TestRefillsAreCountedByCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, 5*ms)
		a := open(t, s, Config{Interval: 2 * time.Second, MaxAge: time.Minute})
		st := a.Stats()
		require.Equal(t, RefillCounts{First: 1}, st.RefillsBy)
		require.Equal(t, 5*ms, st.RefillTimesSum)
		require.Equal(t, int64(2), st.Stride)
		requireCounted(t, st)

		l := &ledger{t: t}
		l.pace(a, 1000, 20*time.Second, 10*ms)
		st = a.Stats()
		require.Positive(t, st.RefillsBy.Prefetch)
		require.Zero(t, st.RefillsBy.Demand)
		requireCounted(t, st)

		time.Sleep(2 * time.Minute) // everything is too old now
		l.draw(a, 1)
		synctest.Wait()
		st = a.Stats()
		require.Equal(t, int64(1), st.RefillsBy.Demand)
		require.Equal(t, time.Duration(st.Refills)*5*ms, st.RefillTimesSum)
		requireCounted(t, st)
	})
}

func TestSlowAndSmallRefillsAreCountedByCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, 50*ms)
		a := open(t, s, Config{Interval: 2 * time.Second})
		l := &ledger{t: t}
		l.pace(a, 1000, 30*time.Second, 10*ms)
		l.pace(a, 1_000_000, 20*time.Second, ms/10)
		require.Positive(t, a.Stats().RefillsBy.Enlargement)
		s.set(func() { s.delay[0] = 5 * time.Second })
		l.pace(a, 1_000_000, 20*time.Second, ms/10)
		time.Sleep(10 * time.Second) // nothing is under way any more
		st := a.Stats()
		require.Positive(t, st.RefillsBy.Hedge)
		requireCounted(t, st)
	})
}

func TestRefillAfterAFailureIsCountedAsRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(1, ms)
		a := open(t, s, Config{MinStep: 10, MaxStep: 10})
		s.set(func() { s.down[0] = true })
		drawn := make(chan int)
		go func() {
			l := &ledger{t: t}
			l.draw(a, 25)
			drawn <- l.n
		}()
		time.Sleep(time.Minute)
		st := a.Stats()
		require.Equal(t, int64(1), st.Waiting)
		require.Equal(t, RefillCounts{First: 1}, st.RefillsBy)
		require.Positive(t, st.Failed)
		require.Error(t, st.Err)
		s.set(func() { s.down[0] = false })
		require.Equal(t, 25, <-drawn)
		synctest.Wait()
		st = a.Stats()
		require.Zero(t, st.Waiting)
		require.Equal(t, int64(1), st.RefillsBy.Retry)
		require.GreaterOrEqual(t, st.Waited, 59*time.Second)
		requireCounted(t, st)
	})
}
