package facade_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

func TestOpenWithOneServer(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	servers.Servers[0].Cut()
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	require.Same(t, g, generator(t, c, orders))
	require.Zero(t, int64(l.next(t, g))%2)
	servers.Servers[0].Heal()
	clienttest.Until(t, "IDs of the other server", func() bool { return l.next(t, g)%2 == 1 })
	l.requireUnique(t)
	tickets, err := c.Tickets()
	require.NoError(t, err)
	id, err := tickets.Next(clienttest.Bounded(t))
	require.NoError(t, err)
	origin, err := c.Decode(oddeven.ID(id))
	require.NoError(t, err)
	require.Equal(t, oddeven.Origin{Plane: oddeven.PlaneSegment, Server: (id-1)%2 + 1}, origin)
}

func TestOpenWithoutServersAndWithoutALease(t *testing.T) {
	servers := newFleet(t, 2, lastsLong, 0)
	for _, s := range servers.Servers {
		s.Cut()
	}
	cfg := config(servers)
	_, err := oddeven.Open(clienttest.Bounded(t), cfg)
	var unavailable *oddeven.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	require.NoError(t, unavailable.Worker)
	require.NotContains(t, err.Error(), "\n")
	cfg.Worker.StateFile = filepath.Join(t.TempDir(), "state")
	_, err = oddeven.Open(clienttest.Bounded(t), cfg)
	require.ErrorIs(t, err, oddeven.ErrUnavailable)
	require.ErrorIs(t, err, snowflake.ErrStateFile)
	requireNoGoroutines(t)
}

// A process is killed in an outage, and the next one goes on with its lease; all
// servers come back, and it goes back to segments with a worker that is renewed.
func TestOpenWithoutServersTakesUpTheLease(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	path := filepath.Join(t.TempDir(), "state")
	first := l.spawn(t, order{DSNs: servers.DSNs(), StateFile: path})
	first.working(100, oddeven.PlaneSegment)
	for _, s := range servers.Servers {
		s.Kill()
	}
	first.working(100, oddeven.PlaneSnowflake)
	first.Kill()
	second := l.spawn(t, order{DSNs: servers.DSNs(), StateFile: path})
	second.working(100, oddeven.PlaneSnowflake)
	second.Kill()

	cfg := config(servers)
	cfg.Worker.StateFile = path
	c := openReady(t, cfg)
	_, err := c.Tickets()
	require.ErrorIs(t, err, oddeven.ErrUnavailable)
	st := c.Stats()
	require.Error(t, st.Unreached)
	require.True(t, st.Worker.Needed)
	require.True(t, st.Worker.Leased)
	number := st.Worker.Worker.Number
	g := generator(t, c, orders)
	require.GreaterOrEqual(t, l.next(t, g), ceiling)
	ld := l.start(t, g, 4)
	for _, s := range servers.Servers {
		s.Start()
	}
	untilAt(t, g, oddeven.PlaneSegment)
	clienttest.Until(t, "renewed", func() bool { return c.Stats().Worker.Worker.Renewals > 0 })
	st = c.Stats()
	require.Equal(t, number, st.Worker.Worker.Number)
	require.NoError(t, st.Unreached)
	require.True(t, g.Stats().Opened)
	for _, s := range servers.Servers {
		s.Cut()
	}
	untilAt(t, g, oddeven.PlaneSnowflake)
	ld.end(t)
	for _, s := range servers.Servers {
		s.Heal()
	}
	_ = c.Close() // the number may be released or not
	requireNoGoroutines(t)
	segments, snowflakes := l.requireUnique(t)
	require.Positive(t, segments)
	require.Positive(t, snowflakes)
}

// The state file is of another fleet, whether its IDs look different or not: that is
// noticed as soon as a server answers, and nothing is handed out any more.
func TestLeaseOfAnotherFleetIsRefused(t *testing.T) {
	for name, bits := range map[string]int{"OtherLayout": 4, "SameLayout": 0} {
		t.Run(name, func(t *testing.T) { requireLeaseRefused(t, bits) })
	}
}

func requireLeaseRefused(t *testing.T, bits int) {
	t.Helper()
	var l ledger
	others, servers := newFleet(t, 1, lastsLong, 0), newFleet(t, 2, lastsLong, bits)
	path := filepath.Join(t.TempDir(), "state")
	first := l.spawn(t, order{DSNs: others.DSNs(), StateFile: path})
	first.working(100, oddeven.PlaneSegment)
	first.Kill()
	for _, s := range servers.Servers {
		s.Cut()
	}
	cfg := config(servers)
	cfg.Worker.StateFile = path
	c := openReady(t, cfg)
	g := generator(t, c, orders)
	l.next(t, g)
	for _, s := range servers.Servers {
		s.Heal()
	}
	var err error
	clienttest.Until(t, "refused", func() bool {
		_, err = g.Next(clienttest.Bounded(t))
		return err != nil || c.Stats().Unreached == nil
	})
	require.ErrorIs(t, err, oddeven.ErrPlane)
	require.ErrorContains(t, err, path)
	require.Equal(t, err, c.Ready(clienttest.Bounded(t)))
	_, err = c.Tickets()
	require.ErrorIs(t, err, oddeven.ErrPlane)
	_, err = c.Sequence(clienttest.Bounded(t), "users")
	require.ErrorIs(t, err, oddeven.ErrPlane)
	require.NotErrorIs(t, err, oddeven.ErrClosed)
	require.NoError(t, c.Close())
	requireNoGoroutines(t)
}

// A client that began without servers is closed while there are none.
func TestCloseWithoutServers(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	path := filepath.Join(t.TempDir(), "state")
	first := l.spawn(t, order{DSNs: servers.DSNs(), StateFile: path})
	first.working(100, oddeven.PlaneSegment)
	first.Kill()
	for _, s := range servers.Servers {
		s.Cut()
	}
	cfg := config(servers)
	cfg.Worker.StateFile = path
	for range 2 { // the lease stays for the next one
		c := openReady(t, cfg)
		g := generator(t, c, orders)
		for range 100 {
			require.GreaterOrEqual(t, l.next(t, g), ceiling)
		}
		require.NoError(t, c.Close())
		_, err := g.Next(t.Context())
		require.Equal(t, oddeven.ErrClosed, err)
		requireNoGoroutines(t)
	}
	l.requireUnique(t)
}

// Close is called while callers are about to fall back.
func TestCloseWhileFallingBack(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	for i := range 4 {
		cfg := config(servers)
		cfg.Failover.After = time.Duration(1+20*i) * time.Millisecond
		c := openReady(t, cfg)
		g := generator(t, c, orders)
		done := make(chan error)
		for range 8 {
			go func() {
				var own []oddeven.ID
				for {
					id, err := g.Next(t.Context())
					if err != nil {
						l.add(own...)
						done <- err
						return
					}
					own = append(own, id)
				}
			}()
		}
		for _, s := range servers.Servers {
			s.Cut()
		}
		if i > 1 {
			untilAt(t, g, oddeven.PlaneSnowflake)
		}
		began := time.Now()
		_ = c.Close() // the number can't be released
		require.Less(t, time.Since(began), 30*time.Second)
		for range 8 {
			require.Equal(t, oddeven.ErrClosed, <-done)
		}
		for _, s := range servers.Servers {
			s.Heal()
		}
		requireNoGoroutines(t)
	}
	l.requireUnique(t)
}
