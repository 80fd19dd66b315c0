package segment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// A refill that hangs must not hold up Close, and what it brings is dropped.
func TestCloseDuringARefillDropsItsAnswer(t *testing.T) {
	servers := newFleet(t, 1)
	one := servers.Servers[0]
	rounds(t, one) // root's pool is of the test
	one.DB().SetMaxIdleConns(-1)
	before := goleak.IgnoreCurrent()
	fleet, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
	require.NoError(t, err)
	l := newLedger()
	for _, answered := range []bool{false, true} {
		a, err := segment.Open(clienttest.Bounded(t), fleet, orders, small)
		require.NoError(t, err)
		tx, err := one.DB().BeginTx(clienttest.Bounded(t), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(clienttest.Bounded(t), "SELECT * FROM sequences FOR UPDATE")
		require.NoError(t, err)
		one.Mark()
		for id, ok := a.TryNext(); ok; id, ok = a.TryNext() {
			l.rising(t, a, []int64{id})
		}
		clienttest.Until(t, "a refill under way", func() bool { return len(one.Statements().Matching(isReserve)) > 0 })
		waiter := make(chan error)
		go func() { _, err := a.Next(context.Background()); waiter <- err }()
		clienttest.Until(t, "a caller waits", func() bool { return a.Stats().Waits > 0 })
		if answered { // right when Close is called
			require.NoError(t, tx.Rollback())
		}
		began := time.Now()
		require.NoError(t, a.Close())
		require.Less(t, time.Since(began), 5*time.Second, "it waits for nobody's answer")
		if err := <-waiter; !answered || err != nil {
			require.ErrorIs(t, err, segment.ErrClosed)
			require.Positive(t, a.Stats().Abandoned, "%+v", a.Stats())
		}
		if !answered {
			require.NoError(t, tx.Rollback())
		}
		_, err = a.Next(t.Context())
		require.ErrorIs(t, err, segment.ErrClosed)
		next, err := segment.Open(clienttest.Bounded(t), fleet, orders, small)
		require.NoError(t, err)
		l.draw(t, next, 25)
		require.NoError(t, next.Close())
	}
	require.NoError(t, fleet.Close())
	require.NoError(t, goleak.Find(before))
	l.requireUnique(t)
}
