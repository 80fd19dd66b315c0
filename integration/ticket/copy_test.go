package ticket_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

func TestCopyOfADataDirectoryBesideTheOriginal(t *testing.T) {
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	l := &ledger{}
	original := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, original, 100)
	snapshot := one.Snapshot()
	l.draw(t, original, 100)
	twin := one.StartCopy(snapshot)
	copied := clienttest.Open(t, clienttest.Config(t, twin.DSN(), two.DSN()))
	for range 5 { // both at work, neither knowing of the other
		l.draw(t, original, 50)
		l.draw(t, copied, 50)
	}
	newcomer := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, newcomer, 50)
	require.NotEqual(t, clienttest.Refused(copied, 0), clienttest.Refused(newcomer, 0), "newcomers use one of the two copies, not both")
	l.requireUnique(t)
}

// A client of the original sees, on the other server, how far the copy has been
// fenced. It must not follow it there with the original.
func TestServerIsNotLevelledToWhereASecondCopyHasBeen(t *testing.T) {
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	l := &ledger{}
	original := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, original, 100)
	twin := one.StartCopy(one.Snapshot())
	copied := clienttest.OpenCopy(t, twin, two)
	clienttest.Until(t, "the other server levelled", func() bool {
		l.draw(t, copied, 10)
		return clienttest.Value(t, two, "SELECT MAX(id) FROM tickets") > 1_000_000_000
	})
	clienttest.Until(t, "the original out", func() bool {
		l.draw(t, original, 10)
		l.draw(t, copied, 10)
		return clienttest.Refused(original, 0)
	})
	l.draw(t, original, 100)
	l.draw(t, copied, 100)
	l.requireUnique(t)
}

// The copy has gone, and what the others do meanwhile makes nobody forget that it
// was there.
func TestOriginalOfASecondCopyStaysOutWhateverTheOthersDo(t *testing.T) {
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	l := &ledger{}
	original := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, original, 100)
	twin := one.StartCopy(one.Snapshot())
	copied := clienttest.OpenCopy(t, twin, two)
	clienttest.Until(t, "the original out", func() bool {
		l.draw(t, original, 10)
		l.draw(t, copied, 10)
		return clienttest.Refused(original, 0)
	})
	require.NoError(t, copied.Close())
	twin.Kill()
	gen, issued := clienttest.Gen(t, one), original.Stats().Servers[0].Issued
	for range 3 {
		two.Restart()
		clienttest.UntilUp(t, original, 1)
		l.draw(t, original, 10)
	}
	fresh := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, fresh, 10)
	require.True(t, clienttest.Refused(fresh, 0), "%v", fresh.Stats().Servers[0].Err)
	require.Equal(t, gen, clienttest.Gen(t, one), "a server that is out is told nothing")
	require.Equal(t, issued, original.Stats().Servers[0].Issued)

	own := clienttest.Config(t, servers.DSNs()...)
	require.NoError(t, ticket.Accept(clienttest.Bounded(t), own, dsn.Label(own.Servers[0])))
	clienttest.UntilUp(t, fresh, 0)
	l.draw(t, fresh, 100)
	l.requireUnique(t)
}

func TestAnotherServerInPlaceOfOneStaysOutUntilAccepted(t *testing.T) {
	servers := testfleet.New(t, 3)
	one, two, other := servers.Servers[0], servers.Servers[1], servers.Servers[2]
	clienttest.Migrate(t, one, two)
	l := &ledger{}
	before := clienttest.Open(t, clienttest.Config(t, one.DSN(), two.DSN()))
	l.draw(t, before, 100)
	copyDatabase(t, one, other) // a dump, restored elsewhere
	l.draw(t, before, 2000)
	require.NoError(t, before.Close())
	one.Kill()

	cfg := clienttest.Config(t, other.DSN(), two.DSN())
	after := clienttest.Open(t, cfg)
	l.draw(t, after, 20)
	require.True(t, clienttest.Refused(after, 0), "%v", after.Stats().Servers[0].Err)
	require.ErrorContains(t, after.Stats().Servers[0].Err, "oddeven fleet accept")
	require.Zero(t, after.Stats().Servers[0].Issued)

	label := func(s *testfleet.Server) string { return dsn.Label(s.Config()) }
	require.ErrorIs(t, ticket.Accept(clienttest.Bounded(t), cfg, label(two)), ticket.ErrNothingToAccept)
	require.NoError(t, ticket.Accept(clienttest.Bounded(t), cfg, label(other)))
	clienttest.UntilUp(t, after, 0)
	l.draw(t, after, 200)
	require.Positive(t, after.Stats().Servers[0].Issued)

	one.Start() // the old one is not dead after all
	late := clienttest.Open(t, clienttest.Config(t, one.DSN(), two.DSN()))
	l.draw(t, late, 20)
	require.True(t, clienttest.Refused(late, 0))
	l.requireUnique(t)
}

func TestSingleWriterFleetLetsAnotherServerIn(t *testing.T) {
	servers := testfleet.New(t, 3)
	one, two, other := servers.Servers[0], servers.Servers[1], servers.Servers[2]
	clienttest.Migrate(t, one, two)
	require.NoError(t, ticket.SetSingleWriter(clienttest.Bounded(t), clienttest.Config(t, one.DSN(), two.DSN()), true))
	l := &ledger{}
	before := clienttest.Open(t, clienttest.Config(t, one.DSN(), two.DSN()))
	l.draw(t, before, 100)
	copyDatabase(t, one, other)
	l.draw(t, before, 1000)
	require.NoError(t, before.Close())
	one.Kill()
	after := clienttest.Open(t, clienttest.Config(t, other.DSN(), two.DSN()))
	l.draw(t, after, 200)
	require.Positive(t, after.Stats().Servers[0].Issued)
	require.Equal(t, int64(2), clienttest.Gen(t, other))
	l.requireUnique(t)
	one.Start()
}

// copyDatabase makes the tables of one server on another, with all rows, as a
// logical backup that is restored elsewhere does.
func copyDatabase(t testing.TB, from, to *testfleet.Server) {
	t.Helper()
	for _, m := range migrations.All() {
		clienttest.Exec(t, to, strings.TrimSuffix(strings.TrimSpace(m.Up), ";"))
	}
	clienttest.Exec(t, to, "CREATE TABLE oddeven_migrations (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp DATETIME) COMMENT 'oddeven: '")
	for _, table := range []string{"oddeven_migrations", "server", "peers", "tickets", "sequences", "workers"} {
		copyRows(t, from, to, table)
	}
}

func copyRows(t testing.TB, from, to *testfleet.Server, table string) {
	t.Helper()
	rows, err := from.DB().QueryContext(clienttest.Bounded(t), fmt.Sprintf("SELECT * FROM `%s`", table))
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(t, err)
	marks := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.RawBytes)
		}
		require.NoError(t, rows.Scan(values...))
		for i, v := range values {
			raw, ok := v.(*sql.RawBytes)
			require.True(t, ok)
			values[i] = nil
			if *raw != nil {
				values[i] = append([]byte{}, *raw...)
			}
		}
		clienttest.Exec(t, to, fmt.Sprintf("INSERT INTO `%s` VALUES (%s)", table, marks), values...)
	}
	require.NoError(t, rows.Err())
}

// A copy was fenced while nobody could tell the other server. `migrate up` is no
// client: were it to tell, clients would find it known and throw nobody out.
func TestMigrateUpDoesNotTellOfANewStart(t *testing.T) {
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	l := &ledger{}
	original := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l.draw(t, original, 100)
	twin := one.StartCopy(one.Snapshot())
	cfg := clienttest.Config(t, twin.DSN())
	if err := ticket.Accept(clienttest.Bounded(t), cfg, dsn.Label(cfg.Servers[0])); !errors.Is(err, ticket.ErrNothingToAccept) {
		require.NoError(t, err) // an operator who is wrong about it
	}
	alone := clienttest.Open(t, cfg)
	l.draw(t, alone, 10)
	require.NoError(t, alone.Close())
	require.Greater(t, clienttest.Gen(t, twin), clienttest.Gen(t, one))

	clienttest.Migrate(t, twin, two)

	require.Equal(t, clienttest.Gen(t, one), clienttest.Value(t, two, "SELECT gen FROM peers WHERE server_offset = 1"))
	copied := clienttest.Open(t, clienttest.Config(t, twin.DSN(), two.DSN()))
	clienttest.UntilUp(t, copied, 0)
	clienttest.Until(t, "the original out", func() bool {
		l.draw(t, original, 10)
		l.draw(t, copied, 10)
		return clienttest.Refused(original, 0)
	})
	l.draw(t, original, 100)
	l.draw(t, copied, 100)
	l.requireUnique(t)
}

// The server that was declared dead is alive, and a client still uses it.
func TestServerDeclaredDeadIsLeftByWhoStillUsesIt(t *testing.T) {
	servers := testfleet.New(t, 3)
	one, two, other := servers.Servers[0], servers.Servers[1], servers.Servers[2]
	clienttest.Migrate(t, one, two)
	l := &ledger{}
	before := clienttest.Open(t, clienttest.Config(t, one.DSN(), two.DSN()))
	l.draw(t, before, 100)
	clienttest.UntilUp(t, before, 1)

	_, err := migrations.Up(clienttest.Bounded(t), migrations.Config{
		Servers: clienttest.Parse(t, []string{one.MigrateDSN(), other.MigrateDSN()}), Retired: []int64{2},
	})

	require.NoError(t, err)
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	clienttest.Until(t, "the server declared dead out", func() bool {
		l.draw(t, before, 2)
		return clienttest.Refused(before, 1)
	})
	after := clienttest.Open(t, clienttest.Config(t, one.DSN(), other.DSN()))
	for range 10 {
		l.draw(t, before, 50)
		l.draw(t, after, 50)
	}
	require.True(t, clienttest.Refused(before, 1))
	require.Zero(t, clienttest.Value(t, one, "SELECT COUNT(*) FROM workers JOIN server WHERE workers.gen <> server.gen"))
	l.requireUnique(t)
}
