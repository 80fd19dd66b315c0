package snowflake_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// These tests break shared servers, so they are not parallel.

// leaseOf is what the row of a number says: the end of its lease, as an offset
// from the server's present tick in milliseconds.
func leaseOf(t testing.TB, s *testfleet.Server, column string) int64 {
	t.Helper()
	return clienttest.Value(t, s, "SELECT CAST(`"+column+"` AS SIGNED) - (TIMESTAMPDIFF(MICROSECOND, '2020-01-01', UTC_TIMESTAMP(6)) DIV 1000) FROM workers ORDER BY number LIMIT 1")
}

// refused opens a worker in vain: all numbers of the server are parked. It
// returns for how long.
func refused(t testing.TB, fleet *ticket.Fleet) time.Duration {
	t.Helper()
	_, err := snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{})
	var none *snowflake.NoNumberError
	require.ErrorAs(t, err, &none)
	require.True(t, none.Parked)
	return none.In
}

// eventuallyEnds draws from a worker that must not renew any more until it fails
// because its lease has ended, or was lost.
func (l *ledger) eventuallyEnds(t testing.TB, w *snowflake.Worker, others ...*snowflake.Worker) {
	t.Helper()
	var err error
	renewals := w.Stats().Renewals
	clienttest.Until(t, "the end", func() bool {
		for _, o := range others {
			_ = l.attempt(t, o) // it may have ended before
		}
		err = l.attempt(t, w)
		require.Equal(t, renewals, w.Stats().Renewals)
		return err != nil
	})
	require.True(t, errors.Is(err, snowflake.ErrLeaseLost) || errors.Is(err, snowflake.ErrLeaseEnded), "%v", err)
}

// eventuallyTold draws until the server has told the holder that its lease can't
// be renewed any more.
func (l *ledger) eventuallyTold(t testing.TB, w *snowflake.Worker, others ...*snowflake.Worker) {
	t.Helper()
	renewals := w.Stats().Renewals
	clienttest.Until(t, "the server's word", func() bool {
		for _, o := range append(others, w) {
			_ = l.attempt(t, o) // it may have ended before
		}
		st := w.Stats()
		require.Equal(t, renewals, st.Renewals)
		return st.Err != nil && !errors.Is(st.Err, ticket.ErrUnavailable)
	})
}

func TestServerRestarted(t *testing.T) {
	servers, beat := newRestartFleet(t, 2, few, 4)
	one := servers.Servers[0]
	l := &ledger{}
	fleet := openTickets(t, servers.DSNs()...)
	onOne := openWorker(t, openTickets(t, one.DSN()), snowflake.Config{Lease: 2 * beat})
	drawing := l.start(t, onOne)
	one.Restart()

	alone := openTickets(t, one.DSN())
	require.LessOrEqual(t, refused(t, alone), 6*beat)
	w := openWorker(t, fleet, snowflake.Config{Lease: 2 * beat}) // on the other server
	require.Zero(t, w.Stats().Number%2)
	drawing2 := l.start(t, w)
	renewals := onOne.Stats().Renewals
	clienttest.Until(t, "the live holder renews", func() bool { return onOne.Stats().Renewals > renewals+2 })
	require.Zero(t, clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE until_tick < parked_until"), "renewals shorten no parking")
	late := l.openWhenFree(t, alone, snowflake.Config{})
	require.NotEqual(t, onOne.Stats().Number, late.Stats().Number)
	l.draw(t, late, 100)
	require.NoError(t, drawing.end())
	require.NoError(t, drawing2.end())
	l.requireUnique(t)
}

func TestServerThatForgotAGrant(t *testing.T) {
	servers, _ := newRestartFleet(t, 1, single, 3)
	one := servers.Servers[0]
	l := &ledger{}
	old := one.Snapshot()
	w := openWorker(t, openTickets(t, servers.DSNs()...), snowflake.Config{})
	l.draw(t, w, 100)
	one.RestartFrom(old)
	l.eventuallyTold(t, w)
	other := l.openWhenFree(t, openTickets(t, servers.DSNs()...), snowflake.Config{}, w)
	require.Equal(t, w.Stats().Number, other.Stats().Number)
	require.Zero(t, w.Stats().Renewals)
	l.eventuallyEnds(t, w, other)
	require.NoError(t, w.Close())
	l.draw(t, other, 100)
	require.NoError(t, other.Close())
	l.requireUnique(t)
}

func TestServerThatForgotRenewals(t *testing.T) {
	servers, beat := newRestartFleet(t, 1, single, 3)
	one := servers.Servers[0]
	l := &ledger{}
	w := openWorker(t, openTickets(t, servers.DSNs()...), snowflake.Config{Lease: 2 * beat})
	drawing := l.start(t, w)
	old := one.Snapshot()
	renewed := func(more int64) {
		from := w.Stats().Renewals
		clienttest.Until(t, "renewals", func() bool { return w.Stats().Renewals >= from+more })
	}
	renewed(3)
	one.RestartFrom(old)
	fleet := openTickets(t, servers.DSNs()...)
	refused(t, fleet)
	renewed(4) // goes on, beyond the parking too
	_, err := snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{})
	require.ErrorIs(t, err, snowflake.ErrNoNumber)
	require.NoError(t, drawing.end())
	require.NoError(t, w.Close())
	l.requireUnique(t)
}

// A's lease ends while A is cut off, B gets the number, the server forgets B:
// its row names A again. A must neither renew nor release it.
func TestServerThatForgotWhoCameNext(t *testing.T) {
	servers, beat := newRestartFleet(t, 1, single, 4)
	one := servers.Servers[0]
	l := &ledger{}
	tickets := openTickets(t, servers.DSNs()...)
	a := openWorker(t, tickets, snowflake.Config{Lease: time.Second})
	l.draw(t, a, 100)
	old := one.Snapshot()
	one.Cut()
	direct := openTickets(t, one.DirectDSN())
	renewals := a.Stats().Renewals // before the snapshot, or lost with what came after it
	b := l.openWhenFree(t, direct, snowflake.Config{Lease: 4 * beat}, a)
	require.LessOrEqual(t, a.Stats().Renewals, renewals+1, "no more than one was under way")
	l.draw(t, b, 100)
	require.NoError(t, direct.Close()) // b learns nothing of what comes
	one.RestartFrom(old)
	one.Heal()
	clienttest.Until(t, "the server in use again", func() bool { return tickets.Stats().Servers[0].State == ticket.StateUp })
	refused(t, tickets)
	l.eventuallyEnds(t, a, b)
	l.eventuallyTold(t, a, b)
	require.NoError(t, a.Close())
	require.Positive(t, leaseOf(t, one, "until_tick"), "still parked")
	_ = l.attempt(t, b)
	c := l.openWhenFree(t, tickets, snowflake.Config{}, b)
	l.draw(t, c, 100)
	l.eventuallyEnds(t, b, c)
	l.requireUnique(t)
}

// A releases, B gets the number, the server forgets both, and A's release
// arrives once more.
func TestServerThatForgotAReleaseGetsItAgain(t *testing.T) {
	servers, _ := newRestartFleet(t, 1, single, 4)
	one := servers.Servers[0]
	l := &ledger{}
	tickets := openTickets(t, servers.DSNs()...)
	a := openWorker(t, tickets, snowflake.Config{})
	l.draw(t, a, 100)
	old := one.Snapshot()
	one.Mark()
	require.NoError(t, a.Close())
	release := last(t, one, isRelease)
	b := l.openWhenFree(t, tickets, snowflake.Config{})
	l.draw(t, b, 100)
	one.RestartFrom(old)
	fleet := openTickets(t, one.DirectDSN())
	refused(t, fleet)
	replay(t, one, release)
	require.Positive(t, leaseOf(t, one, "until_tick"), "still parked")
	refused(t, fleet)
	c := l.openWhenFree(t, fleet, snowflake.Config{}, b)
	l.draw(t, c, 100)
	l.eventuallyEnds(t, b, c)
	l.requireUnique(t)
}

func TestServerThatForgotAFence(t *testing.T) {
	servers, beat := newRestartFleet(t, 2, few, 3)
	one := servers.Servers[0]
	l := &ledger{}
	w := openWorker(t, openTickets(t, one.DSN()), snowflake.Config{Lease: 2 * beat})
	drawing := l.start(t, w)
	old := one.Snapshot()
	for range 2 {
		one.RestartFrom(old)
		fleet := openTickets(t, servers.DSNs()...)
		clienttest.Until(t, "fenced", func() bool { return fleet.Stats().Servers[0].State == ticket.StateUp })
		refused(t, openTickets(t, one.DSN()))
		renewals := w.Stats().Renewals
		clienttest.Until(t, "the live holder renews", func() bool { return w.Stats().Renewals > renewals })
	}
	require.NoError(t, drawing.end())
	require.NoError(t, w.Close())
	l.requireUnique(t)
}

// The release of a live holder after a restart does not free the number before
// its time.
func TestReleaseOnAParkedRowChangesNothing(t *testing.T) {
	servers, beat := newRestartFleet(t, 1, single, 30)
	one := servers.Servers[0]
	tickets := openTickets(t, servers.DSNs()...)
	w := openWorker(t, tickets, snowflake.Config{Lease: 10 * beat})
	one.Restart()
	fleet := openTickets(t, servers.DSNs()...)
	refused(t, fleet)
	clienttest.Until(t, "the server in use again", func() bool { return tickets.Stats().Servers[0].State == ticket.StateUp })
	parked := clienttest.Value(t, one, "SELECT parked_until FROM workers")
	require.NoError(t, w.Close())
	require.Equal(t, parked, clienttest.Value(t, one, "SELECT until_tick FROM workers"))
	require.Equal(t, int64(1), clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
}
