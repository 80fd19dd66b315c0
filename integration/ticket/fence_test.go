package ticket_test

import (
	"context"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

func TestServerRestoredFromAnOldCopyLeapsBeyondWhatItForgot(t *testing.T) {
	for _, otherDown := range []bool{false, true} {
		name := map[bool]string{false: "OtherServerUp", true: "OtherServerDown"}[otherDown]
		t.Run(name, func(t *testing.T) {
			servers := clienttest.New(t, 2)
			if otherDown {
				clienttest.AnyIdentity(t, servers)
			}
			one, two := servers.Servers[0], servers.Servers[1]
			l := &ledger{}
			drawn := func(n int) { // by a client of its own, which remembers nothing afterwards
				cfg := clienttest.Config(t, servers.DSNs()...)
				fleet, err := ticket.Open(clienttest.Bounded(t), cfg)
				require.NoError(t, err)
				ids := make([]int64, n)
				require.NoError(t, fleet.NextN(clienttest.Bounded(t), ids))
				l.add(ids...)
				require.NoError(t, fleet.Close())
			}
			drawn(100)
			old := one.Snapshot()
			drawn(5000)
			if otherDown {
				two.Kill()
			}
			for range 2 { // twice from the same copy
				one.RestartFrom(old)
				before := clienttest.Gen(t, one)
				drawn(500)
				require.Greater(t, clienttest.Gen(t, one), before)
			}
			if otherDown {
				two.Start()
			}
			drawn(500)
			l.requireUnique(t)
		})
	}
}

func TestRestoredServerIsFencedAboveTheGenerationItsPeersRemember(t *testing.T) {
	servers := clienttest.New(t, 2)
	one := servers.Servers[0]
	old := one.Snapshot()
	for range 3 {
		one.Restart()
		fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
		clienttest.UntilUp(t, fleet, 0)
		require.NoError(t, fleet.Close())
	}
	require.Equal(t, int64(4), clienttest.Gen(t, one))
	one.RestartFrom(old)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	clienttest.UntilUp(t, fleet, 0)
	require.Equal(t, int64(5), clienttest.Gen(t, one))
	require.Equal(t, int64(5), clienttest.Value(t, servers.Servers[1], "SELECT gen FROM peers"))
	clienttest.Until(t, "it knows its peer again", func() bool {
		return clienttest.Value(t, one, "SELECT COALESCE(MAX(gen), 0) FROM peers") == clienttest.Gen(t, servers.Servers[1])
	})
}

func TestFenceKilledHalfWayIsRunAgain(t *testing.T) {
	steps := []string{"SET SESSION wait_timeout", "SELECT `gen` FROM `server`", "REPLACE INTO `tickets`", "UPDATE `sequences`", "UPDATE `workers`", "UPDATE `server`", "COMMIT"}
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	l := &ledger{}
	for _, step := range steps {
		at := func(query string) bool { return strings.HasPrefix(query, step) }
		for _, cut := range []func(func(string) bool) <-chan struct{}{one.CutBeforeQuery, one.CutReply} {
			before := clienttest.Gen(t, one)
			clienttest.ForceFence(t, one)
			happened := cut(at)
			// The first attempt breaks; a client that waits gets in by the second.
			fleet, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
			<-happened
			if err != nil {
				require.ErrorIs(t, err, ticket.ErrUnavailable)
				fleet, err = ticket.Open(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
				require.NoError(t, err)
			}
			require.Equal(t, before+1, clienttest.Gen(t, one), "fenced exactly once, cut at %s", step)
			l.draw(t, fleet, 3)
			require.NoError(t, fleet.Close())
		}
	}
	l.requireUnique(t)
}

// stuck is a connection that stops for ever, in the middle of a fence.
type stuck struct {
	net.Conn
	frozen chan struct{}
	once   *sync.Once
}

func (c stuck) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "UPDATE `workers`") {
		c.once.Do(func() { close(c.frozen) })
		return len(b), nil // says it has, and has not
	}
	return c.Conn.Write(b)
}

func TestClientFrozenInsideAFenceDoesNotHoldUpTheFleet(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	clienttest.ForceFence(t, one)
	frozen := make(chan struct{})
	once := &sync.Once{}
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Timeout = clienttest.Patience
	cfg.Servers[0].DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, addr)
		return stuck{c, frozen, once}, err
	}
	freezing, unfreeze := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := ticket.Open(freezing, cfg); done <- err }()
	<-frozen
	fleet := clienttest.Open(t, clienttest.Config(t, one.DirectDSN()))
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	new(ledger).draw(t, fleet, 3)
	unfreeze()
	require.Error(t, <-done)
}

func TestTwoClientsFencingAtOnceFenceOnce(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	l := &ledger{}
	for round := range int64(5) {
		for _, s := range servers.Servers {
			clienttest.ForceFence(t, s)
		}
		fleets := make([]*ticket.Fleet, 4)
		errs := make([]error, len(fleets))
		var wg sync.WaitGroup
		for i := range fleets {
			wg.Go(func() { fleets[i], errs[i] = ticket.Open(t.Context(), clienttest.Config(t, servers.DSNs()...)) })
		}
		wg.Wait()
		for i, fleet := range fleets {
			require.NoError(t, errs[i])
			clienttest.UntilUp(t, fleet, 0)
			clienttest.UntilUp(t, fleet, 1)
			l.draw(t, fleet, 10)
			require.NoError(t, fleet.Close())
		}
		for _, s := range servers.Servers {
			require.Equal(t, round+2, clienttest.Gen(t, s))
		}
	}
	l.requireUnique(t)
}

// Every ticket of a server is from before a fence, and then at or below what
// the fence found, or from after it, and then above its leap.
func TestNoTicketOfTheOldGenerationAfterAFence(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one := servers.Servers[0]
	insertSequence(t, one, "s", 0, schema.ClockLine{Birth: clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP()"), Last: 1<<52 - 1})
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	callers := l.start(t, fleet, 32)
	refills := startRefills(t, fleet)
	type leap struct{ floor, gen int64 }
	var leaps []leap
	for range 30 {
		issued := fleet.Stats().Servers[0].Issued
		clienttest.Until(t, "load", func() bool { return fleet.Stats().Servers[0].Issued > issued+500 })
		clienttest.ForceFence(t, one)
		other, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, one.DirectDSN()))
		require.NoError(t, err)
		leaps = append(leaps, leap{floor: clienttest.Value(t, one, "SELECT id FROM tickets WHERE stub = 0"), gen: clienttest.Gen(t, one)})
		require.NoError(t, other.Close())
	}
	require.Empty(t, callers.end())
	l.requireUnique(t)
	refills.requireUnique(t)
	require.Greater(t, leaps[len(leaps)-1].gen, int64(30))
	for i := 1; i < len(leaps); i++ {
		require.GreaterOrEqual(t, leaps[i].floor, leaps[i-1].floor)
	}
}

func TestFenceComputesTheClockLineAsTheClientDoes(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	now := clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP()")
	lines := map[string]schema.ClockLine{
		"old":    {Base: 0, Birth: now - 20*365*86400, Last: 1<<52 - 1},
		"new":    {Base: 12345, Birth: now, Last: 1<<52 - 1},
		"small":  {Base: 3, Birth: now - 86400, Last: 1<<30 - 1},
		"future": {Base: 99, Birth: now + 86400, Last: 1<<52 - 1},
		"full":   {Base: 7, Birth: now - 200*365*86400, Last: 1000},
	}
	for name, line := range lines {
		insertSequence(t, one, name, 0, line)
	}
	insertSequence(t, one, "ahead", 1<<40, lines["new"])
	clienttest.Exec(t, one, "UPDATE sequences SET peak = 1000 WHERE name = 'ahead'")
	clienttest.ForceFence(t, one)
	before := clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP()")
	clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	after := clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP()")
	for name, line := range lines {
		got := clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = ?", name)
		require.GreaterOrEqual(t, got, line.At(before), name)
		require.LessOrEqual(t, got, line.At(after), name)
		require.Equal(t, int64(2), clienttest.Value(t, one, "SELECT gen FROM sequences WHERE name = ?", name))
	}
	require.Equal(t, int64(1<<40+1000), clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'ahead'"), "its margin above its own value")
}

func insertSequence(t testing.TB, s *testfleet.Server, name string, rounds int64, line schema.ClockLine) {
	t.Helper()
	clienttest.Exec(t, s, "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_at, refilled_by, created_at, deleted_at) "+
		"VALUES (?, ?, 1, ?, ?, ?, '', 0, 0, 0, 0, 0, NULL, '', UTC_TIMESTAMP(6), NULL)",
		name, rounds, line.Base, line.Birth, 2*(line.Last+1))
}

// bornNow is the clock line of a sequence that is created now, by the server's clock.
func bornNow(t testing.TB, s *testfleet.Server, last int64) schema.ClockLine {
	t.Helper()
	return schema.ClockLine{Birth: clienttest.Value(t, s, "SELECT UNIX_TIMESTAMP()"), Last: last}
}

func TestFenceTakesSequencesToWhatThePeersKnow(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	line := bornNow(t, one, 1<<52-1)
	high := line.At(line.Birth) + 12345
	insertSequence(t, one, "a", 10, line)
	insertSequence(t, two, "a", high, line)
	insertSequence(t, one, "damaged", 10, line)
	insertSequence(t, two, "damaged", 1<<51, line)
	insertSequence(t, one, "bumped", 10, line)
	insertSequence(t, two, "bumped", 10, schema.ClockLine{Base: 1 << 50, Birth: line.Birth, Last: line.Last})
	clienttest.ForceFence(t, one)
	clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	require.GreaterOrEqual(t, clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'a'"), high)
	require.Less(t, clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'damaged'"), int64(1<<50), "one bad row must not poison the fleet")
	require.Equal(t, int64(schema.HeldBack), clienttest.Value(t, one, "SELECT gen FROM sequences WHERE name = 'damaged'"), "nor may it hide what was forgotten")
	require.Equal(t, int64(2), clienttest.Value(t, one, "SELECT COUNT(*) FROM sequences WHERE gen = 2"))
	require.Greater(t, clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'bumped'"), int64(1<<50), "the greatest clock line of all counts")
}

// Where a peer's row is held back, others were further than that. If none of them can
// be asked, a server that has forgotten may have been there too.
func TestFenceDoesNotGoByARowThatIsHeldBack(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	line := bornNow(t, one, 1<<30-1)
	for name, rounds := range map[string]int64{"forgot": 50_000, "further": 500_000} {
		insertSequence(t, one, name, 100_000, line)
		insertSequence(t, two, name, rounds, line)
	}
	clienttest.Exec(t, one, "UPDATE sequences SET gen = 0")
	clienttest.ForceFence(t, two)
	clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	require.Equal(t, int64(2), clienttest.Gen(t, two))
	require.Equal(t, int64(schema.HeldBack), clienttest.Value(t, two, "SELECT gen FROM sequences WHERE name = 'forgot'"))
	require.Equal(t, int64(2), clienttest.Value(t, two, "SELECT gen FROM sequences WHERE name = 'further'"))
}

// A peer that has answered and is lost before it says how far its sequences are is
// asked again.
func TestFenceWaitsForWhatAPeerThatAnsweredKnows(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	line := bornNow(t, one, 1<<52-1)
	high := line.At(line.Birth) + 1<<40
	insertSequence(t, one, "a", 10, line)
	insertSequence(t, two, "a", high, line)
	clienttest.ForceFence(t, one)
	lost := two.CutBeforeQuery(func(query string) bool { return strings.HasPrefix(query, "SELECT `name`, LEAST(`rounds`") })
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	<-lost
	clienttest.UntilUp(t, fleet, 0)
	require.GreaterOrEqual(t, clienttest.Value(t, one, "SELECT rounds FROM sequences"), high)
}

// A row at the end of its column keeps neither its own server nor another out,
// and hides no other row.
func TestFenceCopesWithARowAtTheEndOfItsColumn(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	line := bornNow(t, one, 1<<52-1)
	high := line.At(line.Birth) + 12345
	for _, s := range servers.Servers {
		insertSequence(t, s, "a", 10, line)
		insertSequence(t, s, "mad", 10, line)
		clienttest.Exec(t, s, "UPDATE sequences SET rounds = 18446744073709551615, peak = rounds, base = rounds WHERE name = 'mad'")
	}
	clienttest.Exec(t, two, "UPDATE sequences SET rounds = ? WHERE name = 'a'", high)
	clienttest.ForceFence(t, one)
	clienttest.ForceFence(t, two)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	clienttest.UntilUp(t, fleet, 0)
	clienttest.UntilUp(t, fleet, 1)
	require.GreaterOrEqual(t, clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'a'"), high)
}

func TestFenceParksEveryWorkerNumberAndKeepsItsHolder(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	far := int64(1) << 40
	clienttest.Exec(t, one, "UPDATE workers SET holder = x'00112233445566778899aabbccddeeff', until_tick = 5 WHERE number = 1")
	clienttest.Exec(t, one, "UPDATE workers SET until_tick = ? WHERE number = 3", far)
	clienttest.ForceFence(t, one)
	clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	parked := clienttest.Value(t, one, "SELECT parked_until FROM workers WHERE number = 1")
	lease := clienttest.Value(t, one, "SELECT longest_lease_ms FROM server")
	now := clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP() * 1000 - epoch_ms FROM server")
	require.InDelta(t, now+lease, parked, 30_000)
	require.GreaterOrEqual(t, parked, now+lease-30_000)
	require.Equal(t, parked, clienttest.Value(t, one, "SELECT until_tick FROM workers WHERE number = 1"))
	require.Equal(t, int64(1), clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
	require.Equal(t, far, clienttest.Value(t, one, "SELECT until_tick FROM workers WHERE number = 3"))
	require.Zero(t, clienttest.Value(t, one, "SELECT COUNT(*) FROM workers WHERE until_tick < ? OR gen <> 2", parked))
}

func TestTicketsAreLevelledAndADamagedServerIsNotFollowed(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	alone := clienttest.Open(t, clienttest.Config(t, one.DSN()))
	ids := make([]int64, ticket.MaxN)
	l := &ledger{}
	for range 3 {
		require.NoError(t, alone.NextN(clienttest.Bounded(t), ids))
		l.add(ids...)
	}
	require.NoError(t, alone.Close())
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, fleet, 2)
	clienttest.Until(t, "levelled", func() bool { return clienttest.Value(t, two, "SELECT MAX(id) FROM tickets") > 60_000 })
	l.draw(t, fleet, 10)

	clienttest.Exec(t, one, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", int64(1)<<52+1)
	l.draw(t, fleet, 10)
	require.Less(t, clienttest.Value(t, two, "SELECT MAX(id) FROM tickets"), int64(1)<<51)
	l.requireUnique(t)
}

// A server whose tickets are further behind than it can follow has forgotten more
// than the fence can make good, or the others' counter was damaged: it stays out
// until an operator has decided.
func TestServerWhoseTicketsAreTooFarBehindStaysOut(t *testing.T) {
	for name, down := range map[string]bool{"KnownToTheOther": false, "KnownToTheClient": true} {
		t.Run(name, func(t *testing.T) {
			servers := clienttest.New(t, 2)
			one, two := servers.Servers[0], servers.Servers[1]
			const far = int64(1)<<45 + 1 // a server follows 2^42
			clienttest.Exec(t, one, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", far)
			fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
			clienttest.UntilUp(t, fleet, 1)
			l := &ledger{}
			l.draw(t, fleet, 10)
			high := clienttest.Value(t, two, "SELECT MAX(id) FROM tickets")
			require.Less(t, high, int64(1)<<44)

			two.Kill()
			clienttest.Until(t, "noticed", func() bool { l.draw(t, fleet, 1); return clienttest.State(fleet, 1) != ticket.StateUp })
			if down {
				one.Cut()
			}
			two.Start()
			clienttest.Until(t, "the reason", func() bool {
				err := fleet.Stats().Servers[1].Err
				return err != nil && strings.Contains(err.Error(), "it has forgotten what it issued, or the other counter was moved by hand")
			})
			require.Equal(t, int64(1), clienttest.Gen(t, two), "nothing is written")
			if !down {
				found, err := ticket.Inspect(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
				require.NoError(t, err)
				require.ErrorIs(t, found[1].Verdict, ticket.ErrBehind)
				require.NoError(t, found[0].Verdict)
			}
			require.Equal(t, high, clienttest.Value(t, two, "SELECT MAX(id) FROM tickets"))
			if down {
				one.Heal()
			}
			why := fleet.Stats().Servers[1].Err
			require.ErrorIs(t, why, ticket.ErrBehind)
			remedy := regexp.MustCompile(`(REPLACE INTO tickets .*?); (UPDATE server .*?);`).FindStringSubmatch(why.Error())
			require.Len(t, remedy, 3, "%v", why)
			clienttest.Exec(t, two, remedy[1])
			clienttest.Exec(t, two, remedy[2])
			clienttest.UntilUp(t, fleet, 1)
			for _, id := range l.draw(t, fleet, 10) {
				require.Greater(t, id, far)
				require.Less(t, id, far+1_000_000, "the way there is no use that the next leap would go by")
			}
			l.requireUnique(t)
		})
	}
}

// What a client has seen from the server itself is no other counter, however far the
// server has been put back.
func TestFenceFollowsWhatTheServerItselfHasIssuedHoweverFar(t *testing.T) {
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	l.draw(t, fleet, 10)
	old := one.Snapshot()
	const far = int64(1)<<45 + 1
	clienttest.Exec(t, one, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", far)
	l.draw(t, fleet, 10)
	one.RestartFrom(old)
	clienttest.UntilUp(t, fleet, 0)
	for _, id := range l.draw(t, fleet, 10) {
		require.Greater(t, id, far)
	}
	l.requireUnique(t)
}

// The same for a server that this client has not used yet: what it could not be
// levelled to is not held against what it issues.
func TestADamagedServerDoesNotTakeAlongOneThatWasNotUsedYet(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	damaged, two := servers.Servers[0], servers.Servers[1]
	l := &ledger{}
	l.draw(t, clienttest.Open(t, clienttest.Config(t, servers.DSNs()...)), 2)
	clienttest.Exec(t, damaged, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", int64(1)<<52+1)
	aloof := make(chan struct{}, 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Logger = slog.New(&listener{message: "ticket server not levelled", heard: aloof})
	fleet := clienttest.Open(t, cfg)
	for l.draw(t, fleet, 1); fleet.Stats().Servers[0].Issued == 0; l.draw(t, fleet, 1) { // any server may be the first
		require.NoError(t, fleet.Close())
		fleet = clienttest.Open(t, cfg)
	}
	select {
	case <-aloof:
	case <-clienttest.Bounded(t).Done():
		require.FailNow(t, "the server that was not used yet was not looked at")
	}
	l.draw(t, fleet, 10)
	require.Positive(t, fleet.Stats().Servers[1].Issued)
	require.Equal(t, int64(1), clienttest.Gen(t, two), "there was nothing to fence it for")
	require.Less(t, clienttest.Value(t, two, "SELECT MAX(id) FROM tickets"), int64(1)<<51)
	l.requireUnique(t)
}

// listener is a slog.Handler that waits for a message.
type listener struct {
	message string
	heard   chan<- struct{} // holds one
}

func (h *listener) Enabled(context.Context, slog.Level) bool { return true }
func (h *listener) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *listener) WithGroup(string) slog.Handler            { return h }
func (h *listener) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, h.message) {
		select {
		case h.heard <- struct{}{}:
		default:
		}
	}
	return nil
}

func TestFenceTakesTicketsToWhatThePeersHaveIssued(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	const high = int64(1) << 40 // far above the clock line, and believable
	clienttest.Exec(t, two, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", high)
	clienttest.ForceFence(t, one)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	for _, id := range l.draw(t, fleet, 10) {
		require.Greater(t, id, high)
	}
	l.requireUnique(t)
}

// In the second of its start an incarnation could be taken for that of one more
// restart within the same second.
func TestServerIsNotUsedInTheSecondOfItsStart(t *testing.T) {
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	for range 4 {
		one.Restart()
		fleet, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
		require.NoError(t, err)
		require.Positive(t, clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP() - started_at FROM server"))
		require.NoError(t, fleet.Close())
	}
	require.Equal(t, int64(5), clienttest.Gen(t, one))
}

func TestPeerThatComesBackKnowsMoreAndIsBelieved(t *testing.T) {
	servers := clienttest.New(t, 2)
	clienttest.AnyIdentity(t, servers)
	one, two := servers.Servers[0], servers.Servers[1]
	old := one.Snapshot()
	for range 3 {
		one.Restart()
		fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
		clienttest.UntilUp(t, fleet, 0)
		require.NoError(t, fleet.Close())
	}
	two.Cut()
	one.RestartFrom(old)
	l := &ledger{}
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, fleet, 10)
	require.Equal(t, int64(2), clienttest.Gen(t, one), "nobody was there to say that it had been 4 before")
	two.Heal() // it was not restarted, so nobody is told of it
	clienttest.UntilUp(t, fleet, 1)
	clienttest.Until(t, "fenced again", func() bool { return clienttest.Gen(t, one) >= 5 })
	clienttest.UntilUp(t, fleet, 0)
	l.draw(t, fleet, 10)
	l.requireUnique(t)
}

// startRefills reserves rounds of sequence s through Do, as segments are.
func startRefills(t testing.TB, fleet *ticket.Fleet) *ledger {
	l := &ledger{}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_ = fleet.Do(ctx, func(ctx context.Context, c *ticket.Conn) error { // fails on the server without the sequence
					round, matched, err := c.Exec(ctx, "UPDATE sequences SET rounds = LAST_INSERT_ID(rounds + 1) WHERE name = 's' AND gen = ? AND CONNECTION_ID() = ?", c.Gen(), c.ID())
					if err == nil && matched == 1 {
						l.add(round)
					}
					return err
				})
			}
		})
	}
	t.Cleanup(func() { stop(); wg.Wait() })
	return l
}

// Beyond the clock line, what a server forgot is known to its peers only up to
// the last floor carried to them; the margin covers the rest.
func TestFenceAddsTheMarginToWhatThePeersKnowBeyondTheClockLine(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	line := bornNow(t, one, 1<<52-1)
	insertSequence(t, one, "a", 10, line)
	insertSequence(t, two, "a", 1<<40, line)
	clienttest.Exec(t, two, "UPDATE sequences SET peak = 5000 WHERE name = 'a'")
	const top = int64(1) << 40
	clienttest.Exec(t, two, "REPLACE INTO tickets (stub, id) VALUES (0, ?)", top)
	clienttest.Exec(t, two, "UPDATE server SET ticket_peak = 70000")
	clienttest.ForceFence(t, one)
	l := &ledger{}
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	require.Equal(t, int64(1<<40+5000), clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'a'"))
	require.GreaterOrEqual(t, clienttest.Value(t, one, "SELECT id FROM tickets WHERE stub = 0"), top+2*70000)
	l.draw(t, fleet, 10)
	l.requireUnique(t)
}
