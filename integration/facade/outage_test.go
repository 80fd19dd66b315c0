package facade_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Eight callers draw while all servers are killed at once, and one comes back.
func TestAllServersKilledUnderLoad(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	ld := l.start(t, g, 8)
	clienttest.Until(t, "IDs", func() bool { return g.Stats().Segment.Used > 10_000 })
	require.Equal(t, oddeven.PlaneSegment, plane(g))
	for _, s := range servers.Servers {
		s.Kill()
	}
	untilAt(t, g, oddeven.PlaneSnowflake)
	made := g.Stats().FromWorker
	clienttest.Until(t, "IDs of the worker", func() bool { return g.Stats().FromWorker > made+100_000 })
	servers.Servers[1].Start()
	returned := time.Now()
	untilAt(t, g, oddeven.PlaneSegment)
	took := time.Since(returned)
	used := g.Stats().Segment.Used
	clienttest.Until(t, "IDs of segments", func() bool { return g.Stats().Segment.Used > used+10_000 })
	longest, calls := ld.end(t)
	segments, snowflakes := l.requireUnique(t)
	require.Greater(t, segments, 20_000)
	require.Greater(t, snowflakes, 100_000)
	t.Logf("%d calls, 0 failed; longest Next %s; back on segments %s after a server was back", calls, longest, took)
	require.Less(t, longest, 5*time.Second)
}

// Servers die one by one and come back in another order, while two processes and
// a client of the test draw.
func TestServersDieOneByOne(t *testing.T) {
	var l ledger
	servers := newFleet(t, 3, lastsLong, 0)
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	ld := l.start(t, g, 2)
	children := []*child{l.spawn(t, order{DSNs: servers.DSNs()}), l.spawn(t, order{DSNs: servers.DSNs()})}
	working := func(of oddeven.Plane) {
		t.Helper()
		untilAt(t, g, of)
		for _, p := range children {
			p.working(200, of)
		}
	}
	working(oddeven.PlaneSegment)
	for i, s := range servers.Servers {
		s.Kill()
		if i < 2 {
			working(oddeven.PlaneSegment)
		}
	}
	working(oddeven.PlaneSnowflake)
	for _, i := range []int{1, 2, 0} {
		servers.Servers[i].Start()
		working(oddeven.PlaneSegment)
	}
	for i := range servers.Servers { // and once more, all at the same time
		servers.Servers[i].Kill()
	}
	working(oddeven.PlaneSnowflake)
	for _, i := range []int{2, 0, 1} {
		servers.Servers[i].Start()
	}
	working(oddeven.PlaneSegment)
	ld.end(t)
	for _, p := range children {
		p.Kill()
	}
	segments, snowflakes := l.requireUnique(t)
	require.Positive(t, segments)
	require.Positive(t, snowflakes)
	require.Positive(t, g.Stats().Returns)
}

// The network to all servers comes and goes.
func TestServersFlap(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	ld := l.start(t, g, 4)
	for i := range 6 {
		for _, s := range servers.Servers {
			s.Cut()
		}
		untilAt(t, g, oddeven.PlaneSnowflake)
		servers.Servers[i%2].Heal()
		untilAt(t, g, oddeven.PlaneSegment)
		servers.Servers[(i+1)%2].Heal()
	}
	ld.end(t)
	segments, snowflakes := l.requireUnique(t)
	require.Positive(t, segments)
	require.Positive(t, snowflakes)
	st := g.Stats()
	require.GreaterOrEqual(t, st.Failovers, int64(6))
	require.Zero(t, st.Failed)
}

// Servers that are frozen give no answer at all.
func TestServersFrozen(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	cfg := config(servers)
	cfg.Timeout = clienttest.FrozenTimeout
	c := openReady(t, cfg)
	g := generator(t, c, orders)
	ld := l.start(t, g, 4)
	untilAt(t, g, oddeven.PlaneSegment)
	for _, s := range servers.Servers {
		s.Pause()
	}
	untilAt(t, g, oddeven.PlaneSnowflake)
	for _, s := range servers.Servers {
		s.Resume()
	}
	untilAt(t, g, oddeven.PlaneSegment)
	longest, _ := ld.end(t)
	l.requireUnique(t)
	t.Logf("longest Next %s", longest)
}

// The lease ends in an outage that is longer: the error names the time. When the
// servers are back there are segments at once, and another lease later.
func TestLeaseEndsInALongOutage(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, 3*time.Second, 0)
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	l.next(t, g)
	for _, s := range servers.Servers {
		s.Kill()
	}
	l.untilPlane(t, g, oddeven.PlaneSnowflake)
	clienttest.Until(t, "overdue", func() bool { return c.Stats().Worker.Worker.Overdue })
	before := c.Stats().Worker.Worker.Used
	for range 100 {
		c.Stats()
	}
	if st := c.Stats().Worker; st.Leased {
		require.Equal(t, before, st.Worker.Used, "asking uses no ID up")
	}
	var ended *snowflake.LeaseEndedError
	clienttest.Until(t, "lease ended", func() bool {
		id, err := g.Next(clienttest.Bounded(t))
		if err == nil {
			l.add(id)
			return false
		}
		require.ErrorIs(t, err, oddeven.ErrUnavailable)
		require.ErrorAs(t, err, &ended)
		return true
	})
	require.WithinDuration(t, time.Now(), ended.Until, 10*time.Second)
	require.Error(t, c.Stats().Worker.Err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Ready(cancelled), snowflake.ErrLeaseEnded)
	for _, s := range servers.Servers {
		s.Start()
	}
	clienttest.Until(t, "a server", func() bool {
		_, err := g.Next(clienttest.Bounded(t))
		return err == nil
	})
	l.untilPlane(t, g, oddeven.PlaneSegment)
	require.NoError(t, c.Ready(clienttest.Bounded(t)))
	for _, s := range servers.Servers {
		s.Cut()
	}
	l.untilPlane(t, g, oddeven.PlaneSnowflake)
	l.requireUnique(t)
}

// One server lacks the sequence: the other one issues, and when only the one that
// lacks it answers, the worker does.
func TestSequenceUnknownOnOneServer(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	has, lacks := servers.Servers[0], servers.Servers[1]
	clienttest.Exec(t, lacks, "DELETE FROM sequences WHERE name = ?", orders)
	cfg := config(servers)
	cfg.Failover.After = time.Second // a busy machine must not look like an outage
	c := openReady(t, cfg)
	g := generator(t, c, orders)
	for range 1000 {
		require.Equal(t, int64(1), int64(l.next(t, g))%2)
	}
	has.Cut()
	l.untilPlane(t, g, oddeven.PlaneSnowflake)
	late, err := c.Sequence(clienttest.Bounded(t), "unknown") // who knows
	require.NoError(t, err)
	require.GreaterOrEqual(t, l.next(t, late), ceiling)
	two := openReady(t, config(servers)) // reaches only the server that lacks it
	begun := generator(t, two, orders)
	require.GreaterOrEqual(t, l.next(t, begun), ceiling)
	require.False(t, begun.Stats().Opened)
	has.Heal()
	l.untilPlane(t, g, oddeven.PlaneSegment)
	l.untilPlane(t, begun, oddeven.PlaneSegment)
	clienttest.Until(t, "known to be unknown", func() bool {
		_, err := late.Next(clienttest.Bounded(t))
		_, ok := errors.AsType[*segment.UnknownSequenceError](err)
		return ok
	})
	_, err = two.Sequence(clienttest.Bounded(t), "unknown")
	require.ErrorIs(t, err, segment.ErrUnknownSequence)
	l.requireUnique(t)
}

// A sequence that was deleted is no outage: when what was reserved is used up, calls
// fail, and they go on when it has been created again.
func TestDeletedSequenceIsNotMadeUpForByTheWorker(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	cfg := config(servers)
	cfg.Failover.After = time.Second // a busy machine must not look like an outage
	c := openReady(t, cfg)
	g := generator(t, c, orders)
	l.next(t, g)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	_, err := sequence.Delete(clienttest.Bounded(t), fleet, orders)
	require.NoError(t, err)
	draw := func() error {
		id, err := g.Next(clienttest.Bounded(t))
		if err == nil {
			require.Less(t, id, ceiling)
			l.add(id)
		}
		return err
	}
	for err == nil {
		err = draw()
	}
	_, ok := errors.AsType[*segment.UnknownSequenceError](err)
	require.True(t, ok, "%v", err)
	create(t, servers, orders)
	clienttest.Until(t, "IDs again", func() bool { return draw() == nil })
	require.Zero(t, g.Stats().Failovers)
	l.requireUnique(t)
}

// What is told to fail or to wait does not use the worker.
func TestOutageByConfiguration(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	create(t, servers, "users")
	create(t, servers, "posts")
	cfg := config(servers)
	cfg.Failovers = map[string]oddeven.Failover{"users": {Outage: oddeven.Fail}, "posts": {Outage: oddeven.Wait}}
	c := openReady(t, cfg)
	ordered, users, posts := generator(t, c, orders), generator(t, c, "users"), generator(t, c, "posts")
	for _, s := range servers.Servers {
		s.Cut()
	}
	l.untilPlane(t, ordered, oddeven.PlaneSnowflake)
	var err error
	clienttest.Until(t, "failed", func() bool {
		_, err = users.Next(clienttest.Bounded(t))
		return err != nil
	})
	require.ErrorIs(t, err, oddeven.ErrUnavailable)
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	waited := make(chan error)
	go func() {
		var err error
		for id := oddeven.ID(0); err == nil && posts.Stats().Segment.Refills < 3; {
			if id, err = posts.Next(context.Background()); id >= ceiling {
				err = oddeven.ErrPlane
			}
		}
		waited <- err
	}()
	clienttest.Until(t, "waiting", func() bool { return posts.Stats().Segment.Waits > 0 })
	servers.Servers[0].Heal()
	require.NoError(t, <-waited)
	l.untilPlane(t, ordered, oddeven.PlaneSegment)
}
