// Package clienttest opens clients on servers of testfleet and looks at what
// they have done, for the tests of package ticket and of what is built on it.
package clienttest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

// Patience bounds every wait of a test: long, because machines are slow.
// ODDEVEN_TEST_PATIENCE overrides it, for runs in which tests are meant to fail.
var Patience = patience(os.Getenv("ODDEVEN_TEST_PATIENCE"))

func patience(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	return 60 * time.Second
}

// Timeout is the ticket.Config.Timeout of tests: long, because a busy machine is
// not a frozen server. FrozenTimeout is for tests of frozen ones.
const (
	Timeout       = 15 * time.Second
	FrozenTimeout = time.Second
)

// Bounded is a context that ends with the test or after Patience.
func Bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Parse reads DSNs.
func Parse(t testing.TB, dsns []string) []*mysql.Config {
	t.Helper()
	configs := make([]*mysql.Config, len(dsns))
	for i, dsn := range dsns {
		cfg, err := mysql.ParseDSN(dsn)
		require.NoError(t, err)
		configs[i] = cfg
	}
	return configs
}

// Migrate makes a fleet of the servers, with leases of a second.
func Migrate(t testing.TB, servers ...*testfleet.Server) {
	t.Helper()
	MigrateAs(t, migrations.Settings{LongestLease: time.Second}, servers...)
}

// MigrateAs makes a fleet of the servers. Its increment is as many as there are,
// at least 2.
func MigrateAs(t testing.TB, settings migrations.Settings, servers ...*testfleet.Server) {
	t.Helper()
	dsns := make([]string, len(servers))
	for i, s := range servers {
		dsns[i] = s.MigrateDSN()
	}
	settings.Increment = int64(max(2, len(dsns)))
	_, err := migrations.Up(Bounded(t), migrations.Config{Servers: Parse(t, dsns), Settings: settings})
	require.NoError(t, err)
}

// New returns n migrated servers.
func New(t testing.TB, n int, opts ...testfleet.Option) *testfleet.Fleet {
	t.Helper()
	fleet := testfleet.New(t, n, opts...)
	Migrate(t, fleet.Servers...)
	return fleet
}

// Config is how a client of the test reaches servers.
func Config(t testing.TB, dsns ...string) ticket.Config {
	t.Helper()
	return ticket.Config{Servers: Parse(t, dsns), Timeout: Timeout, Conns: 4}
}

// Open opens a client and closes it at the end of the test.
func Open(t testing.TB, cfg ticket.Config) *ticket.Fleet {
	t.Helper()
	fleet, err := ticket.Open(Bounded(t), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fleet.Close()) })
	return fleet
}

// AnyIdentity lets servers come back under another identity. MariaDB makes its
// server_uid of the hardware address, and containers that were down at the same
// time may come back with each other's.
func AnyIdentity(t testing.TB, servers *testfleet.Fleet) {
	t.Helper()
	require.NoError(t, ticket.SetSingleWriter(Bounded(t), Config(t, servers.DSNs()...), true))
}
