package snowflake_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

func TestWorkerLeasesRenewsAndReleases(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2, few, time.Minute)
	fleet := openTickets(t, servers.DSNs()...)
	l := &ledger{}
	w := openWorker(t, fleet, snowflake.Config{Lease: time.Second})
	st := w.Stats()
	require.NotEmpty(t, st.Server)
	row := servers.Servers[1-st.Number%2] // odd numbers are the first server's
	holders := "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"
	require.Equal(t, int64(1), clienttest.Value(t, row, holders))
	require.Equal(t, st.Until.UnixMilli(), clienttest.Value(t, row, "SELECT until_tick FROM workers WHERE number = ?", st.Number)+
		time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	ids := l.draw(t, w, 1000)
	for _, id := range ids {
		parts, err := st.Layout.Decompose(id)
		require.NoError(t, err)
		require.Equal(t, st.Number, parts.Worker)
	}
	clienttest.Until(t, "renewed three times", func() bool {
		l.draw(t, w, 10)
		return w.Stats().Renewals >= 3
	})
	require.True(t, w.Stats().Until.After(st.Until))
	require.LessOrEqual(t, clienttest.Value(t, row, "SELECT MAX(CAST(until_tick AS SIGNED)) - (TIMESTAMPDIFF(MICROSECOND, '2020-01-01', UTC_TIMESTAMP(6)) DIV 1000) FROM workers"),
		int64(1000), "renewals do not add up")
	require.NoError(t, w.Close())
	require.Zero(t, clienttest.Value(t, row, holders))
	require.Equal(t, int64(1), clienttest.Value(t, row, "SELECT until_tick - last_tick FROM workers WHERE number = ?", st.Number))
	require.ErrorIs(t, l.attempt(t, w), snowflake.ErrClosed)
	l.requireUnique(t)
}

// The whole default layout, at once: every process gets a number of its own.
func TestAThousandWorkersOpenedAtOnce(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2, "", time.Hour)
	var fleets []*ticket.Fleet
	for range 8 {
		fleets = append(fleets, openTickets(t, servers.DSNs()...))
	}
	began := time.Now()
	workers, errs := make([]*snowflake.Worker, 1024), make([]error, 1024)
	var wg sync.WaitGroup
	ctx := clienttest.Bounded(t)
	for i := range workers {
		wg.Go(func() { workers[i], errs[i] = snowflake.Open(ctx, fleets[i%len(fleets)], snowflake.Config{}) })
	}
	wg.Wait()
	t.Logf("%s", time.Since(began))
	l, numbers := &ledger{}, map[int64]bool{}
	for i, w := range workers {
		require.NoError(t, errs[i])
		l.draw(t, w, 3)
		numbers[w.Stats().Number] = true
	}
	require.Len(t, numbers, 1024)
	l.requireUnique(t)

	_, err := snowflake.Open(clienttest.Bounded(t), fleets[0], snowflake.Config{})
	var none *snowflake.NoNumberError
	require.ErrorAs(t, err, &none)
	require.ErrorIs(t, err, snowflake.ErrNoNumber)
	require.InDelta(t, time.Hour.Seconds(), none.In.Seconds(), 120)
	require.False(t, none.Parked)

	for _, w := range workers {
		wg.Go(func() { _ = w.Close() })
	}
	wg.Wait()
	for _, s := range servers.Servers {
		require.Zero(t, clienttest.Value(t, s, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
	}
}

func TestLayoutAndLeaseAreTheFleets(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2, few, time.Minute)
	fleet := openTickets(t, servers.DSNs()...)
	_, err := snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{Layout: snowflake.Default()})
	var conflict *snowflake.LayoutConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, few, conflict.Fleet.String())
	_, err = snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{Lease: time.Hour})
	var config *ticket.ConfigError
	require.ErrorAs(t, err, &config)
	require.Equal(t, "Lease", config.Field)
	w := openWorker(t, fleet, snowflake.Config{Layout: conflict.Fleet})
	require.Equal(t, few, w.Stats().Layout.String())
	for _, s := range fleet.Stats().Servers {
		require.Equal(t, ticket.StateUp, s.State, "nobody was taken out for that")
	}
}

func TestEveryLeaseHasANonceOfItsOwn(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, few, time.Minute)
	fleet := openTickets(t, servers.DSNs()...)
	openWorker(t, fleet, snowflake.Config{})
	openWorker(t, fleet, snowflake.Config{})
	require.Equal(t, int64(2), clienttest.Value(t, servers.Servers[0], "SELECT COUNT(DISTINCT holder) FROM workers WHERE holder IS NOT NULL"))
}

// A release that arrives after somebody else got the number does nothing.
func TestLateRelease(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, single, time.Minute)
	one := servers.Servers[0]
	fleet := openTickets(t, servers.DSNs()...)
	l := &ledger{}
	a := openWorker(t, fleet, snowflake.Config{})
	l.draw(t, a, 10)
	one.Mark()
	require.NoError(t, a.Close())
	release := last(t, one, isRelease)
	b := l.openWhenFree(t, fleet, snowflake.Config{})
	l.draw(t, b, 10)
	until := clienttest.Value(t, one, "SELECT until_tick FROM workers")
	require.Zero(t, replay(t, one, release))
	require.Equal(t, until, clienttest.Value(t, one, "SELECT until_tick FROM workers"))
	require.NoError(t, b.Close())
	l.requireUnique(t)
}

// Another client has fenced the server, for all that the connections of this one
// know: what they send must not count until they have been checked.
func TestStatementsProveTheGeneration(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, few, time.Minute)
	one := servers.Servers[0]
	fleet := openTickets(t, servers.DSNs()...)
	raise := func() string {
		clienttest.Exec(t, one, "UPDATE workers SET gen = gen + 1")
		clienttest.Exec(t, one, "UPDATE server SET gen = gen + 1")
		one.Mark()
		return fmt.Sprintf("`gen` = %d AND CONNECTION_ID() = ", clienttest.Value(t, one, "SELECT gen FROM server"))
	}
	first := openWorker(t, fleet, snowflake.Config{Lease: 3 * time.Second})
	proof := raise()
	second := openWorker(t, fleet, snowflake.Config{})
	require.Contains(t, last(t, one, isGrant), proof)
	proof = raise()
	renewals := first.Stats().Renewals
	clienttest.Until(t, "renewed", func() bool { return first.Stats().Renewals > renewals })
	require.Contains(t, last(t, one, isRenewal), proof)
	proof = raise()
	require.NoError(t, second.Close())
	require.Contains(t, last(t, one, isRelease), proof)
}

// The OK of a session that does not commit by itself confirms nothing: of a grant,
// a renewal and a release.
func TestSessionThatDoesNotCommitChangesNothing(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, single, time.Hour)
	one := servers.Servers[0]
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	spoil := func() {
		t.Helper()
		require.NoError(t, fleet.Do(clienttest.Bounded(t), func(ctx context.Context, c *ticket.Conn) error {
			_, _, err := c.Exec(ctx, "SET SESSION autocommit = 0")
			return err
		}))
	}
	spoil()
	w := openWorker(t, fleet, snowflake.Config{Lease: 3 * time.Second})
	require.Equal(t, int64(1), clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"), "others see it")
	spoil()
	renewals := w.Stats().Renewals
	clienttest.Until(t, "renewed", func() bool { return w.Stats().Renewals > renewals })
	require.Equal(t, int64(1), clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE renewed_at IS NOT NULL"), "others see it")
	spoil()
	require.NoError(t, w.Close())
	require.Zero(t, clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"), "others see it")
}

// A generation that was raised meanwhile says nothing about the holder: the release
// is tried again, and the operator is not told that the holder is alive.
func TestForceReleaseProvesTheGeneration(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, single, time.Hour)
	one := servers.Servers[0]
	fleet := openTickets(t, servers.DSNs()...)
	w := openWorker(t, fleet, snowflake.Config{})
	l := listed(t, fleet, w.Stats().Number)
	clienttest.Exec(t, one, "UPDATE workers SET gen = gen + 1")
	clienttest.Exec(t, one, "UPDATE server SET gen = gen + 1")
	one.Mark()
	_, err := snowflake.ForceRelease(clienttest.Bounded(t), fleet, l)
	require.NoError(t, err)
	require.Contains(t, last(t, one, isRelease), fmt.Sprintf("`gen` = %d AND CONNECTION_ID() = ", clienttest.Value(t, one, "SELECT gen FROM server")))
	require.Zero(t, clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
	clienttest.Exec(t, one, "UPDATE workers SET until_tick = until_tick + 1, holder = 'another'")
	_, err = snowflake.ForceRelease(clienttest.Bounded(t), fleet, l)
	require.ErrorIs(t, err, snowflake.ErrRenewed, "it is not as it was read any more")
	clienttest.Exec(t, one, "DELETE FROM workers")
	_, err = snowflake.ForceRelease(clienttest.Bounded(t), fleet, l)
	require.ErrorContains(t, err, "its row is gone")
}

// The server has released the number and the operator is never told: the same again
// says that it is free, and not that its holder may be alive.
func TestLostReplyOfAForcedRelease(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, single, time.Hour)
	one := servers.Servers[0]
	fleet := openTickets(t, servers.DSNs()...)
	w := openWorker(t, fleet, snowflake.Config{})
	l := listed(t, fleet, w.Stats().Number)
	cut := one.CutReply(isRelease)
	_, err := snowflake.ForceRelease(clienttest.Bounded(t), fleet, l)
	<-cut
	if err != nil {
		require.NotErrorIs(t, err, snowflake.ErrRenewed)
	}
	free, err := snowflake.ForceRelease(clienttest.Bounded(t), fleet, l)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(2*time.Minute), free, 30*time.Second)
	require.Zero(t, clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
}

// The server is fenced between a client's choice of a number and its grant.
func TestGrantProvesItsGeneration(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, few, time.Minute)
	one := servers.Servers[0]
	fleet := openTickets(t, servers.DSNs()...)
	var once sync.Once
	one.CutBeforeQuery(func(q string) bool { // is asked before the statement goes on
		if isGrant(q) {
			once.Do(func() {
				for _, table := range []string{"workers", "server"} {
					_, err := one.DB().ExecContext(context.Background(), "UPDATE "+table+" SET gen = gen + 1")
					if err != nil {
						panic(err)
					}
				}
			})
		}
		return false
	})
	one.DB() // made here, because the proxy can't
	one.Mark()
	openWorker(t, fleet, snowflake.Config{})
	require.Contains(t, last(t, one, isGrant), "`gen` = 2 AND CONNECTION_ID() = ")
}
