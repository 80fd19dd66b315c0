package segment_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// large segments that clients hold while their server forgets them.
var large = segment.Config{MinStep: 1000, MaxStep: 1000}

// A client holds segments that the server has forgotten; a client that knows
// nothing starts at that moment.
func TestServerRestoredFromAnOldCopyRepeatsNothing(t *testing.T) {
	for _, otherDown := range []bool{false, true} {
		name := map[bool]string{false: "OtherServerUp", true: "OtherServerDown"}[otherDown]
		t.Run(name, func(t *testing.T) {
			servers := newFleet(t, 2)
			if otherDown {
				clienttest.AnyIdentity(t, servers)
			}
			one, two := servers.Servers[0], servers.Servers[1]
			l := newLedger()
			holder := open(t, large, servers.DSNs()...)
			l.draw(t, holder.Allocator, 100)
			old := one.Snapshot()
			l.draw(t, holder.Allocator, 5000) // all of it forgotten
			if otherDown {
				two.Kill()
			}
			for range 2 { // twice from the same copy
				one.RestartFrom(old)
				fresh := open(t, small, servers.DSNs()...)
				l.draw(t, fresh.Allocator, 300)
				l.draw(t, holder.Allocator, 300) // it still has some
				fresh.close(t)                   // and takes with it what it knew
			}
			if otherDown {
				two.Start()
				clienttest.UntilUp(t, holder.fleet, 1)
			}
			l.draw(t, holder.Allocator, 5000)
			l.draw(t, open(t, small, servers.DSNs()...).Allocator, 300)
			l.requireUnique(t)
		})
	}
}

// While it was in use, and nobody else was told.
func TestServerRestoredWhileClientsDrawRepeatsNothing(t *testing.T) {
	servers := newFleet(t, 2)
	one := servers.Servers[0]
	l := newLedger()
	old := one.Snapshot()
	c, d := open(t, small, servers.DSNs()...), open(t, small, servers.DSNs()...)
	callers, others := l.start(t, c.Allocator, 4), l.start(t, d.Allocator, 4)
	for range 2 {
		refills := c.Stats().Refills
		clienttest.Until(t, "refills", func() bool { return c.Stats().Refills > refills+50 })
		one.RestartFrom(old)
		clienttest.UntilUp(t, c.fleet, 0)
		clienttest.UntilUp(t, d.fleet, 0)
	}
	refills := c.Stats().Refills
	clienttest.Until(t, "refills", func() bool { return c.Stats().Refills > refills+50 })
	require.Empty(t, callers.end())
	require.Empty(t, others.end())
	l.requireUnique(t)
}

// A replica that had not received everything becomes the server.
func TestLaggingReplicaPromotedRepeatsNothing(t *testing.T) {
	for _, survives := range []bool{false, true} {
		name := map[bool]string{false: "NoClientSurvives", true: "ClientSurvives"}[survives]
		t.Run(name, func(t *testing.T) {
			servers := testfleet.New(t, 3, testfleet.ServerOptions("--log-bin=binlog", "--binlog-format=ROW"))
			source, two, replica := servers.Servers[0], servers.Servers[1], servers.Servers[2]
			for i, s := range servers.Servers {
				s.SetGlobal("server_id", i+1)
			}
			clienttest.Replicate(t, source, replica)
			clienttest.Migrate(t, source, two)
			create(t, []string{source.DSN(), two.DSN()}, orders)
			l := newLedger()
			old := open(t, large, source.DSN(), two.DSN())
			l.draw(t, old.Allocator, 100)
			clienttest.Until(t, "replicated", func() bool {
				return clienttest.Count(t, replica, "sequences") == 1 && rounds(t, replica) == rounds(t, source)
			})
			clienttest.StopReplication(t, replica) // from here on it lags
			l.draw(t, old.Allocator, 5000)
			require.Less(t, rounds(t, replica), rounds(t, source))
			if !survives {
				source.Kill()
				old.close(t)
			}

			cfg := clienttest.Config(t, replica.DSN(), two.DSN())
			promoted := openAs(t, cfg, small)
			require.True(t, clienttest.Refused(promoted.fleet, 0), "%v", promoted.fleet.Stats().Servers[0].Err)
			require.NotContains(t, byServer(l.draw(t, promoted.Allocator, 200)), int64(1))
			require.NoError(t, ticket.Accept(clienttest.Bounded(t), cfg, dsn.Label(replica.Config())))
			clienttest.UntilUp(t, promoted.fleet, 0)
			require.Len(t, byServer(l.draw(t, promoted.Allocator, 500)), 2)
			if survives { // and still talks to the old primary
				l.draw(t, old.Allocator, 5000)
				l.draw(t, promoted.Allocator, 500)
				clienttest.Until(t, "the old primary is out", func() bool {
					l.draw(t, old.Allocator, 500)
					return clienttest.Refused(old.fleet, 0)
				})
			}
			l.requireUnique(t)
		})
	}
}

// The backup is from before the sequence was created.
func TestServerRestoredFromABackupOlderThanTheSequence(t *testing.T) {
	servers := clienttest.New(t, 2)
	one := servers.Servers[0]
	old := one.Snapshot()
	create(t, servers.DSNs(), orders)
	l := newLedger()
	holder := open(t, large, servers.DSNs()...)
	l.draw(t, holder.Allocator, 5000)
	one.RestartFrom(old)
	fresh := open(t, small, servers.DSNs()...)
	clienttest.UntilUp(t, fresh.fleet, 0)
	require.NotContains(t, byServer(l.draw(t, fresh.Allocator, 300)), int64(1), "a row is not made up")
	l.draw(t, holder.Allocator, 5000)
	repaired(t, l, servers, fresh)
	l.draw(t, holder.Allocator, 5000)
	l.requireUnique(t)
}

func TestRowDeletedOnOneServerAndOnAll(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	cfg := small
	cfg.FailFast = true
	var log safeBuffer
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	l := newLedger()
	c := open(t, cfg, servers.DSNs()...)
	l.draw(t, c.Allocator, 500)
	clienttest.Exec(t, one, "DELETE FROM sequences")
	l.draw(t, c.Allocator, 50)
	require.NotContains(t, byServer(l.draw(t, c.Allocator, 300)), int64(1))
	fresh := open(t, cfg, servers.DSNs()...)
	require.NotContains(t, byServer(l.draw(t, fresh.Allocator, 100)), int64(1))
	require.Contains(t, log.String(), "has no sequence")
	repaired(t, l, servers, c)

	for _, s := range []*testfleet.Server{one, two} {
		clienttest.Exec(t, s, "DELETE FROM sequences")
	}
	drain(t, l, c.Allocator)
	_, err := c.Next(clienttest.Bounded(t))
	require.NotErrorIs(t, err, segment.ErrUnavailable, "every server has answered")
	require.ErrorIs(t, err, segment.ErrUnknownSequence)
	for i := range servers.Servers {
		require.Equal(t, ticket.StateUp, clienttest.State(c.fleet, i), "it is not the server's fault")
	}
	l.requireUnique(t)
}

// repaired runs the repair that the error asks for, and sees that the first
// server is used again by the client.
func repaired(t testing.TB, l *ledger, servers *testfleet.Fleet, c client) {
	t.Helper()
	_, err := sequence.Repair(clienttest.Bounded(t), clienttest.Open(t, clienttest.Config(t, servers.DSNs()...)), orders)
	require.NoError(t, err)
	require.Contains(t, byServer(l.draw(t, c.Allocator, 300)), int64(1))
}

// Nothing tells that the server has forgotten but its own numbers: a virtual
// machine put back with its memory, or a hand in the table.
func TestServerThatGoesBackUnnoticedIsFencedAndTheRangeNotUsed(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"OneServer": 1, "TwoServers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := newFleet(t, n)
			one := servers.Servers[0]
			fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
			source := newSource(t, fleet)
			l := newLedger()
			var reserved spans
			reserve := func(times int) {
				for range times {
					r, err := source.Reserve(clienttest.Bounded(t), 0, 10) // without a floor, which would hide it
					require.NoError(t, err)
					reserved = append(reserved, span{r.First, r.First + (r.Count-1)*stride})
				}
			}
			reserve(20)
			gen := clienttest.Gen(t, one)
			clienttest.Exec(t, one, "UPDATE sequences SET rounds = 5")
			reserve(20)
			clienttest.UntilUp(t, fleet, 0)
			reserve(4)
			require.Equal(t, gen+1, clienttest.Gen(t, one), "fenced once")
			require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Scheme)
			l.note(reserved...)
			l.requireUnique(t)
		})
	}
}

// Past its clock line a server can have forgotten more than it makes good by
// following the others. It issues nothing, whoever fences it, until an operator has
// decided.
func TestServerThatForgotMoreThanItCanMakeGoodIsHeldBack(t *testing.T) {
	const lost = 3_000_000 // rounds; a server follows a million
	servers := clienttest.New(t, 2)
	createAs(t, servers.DSNs(), sequence.Spec{Name: orders, Ceiling: 1<<31 - 1})
	one, two := servers.Servers[0], servers.Servers[1]
	old := one.Snapshot()
	l := newLedger()
	source := newSource(t, clienttest.Open(t, clienttest.Config(t, servers.DSNs()...)))
	var floor int64
	for rounds(t, one) < lost || rounds(t, two) < lost {
		r, err := source.Reserve(clienttest.Bounded(t), floor, lost)
		require.NoError(t, err)
		last := r.First + (r.Count-1)*stride
		l.note(span{r.First, last})
		floor = last / stride
	}
	one.RestartFrom(old)
	running := open(t, small, servers.DSNs()...)
	require.NotContains(t, byServer(l.draw(t, running.Allocator, 300)), int64(1))
	require.Equal(t, ticket.StateUp, clienttest.State(running.fleet, 0), "its tickets are in order")

	// A fence that can ask nobody must not let it in.
	two.Cut()
	clienttest.ForceFence(t, one)
	gen := clienttest.Gen(t, one)
	alone := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	require.Greater(t, clienttest.Gen(t, one), gen, "fenced")
	_, err := segment.Open(clienttest.Bounded(t), alone, orders, small)
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	require.ErrorContains(t, err, "held back")
	require.NoError(t, alone.Close())
	two.Heal()

	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	clienttest.UntilUp(t, fleet, 0)
	clienttest.UntilUp(t, fleet, 1)
	_, err = sequence.Repair(clienttest.Bounded(t), fleet, orders)
	require.ErrorIs(t, err, sequence.ErrFarAhead)
	read, errs := sequence.Read(clienttest.Bounded(t), fleet, orders)
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, []sequence.Problem{sequence.HeldBack}, read[0].Servers[0].Problems)
	_, err = sequence.Bump(clienttest.Bounded(t), fleet, orders, read[0].HighestID()+1)
	require.NoError(t, err)
	require.Contains(t, byServer(l.draw(t, running.Allocator, 500)), int64(1))
	l.requireUnique(t)
}
