package segment_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/segment"
)

func TestNoCallFailsWhileEachServerIsKilledDuringRefills(t *testing.T) {
	servers := newFleet(t, 2)
	c := open(t, small, servers.DSNs()...)
	l := newLedger()
	callers := l.start(t, c.Allocator, 8)
	for i, s := range servers.Servers {
		refills := c.Stats().Refills
		clienttest.Until(t, "refills", func() bool { return c.Stats().Refills > refills+50 })
		s.Kill()
		s.Start()
		clienttest.UntilUp(t, c.fleet, i)
		refills = c.Stats().Refills
		clienttest.Until(t, "refills", func() bool { return c.Stats().Refills > refills+50 })
	}
	require.Empty(t, callers.end())
	l.requireUnique(t)
}

// The server has committed and the client is never told: the range is a gap.
func TestLostReplyIsAGap(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1)
	one := servers.Servers[0]
	source := newSource(t, clienttest.Open(t, clienttest.Config(t, servers.DSNs()...)))
	l := newLedger()
	reserve := func() segment.Range {
		r, err := source.Reserve(clienttest.Bounded(t), 0, 10)
		require.NoError(t, err)
		l.note(span{r.First, r.First + (r.Count-1)*stride})
		return r
	}
	for range 20 {
		before := reserve()
		cut := one.CutReply(isReserve)
		after := reserve()
		<-cut
		require.Equal(t, before.First+2*10*stride, after.First, "the range between was reserved, confirmed to nobody, and not used")
	}
	l.requireUnique(t)
}

func TestLostRepliesAreCountedAndNeverUsed(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	c := open(t, small, servers.DSNs()...)
	l := newLedger()
	callers := l.start(t, c.Allocator, 16)
	const lost = 30
	for round := range 2 * lost {
		s := servers.Servers[round/2%2]
		if round%2 == 0 {
			<-s.CutReply(isReserve)
		} else {
			<-s.CutBeforeQuery(isReserve)
		}
		// Cut any faster, both servers are as good as dead.
		refills := c.Stats().Refills
		clienttest.Until(t, "refills", func() bool { return c.Stats().Refills > refills+10 })
	}
	require.Empty(t, callers.end())
	require.GreaterOrEqual(t, c.Stats().Abandoned, int64(lost))
	l.requireUnique(t)
}

// refusal makes a server refuse the statement of a refill.
type refusal struct {
	name        string
	begin, stop func(testing.TB, *testfleet.Server)
}

func refusals() []refusal {
	exec := func(query string) func(testing.TB, *testfleet.Server) {
		return func(t testing.TB, s *testfleet.Server) { clienttest.Exec(t, s, query) }
	}
	readOnly := func(on bool) func(testing.TB, *testfleet.Server) {
		return func(_ testing.TB, s *testfleet.Server) {
			variables := []string{"read_only"}
			if s.Flavor() == testfleet.MySQL {
				variables = append(variables, "super_read_only") // needs the other one
			}
			if !on {
				slices.Reverse(variables)
			}
			for _, name := range variables {
				s.SetGlobal(name, on)
			}
		}
	}
	return []refusal{
		{
			"Trigger", exec("CREATE TRIGGER refuse AFTER UPDATE ON sequences FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'"),
			exec("DROP TRIGGER refuse"),
		},
		{
			"ReadOnly", readOnly(true), readOnly(false),
		},
	}
}

func TestRefusedCommitIsNotUsed(t *testing.T) {
	for _, refuse := range refusals() {
		t.Run(refuse.name, func(t *testing.T) {
			servers := newFleet(t, 2)
			cfg := small
			cfg.FailFast = true
			c := open(t, cfg, servers.DSNs()...)
			l := newLedger()
			l.draw(t, c.Allocator, 100)
			one, two := servers.Servers[0], servers.Servers[1]

			refuse.begin(t, one)
			l.draw(t, c.Allocator, 30) // what had been reserved there
			for id, n := range byServer(l.draw(t, c.Allocator, 200)) {
				require.Zero(t, id, "%d IDs of server %d", n, id)
			}
			refuse.begin(t, two)
			clienttest.Until(t, "used up", func() bool {
				id, err := c.Next(clienttest.Bounded(t))
				if err == nil {
					l.rising(t, c.Allocator, []int64{id})
					return false
				}
				require.ErrorIs(t, err, segment.ErrUnavailable)
				return true
			})
			require.Error(t, c.Stats().Err)
			was := rounds(t, one) + rounds(t, two)

			refuse.stop(t, one)
			refuse.stop(t, two)
			clienttest.Until(t, "goes on by itself", func() bool {
				id, err := c.Next(clienttest.Bounded(t))
				if err == nil {
					l.rising(t, c.Allocator, []int64{id})
				}
				return err == nil
			})
			require.GreaterOrEqual(t, rounds(t, one)+rounds(t, two), was)
			clienttest.UntilUp(t, c.fleet, 0)
			clienttest.UntilUp(t, c.fleet, 1)
			require.Len(t, byServer(l.draw(t, c.Allocator, 200)), 2)
			l.requireUnique(t)
		})
	}
}

func TestAllServersDownAndBack(t *testing.T) {
	servers := newFleet(t, 2)
	clienttest.AnyIdentity(t, servers)
	waits := open(t, small, servers.DSNs()...)
	fast, bounded := small, small
	fast.FailFast = true
	bounded.WaitAtMost = 200 * time.Millisecond
	failsFast, givesUp := openOn(t, waits.fleet, orders, fast), openOn(t, waits.fleet, orders, bounded)
	l := newLedger()
	all := []*segment.Allocator{waits.Allocator, failsFast, givesUp}
	for _, a := range all {
		l.draw(t, a, 35)
	}
	for _, s := range servers.Servers {
		s.Kill()
	}
	for _, a := range all {
		drain(t, l, a)
	}
	_, err := failsFast.Next(clienttest.Bounded(t))
	require.ErrorIs(t, err, segment.ErrUnavailable)
	_, err = givesUp.Next(clienttest.Bounded(t))
	require.ErrorIs(t, err, segment.ErrUnavailable)
	require.ErrorIs(t, givesUp.NextN(clienttest.Bounded(t), make([]int64, 25)), segment.ErrUnavailable)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = waits.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	callers := l.start(t, waits.Allocator, 16) // they wait
	clienttest.Until(t, "16 wait", func() bool { return waits.Stats().Waits >= 16 })
	refills := waits.Stats().Refills
	for i, s := range servers.Servers {
		s.Start()
		clienttest.UntilUp(t, waits.fleet, i)
	}
	clienttest.Until(t, "they go on", func() bool { return waits.Stats().Refills > refills+20 })
	require.Empty(t, callers.end())
	for _, a := range all[1:] {
		clienttest.Until(t, "goes on by itself", func() bool {
			id, err := a.Next(clienttest.Bounded(t))
			if err == nil {
				l.rising(t, a, []int64{id})
			}
			return err == nil
		})
	}
	l.requireUnique(t)
}

// drain takes the IDs that an Allocator has at hand until there are none and
// its refills fail.
func drain(t testing.TB, l *ledger, a *segment.Allocator) {
	t.Helper()
	clienttest.Until(t, "used up", func() bool {
		for {
			id, ok := a.TryNext()
			if !ok {
				return a.Stats().Err != nil && a.Stats().Left+a.Stats().Queued == 0
			}
			l.rising(t, a, []int64{id})
		}
	})
}
