package ticket_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/ticket"
)

func TestNoCallFailsWhileEachServerIsKilledAndComesBack(t *testing.T) {
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	callers := l.start(t, fleet, 64)
	for i, s := range servers.Servers {
		issued := fleet.Stats().Servers[i].Issued
		clienttest.Until(t, "load", func() bool { return fleet.Stats().Servers[i].Issued > issued+100 })
		s.Kill()
		clienttest.Until(t, "noticed", func() bool { return clienttest.State(fleet, i) == ticket.StateDown })
		other := fleet.Stats().Servers[1-i].Issued
		clienttest.Until(t, "the other goes on", func() bool { return fleet.Stats().Servers[1-i].Issued > other+100 })
		s.Start()
		clienttest.UntilUp(t, fleet, i)
	}
	require.Empty(t, callers.end())
	l.requireUnique(t)
	for i, s := range servers.Servers {
		require.Equal(t, int64(3), clienttest.Gen(t, s), "fenced once after its restart, and told once of the other's")
		require.Equal(t, int64(1), fleet.Stats().Servers[i].Fences)
	}
}

func TestDeadServerSeesOnlyProbesAfterItsFirstFailure(t *testing.T) {
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	l.draw(t, fleet, 4)
	dead := servers.Servers[1]
	dead.SetReadOnly(true) // it answers, so that what it sees can be counted
	dead.Mark()
	connections := fleet.Stats().Servers[1].Connections
	l.draw(t, fleet, 1000)
	require.Len(t, dead.Statements().Matching(isReplace), 1)
	require.Less(t, fleet.Stats().Servers[1].Connections-connections, int64(200), "probes only, fewer and fewer, and not one per call")
	require.Equal(t, int64(1), fleet.Stats().Servers[1].Errors.ReadOnly)
	dead.SetReadOnly(false)
	clienttest.UntilUp(t, fleet, 1)
	dead.Mark()
	l.draw(t, fleet, 10)
	require.Len(t, dead.Statements().Matching(isReplace), 5, "takes its share again")
	l.requireUnique(t)
}

// Segments and leases go through Do, which has no lane.
func TestDoPassesOverADeadServer(t *testing.T) {
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	do := func(n int) {
		for range n {
			require.NoError(t, fleet.Do(clienttest.Bounded(t), func(ctx context.Context, c *ticket.Conn) error {
				_, _, err := c.Exec(ctx, "DO 1")
				return err
			}))
		}
	}
	do(10)
	servers.Servers[1].SetReadOnly(true)
	l := &ledger{}
	l.draw(t, fleet, 10)
	require.NotEqual(t, ticket.StateUp, clienttest.State(fleet, 1))
	before := fleet.Stats().Servers[1].Connections
	do(1000)
	require.Less(t, fleet.Stats().Servers[1].Connections-before, int64(200), "probes only")
	servers.Servers[1].SetReadOnly(false)
	clienttest.UntilUp(t, fleet, 1)
	servers.Servers[1].Mark()
	do(10)
	require.Len(t, servers.Servers[1].Statements().Matching(func(q string) bool { return q == "DO 1" }), 5, "takes its share again")
}

// Each start of a server makes the others look again, so in a large fleet a call can
// meet servers that are being checked many times in a row.
func TestCallOutlastsServersThatAreCheckedAgainAndAgain(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	const doubted = 10
	calls := 0
	require.NoError(t, fleet.Do(clienttest.Bounded(t), func(_ context.Context, c *ticket.Conn) error {
		if calls++; calls <= doubted {
			return c.Changed()
		}
		return nil
	}))
	require.Equal(t, doubted+1, calls)
}

// A server that is up and cannot do what is asked does not keep a call from waiting
// for one that is being checked.
func TestCallWaitsForAServerThatIsCheckedWhileAnotherOneRefuses(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	clienttest.UntilUp(t, fleet, 0)
	clienttest.UntilUp(t, fleet, 1)
	doubted := 0
	for range 4 { // either one may be the first
		require.NoError(t, fleet.Do(clienttest.Bounded(t), func(_ context.Context, c *ticket.Conn) error {
			if offset, _ := c.Class(); offset == 1 {
				return errors.New("held back here")
			}
			if doubted++; doubted%5 != 0 {
				return c.Changed()
			}
			return nil
		}))
	}
}

// But not for ever.
func TestCallGivesUpOnServersThatAreNeverInOrder(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Timeout = clienttest.FrozenTimeout
	fleet := clienttest.Open(t, cfg)
	err := fleet.Do(clienttest.Bounded(t), func(_ context.Context, c *ticket.Conn) error { return c.Changed() })
	require.ErrorIs(t, err, ticket.ErrUnavailable)

	clienttest.UntilUp(t, fleet, 0)
	clienttest.UntilUp(t, fleet, 1)
	own := errors.New("mine")
	calls := 0
	err = fleet.Do(clienttest.Bounded(t), func(context.Context, *ticket.Conn) error { calls++; return own })
	require.ErrorIs(t, err, own)
	require.LessOrEqual(t, calls, 3*len(servers.Servers), "what no check can mend is tried a few times")
}

func TestFrozenServerCostsOneTimeoutAndIsUsedAgain(t *testing.T) {
	servers := clienttest.New(t, 2)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Timeout = clienttest.FrozenTimeout
	fleet := clienttest.Open(t, cfg)
	l := &ledger{}
	l.draw(t, fleet, 4)
	servers.Servers[0].Pause()
	l.draw(t, fleet, 100)
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Timeout)
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Gaps)
	servers.Servers[0].Resume()
	clienttest.UntilUp(t, fleet, 0)
	l.draw(t, fleet, 10)
	l.requireUnique(t)
	require.Equal(t, int64(1), clienttest.Gen(t, servers.Servers[0]), "a frozen server forgot nothing")
}

// However many have asked it: those whose turn had not come go on to the next.
func TestCallersQueuedOnAFrozenServerGoOnTogether(t *testing.T) {
	servers := clienttest.New(t, 2)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Timeout = clienttest.FrozenTimeout
	fleet := clienttest.Open(t, cfg)
	l := &ledger{}
	l.draw(t, fleet, 4)
	servers.Servers[0].Pause()
	var callers sync.WaitGroup
	for range 1000 {
		callers.Go(func() { l.draw(t, fleet, 1) })
	}
	callers.Wait()
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Timeout, "one statement, and no other after it")
	servers.Servers[0].Resume()
	l.requireUnique(t)
}

// A frozen server costs those who asked it a timeout, and nobody else.
func TestCallsAvoidAServerThatStalls(t *testing.T) {
	servers := clienttest.New(t, 2)
	frozen := servers.Servers[0]
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	l.draw(t, fleet, 10)
	frozen.Pause()
	var callers sync.WaitGroup
	defer callers.Wait()
	issued := func() int64 { return fleet.Stats().Servers[1].Issued }
	begun := issued()
	// Half of the first ones are stuck; those that come later are not, and nobody
	// has to wait until the timeout.
	clienttest.Until(t, "the other one goes on", func() bool {
		callers.Go(func() { l.draw(t, fleet, 1) })
		return issued() > begun+300
	})
	require.Equal(t, ticket.StateUp, clienttest.State(fleet, 0))
	frozen.Resume()
	l.draw(t, fleet, 10)
}

func TestAllServersDownIsUnavailableAtOnceAndRecoversByItself(t *testing.T) {
	servers := clienttest.New(t, 2)
	clienttest.AnyIdentity(t, servers)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	l.draw(t, fleet, 4)
	for _, s := range servers.Servers {
		s.Kill()
	}
	_, err := fleet.Next(clienttest.Bounded(t))
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	var one *ticket.ServerError
	require.ErrorAs(t, err, &one)
	require.NotEmpty(t, one.Remedy)
	for i, s := range servers.Servers {
		s.Start()
		clienttest.UntilUp(t, fleet, i)
	}
	l.draw(t, fleet, 10)
	l.requireUnique(t)
}

// What only one server can do does not fail because of what was found out about
// that server a while ago.
func TestDoOnLooksAgainAtAServerThatIsDown(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	offset := fleet.Stats().Servers[1].Offset
	ping := func() error {
		return fleet.DoOn(clienttest.Bounded(t), offset, func(ctx context.Context, c *ticket.Conn) error {
			_, _, err := c.Exec(ctx, "DO 1")
			return err
		})
	}
	for range 5 {
		require.NoError(t, ping())
		servers.Servers[1].Cut()
		var problem *ticket.ServerError
		for range 5 { // its keeper asks less and less often
			require.ErrorAs(t, ping(), &problem)
		}
		require.Equal(t, ticket.StateDown, clienttest.State(fleet, 1))
		servers.Servers[1].Heal()
		require.NoError(t, ping(), "it can be reached now")
	}
}

// The server has committed and the client is never told: the number is a gap.
func TestLostReplyIsAGap(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	one := servers.Servers[0]
	l := &ledger{}
	for range 20 {
		l.draw(t, fleet, 1)
		cut := one.CutReply(isReplace)
		before := clienttest.Value(t, one, "SELECT MAX(id) FROM tickets")
		id := l.draw(t, fleet, 1)[0]
		<-cut
		require.Equal(t, before+2*2, id, "the number between was issued, confirmed to nobody, and not returned")
	}
	require.Equal(t, int64(20), fleet.Stats().Servers[0].Gaps)
	l.requireUnique(t)
}

func TestLostReplyUnderLoadIsNeverHandedOut(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	callers := l.start(t, fleet, 32)
	for round := range 40 {
		i := round % 2
		s := servers.Servers[i]
		if round%4 < 2 {
			<-s.CutReply(isReplace)
		} else {
			<-s.CutBeforeQuery(isReplace)
		}
		// Cut any faster, both servers are as good as dead.
		issued := fleet.Stats().Servers[i].Issued
		clienttest.Until(t, "used again", func() bool { return fleet.Stats().Servers[i].Issued > issued+10 })
	}
	require.Empty(t, callers.end())
	l.requireUnique(t)
}

func TestGlobalVariablesChangedBehindOurBackChangeNothing(t *testing.T) {
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	l.draw(t, fleet, 4)
	for _, s := range servers.Servers {
		s.SetGlobal("auto_increment_increment", 7)
		s.SetGlobal("auto_increment_offset", 5)
		s.SetGlobal("autocommit", false)
	}
	l.draw(t, fleet, 10)
	fresh := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	for _, id := range l.draw(t, fresh, 20) {
		require.Positive(t, id)
	}
	for _, s := range servers.Servers { // nothing waits for a commit
		require.Positive(t, clienttest.Value(t, s, "SELECT MAX(id) FROM tickets"))
		s.Kill()
		s.Start()
	}
	last := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, last, 20)
	l.requireUnique(t)
}

// Something sets variables of the very session that tickets are drawn on.
func TestSessionChangedBehindOurBackIssuesNothing(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	one := servers.Servers[0]
	l := &ledger{}
	changes := []string{
		"SET SESSION auto_increment_increment = 1", "SET SESSION auto_increment_offset = 2",
		"SET SESSION auto_increment_increment = 7", "SET SESSION autocommit = 0",
	}
	for i := range 3 * len(changes) {
		change, rows := changes[i/3], []int{1, 10, 64}[i%3] // sent as text and prepared
		require.NoError(t, fleet.NextN(clienttest.Bounded(t), make([]int64, 64)))
		last := l.draw(t, fleet, 1)[0]
		require.NoError(t, fleet.Do(clienttest.Bounded(t), func(ctx context.Context, c *ticket.Conn) error {
			_, _, err := c.Exec(ctx, change)
			return err
		}))
		connections := fleet.Stats().Servers[0].Connections
		ids := make([]int64, rows)
		require.NoError(t, fleet.NextN(clienttest.Bounded(t), ids))
		l.add(ids...)
		for i, id := range ids {
			require.Equal(t, last+2*int64(i+1), id, "after %s", change)
		}
		require.Greater(t, fleet.Stats().Servers[0].Connections, connections, "the connection was given up")
	}
	require.Equal(t, int64(1), clienttest.Gen(t, one))
	l.requireUnique(t)
}

func TestConnectionThatOutlivesAReadOnlyFlipIssuesNothingOld(t *testing.T) {
	servers := clienttest.New(t, 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	one := servers.Servers[0]
	l := &ledger{}
	l.draw(t, fleet, 5)
	one.SetReadOnly(true)
	one.SetReadOnly(false)
	clienttest.ForceFence(t, one)
	other := clienttest.Open(t, clienttest.Config(t, one.DirectDSN())) // fences
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	leap := l.draw(t, other, 1)[0]
	for _, id := range l.draw(t, fleet, 5) {
		require.Greater(t, id, leap)
	}
	require.Equal(t, int64(2), fleet.Stats().Servers[0].Gen, "it has noticed, by its first statement")
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Changed)
	l.requireUnique(t)
}

func TestServerThatGoesBackIsFencedAndTheNumberNotReturned(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	one := servers.Servers[0]
	l := &ledger{}
	l.draw(t, fleet, 50)
	clienttest.Exec(t, one, "DELETE FROM tickets")
	clienttest.Exec(t, one, "ALTER TABLE tickets AUTO_INCREMENT = 1")
	for _, id := range l.draw(t, fleet, 5) {
		require.Greater(t, id, int64(99))
	}
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Scheme)
	l.requireUnique(t)
}

func TestLockWaitIsRetried(t *testing.T) {
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	one.SetGlobal("innodb_lock_wait_timeout", 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	l := &ledger{}
	l.draw(t, fleet, 2)
	tx, err := one.DB().BeginTx(clienttest.Bounded(t), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(clienttest.Bounded(t), "SELECT * FROM tickets FOR UPDATE")
	require.NoError(t, err)
	drawn := make(chan error)
	go func() {
		id, err := fleet.Next(t.Context())
		l.add(id)
		drawn <- err
	}()
	clienttest.Until(t, "a retry", func() bool { return fleet.Stats().Servers[0].Retries > 0 })
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-drawn)
	require.Zero(t, fleet.Stats().Servers[0].Errors.Total())
	l.requireUnique(t)
}

func TestStateChangesAreLoggedAndTicketsAreNot(t *testing.T) {
	servers := clienttest.New(t, 2)
	var log bytes.Buffer
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	fleet, err := ticket.Open(clienttest.Bounded(t), cfg)
	require.NoError(t, err)
	l := &ledger{}
	l.draw(t, fleet, 500)
	servers.Servers[0].Kill()
	l.draw(t, fleet, 100)
	clienttest.Until(t, "down", func() bool { return clienttest.State(fleet, 0) == ticket.StateDown })
	servers.Servers[0].Start()
	clienttest.UntilUp(t, fleet, 0)
	require.NoError(t, fleet.Close())
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Less(t, len(lines), 12, "%s", log.String())
	for _, want := range []string{"ticket server is up", "ticket server is down", "ticket server fenced", "reason=restarted"} {
		require.Contains(t, log.String(), want)
	}
	for _, secret := range testfleet.Secrets() {
		require.NotContains(t, log.String(), secret)
	}
	l.requireUnique(t)
}

func TestCeilingIsATypedErrorAndNeverPassed(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	ceiling := clienttest.Value(t, one, "SELECT ticket_ceiling FROM server")
	clienttest.Exec(t, one, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", ceiling-8)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	for {
		id, err := fleet.Next(clienttest.Bounded(t))
		if err != nil {
			require.ErrorIs(t, err, ticket.ErrExhausted)
			break
		}
		l.add(id)
		require.LessOrEqual(t, id, ceiling)
	}
	require.NotEmpty(t, l.ids)
	l.requireUnique(t)
}
