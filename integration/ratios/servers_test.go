package ratios

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

// flavorsEnv lists what to measure on, separated by blanks, as the official
// images are tagged.
const flavorsEnv = "RATIOS_FLAVORS"

// flavors are the kinds of servers that the claims are about.
func flavors() []string {
	if list := strings.Fields(os.Getenv(flavorsEnv)); len(list) > 0 {
		return list
	}
	return []string{"mysql:9", "mariadb:10.11"}
}

// newFleet returns migrated servers of a flavour, as durable as they can be.
func newFleet(t testing.TB, n int, flavor string) *testfleet.Fleet {
	t.Helper()
	fleet := testfleet.New(t, n, testfleet.Versions(flavor))
	for _, s := range fleet.Servers {
		var atCommit, syncBinlog int
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.sync_binlog").Scan(&atCommit, &syncBinlog))
		require.Equal(t, []int{1, 1}, []int{atCommit, syncBinlog}, "full durability of "+s.Name)
	}
	_, err := migrations.Up(t.Context(), migrations.Config{Servers: parse(t, fleet.MigrateDSNs())})
	require.NoError(t, err)
	return fleet
}

func parse(t testing.TB, dsns []string) []*mysql.Config {
	t.Helper()
	configs := make([]*mysql.Config, len(dsns))
	for i, dsn := range dsns {
		cfg, err := mysql.ParseDSN(dsn)
		require.NoError(t, err)
		configs[i] = cfg
	}
	return configs
}

// openTickets opens a client of the servers, around the proxies, until the end
// of the test, and waits until it uses all of them.
func openTickets(t testing.TB, servers ...*testfleet.Server) *ticket.Fleet {
	t.Helper()
	dsns := make([]string, len(servers))
	for i, s := range servers {
		dsns[i] = s.DirectDSN()
	}
	return openFleet(t, ticket.Config{Servers: parse(t, dsns)})
}

func openFleet(t testing.TB, cfg ticket.Config) *ticket.Fleet {
	t.Helper()
	fleet, err := ticket.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fleet.Close()) })
	for _, s := range fleet.Stats().Servers {
		require.Equal(t, ticket.StateUp, s.State, s.Server)
	}
	return fleet
}

// next draws one ticket.
func next(fleet *ticket.Fleet) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := fleet.Next(ctx)
		return err
	}
}

// openPool opens a pool of the application's account that keeps up to conns connections.
func openPool(t testing.TB, s *testfleet.Server, conns int) *sql.DB {
	t.Helper()
	cfg := parse(t, []string{s.DirectDSN()})[0]
	cfg.InterpolateParams = true
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db
}
