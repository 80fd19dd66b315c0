package snowflake_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// single is a layout with 2 worker numbers: one on each of two servers.
const single = "time:44,worker:1,sequence:18;unit=1ms;epoch=2020-01-01T00:00:00Z"

// openWhenFree opens a worker as soon as there is a number, while the ones that
// are named go on drawing.
func (l *ledger) openWhenFree(t testing.TB, fleet *ticket.Fleet, cfg snowflake.Config, drawing ...*snowflake.Worker) *snowflake.Worker {
	t.Helper()
	var w *snowflake.Worker
	clienttest.Until(t, "a number free", func() bool {
		for _, d := range drawing {
			_ = l.attempt(t, d)
		}
		var err error
		if w, err = snowflake.Open(clienttest.Bounded(t), fleet, cfg); err != nil {
			require.ErrorIs(t, err, snowflake.ErrNoNumber)
			return false
		}
		return true
	})
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestProcessFrozenPastTheEndOfItsLease(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, single, time.Second)
	l := &ledger{}
	frozen := l.spawn(t, order{DSNs: servers.DSNs()})
	number := frozen.working(100)
	frozen.Signal(syscall.SIGSTOP)

	fleet := openTickets(t, servers.DSNs()...)
	other := l.openWhenFree(t, fleet, snowflake.Config{})
	require.Equal(t, number, other.Stats().Number)
	drawing := l.start(t, other)
	frozen.Signal(syscall.SIGCONT)
	require.Contains(t, frozen.ended(), "lease")
	clienttest.Until(t, "renewed beside it", func() bool { return other.Stats().Renewals > 1 })
	require.NoError(t, drawing.end())
	l.requireUnique(t)
}

func TestHostCutOffWhileOthersTakeItsNumber(t *testing.T) {
	for _, how := range []string{"Reset", "Silence"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			servers := newFleet(t, 1, single, time.Second)
			one := servers.Servers[0]
			l := &ledger{}
			cfg := clienttest.Config(t, servers.DSNs()...)
			cfg.Timeout = clienttest.FrozenTimeout
			cut := clienttest.Open(t, cfg)
			alone := openWorker(t, cut, snowflake.Config{})
			l.draw(t, alone, 100)
			if how == "Reset" {
				one.Cut()
			} else {
				one.Blackhole()
			}
			drawing := l.start(t, alone)
			before := alone.Stats().Renewals
			clienttest.Until(t, "a renewal failed", func() bool {
				st := alone.Stats()
				require.LessOrEqual(t, st.Renewals, before+1) // one may have been under way
				return st.Failed > 0
			})
			end := alone.Stats().Until
			other := l.openWhenFree(t, openTickets(t, one.DirectDSN()), snowflake.Config{})
			require.Equal(t, alone.Stats().Number, other.Stats().Number)
			require.True(t, alone.Stats().Overdue)
			require.Positive(t, alone.Stats().Failed)
			require.Equal(t, end, alone.Stats().Until, "only what was confirmed counts")
			l.draw(t, other, 100)
			one.Heal()
			clienttest.Until(t, "the end", func() bool {
				l.draw(t, other, 10)
				return l.attempt(t, alone) != nil
			})
			require.ErrorIs(t, drawing.end(), snowflake.ErrLeaseEnded)
			require.NoError(t, errors.Join(alone.Close()))
			l.draw(t, other, 100)
			require.NoError(t, other.Close(), "the late one has released nothing")
			l.requireUnique(t)
		})
	}
}

func TestCrashLoopUsesNumbersUpAndSaysWhenTheNextIsFree(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2, few, 4*time.Second)
	l := &ledger{}
	fleet := openTickets(t, servers.DSNs()...)
	began := time.Now()
	for {
		c := l.spawn(t, order{DSNs: servers.DSNs()})
		clienttest.Until(t, "a number, or none", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.drawn > 0 || c.err != ""
		})
		c.Kill()
		if c.err != "" {
			require.Contains(t, c.err, "no worker number is free")
			break
		}
		require.Less(t, time.Since(began), clienttest.Patience)
	}
	_, err := snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{})
	if none := new(snowflake.NoNumberError); errors.As(err, &none) {
		require.LessOrEqual(t, none.In, 4*time.Second)
		require.False(t, none.Parked)
	} else {
		require.NoError(t, err) // one has become free just now
	}
	var workers []*snowflake.Worker
	for range 8 {
		w := l.openWhenFree(t, fleet, snowflake.Config{}, workers...)
		l.draw(t, w, 100)
		workers = append(workers, w)
	}
	l.requireUnique(t)
}

// The reply to a grant is lost: its number is nobody's until that lease has ended.
func TestLostReplyOfAGrant(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, few, time.Minute)
	one := servers.Servers[0]
	fleet := openTickets(t, servers.DSNs()...)
	cut := one.CutReply(isGrant)
	w, err := snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{})
	<-cut
	if err != nil {
		require.ErrorIs(t, err, ticket.ErrUnavailable)
		w = openWorker(t, fleet, snowflake.Config{})
	}
	require.Equal(t, int64(2), clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
	require.NoError(t, w.Close())
	require.Equal(t, int64(1), clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
}

// Replies to renewals are lost: what was confirmed before is all that counts,
// and the next renewal makes up for it.
func TestLostRepliesOfRenewals(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, single, 2*time.Second)
	one := servers.Servers[0]
	l := &ledger{}
	w := openWorker(t, openTickets(t, servers.DSNs()...), snowflake.Config{})
	drawing := l.start(t, w)
	for range 3 {
		<-one.CutReply(isRenewal)
	}
	before := w.Stats().Renewals
	clienttest.Until(t, "renewed", func() bool { return w.Stats().Renewals > before+2 })
	require.NoError(t, drawing.end())
	require.NoError(t, w.Close())
	l.requireUnique(t)
}

// A process that does nothing but renew a lease hears of a second copy of its server,
// whose fence keeps the number back for one longest lease only.
func TestLeaseOfAServerWithASecondCopyIsNotRenewed(t *testing.T) {
	servers := newFleet(t, 2, few, 10*time.Second)
	one, two := servers.Servers[0], servers.Servers[1]
	fleet := openTickets(t, servers.DSNs()...)
	w := openWorker(t, fleet, snowflake.Config{Lease: 3 * time.Second})
	for w.Stats().Number%2 == 0 { // offset 1 has the odd ones
		require.NoError(t, w.Close()) // it would ask the other server
		w = openWorker(t, fleet, snowflake.Config{Lease: 3 * time.Second})
	}
	renewals := w.Stats().Renewals
	clienttest.Until(t, "renewed", func() bool { return w.Stats().Renewals > renewals })
	clienttest.OpenCopy(t, one.StartCopy(one.Snapshot()), two)
	renewals = w.Stats().Renewals
	clienttest.Until(t, "a few renewals later", func() bool { return clienttest.Refused(fleet, 0) || w.Stats().Renewals > renewals+8 })
	require.True(t, clienttest.Refused(fleet, 0), "the original is out")
	clienttest.Until(t, "the lease over", func() bool { return w.Stats().Ended != nil })
	require.ErrorIs(t, w.Stats().Ended, snowflake.ErrLeaseEnded)
}
