package testfleet_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// connect returns a pool on a DSN that is closed at cleanup.
func connect(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	require.NoError(t, err)
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() }) // complains of connections that the test has broken
	return db
}

// oneConn returns one connection of a pool, that is closed at cleanup.
func oneConn(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // complains if the test has broken it
	return conn
}

// run runs statements and fails the test if one fails.
func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}

// query returns the one value of a statement as text.
func query(t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	var value string
	require.NoError(t, db.QueryRowContext(t.Context(), statement).Scan(&value), statement)
	return value
}

// newTable makes an empty table and returns pools of the application (through
// the proxies) and of root (around them).
func newTable(t *testing.T, s *testfleet.Server) (app, root *sql.DB) {
	t.Helper()
	run(t, s.DB(), "CREATE TABLE t (id INT PRIMARY KEY)")
	return connect(t, s.DSN()), s.DB()
}

// errorNumber returns the server's number of an error, 0 if it is none of a server.
func errorNumber(err error) uint16 {
	if fromServer, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return fromServer.Number
	}
	return 0
}

func TestAccountsHaveTheirPrivilegesOnly(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	for _, s := range fleet.Servers {
		migrate, app := connect(t, s.MigrateDSN()), connect(t, s.DSN())
		run(t, migrate,
			"CREATE TABLE t (id INT PRIMARY KEY)",
			"ALTER TABLE t ADD COLUMN n INT, ADD INDEX (n)",
			"INSERT INTO t VALUES (1, 1)")
		run(t, app,
			"INSERT INTO t VALUES (2, 2)",
			"REPLACE INTO t VALUES (2, 3)",
			"UPDATE t SET n = 4",
			"DELETE FROM t WHERE id = 1")
		require.Equal(t, "4", query(t, connect(t, s.RootDSN()), "SELECT n FROM t"))
		for _, forbidden := range []string{
			"CREATE TABLE u (id INT)", "DROP TABLE t", "ALTER TABLE t DROP COLUMN n",
			"SET GLOBAL max_connections = 100", "CREATE DATABASE another",
		} {
			_, err := app.ExecContext(t.Context(), forbidden)
			require.NotZero(t, errorNumber(err), forbidden)
		}
		_, err := migrate.ExecContext(t.Context(), "CREATE DATABASE another")
		require.NotZero(t, errorNumber(err))
		run(t, migrate, "DROP TABLE t")
	}
}

func TestEachFleetHasAFreshDatabase(t *testing.T) {
	t.Parallel()
	one, two := testfleet.New(t, 1), testfleet.New(t, 1)
	require.NotEqual(t, one.Database, two.Database)
	run(t, one.Servers[0].DB(), "CREATE TABLE t (id INT)")
	require.Equal(t, "0", query(t, two.Servers[0].DB(),
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"))
}

func TestDatabaseIsDroppedAtCleanup(t *testing.T) {
	outer := testfleet.New(t, 1)
	var name string
	t.Run("Inner", func(t *testing.T) { name = testfleet.New(t, 1).Database })
	root := outer.Servers[0].DB()
	require.Equal(t, "0", query(t, root, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '"+name+"'"))
	require.Equal(t, "0", query(t, root, "SELECT COUNT(*) FROM mysql.db WHERE Db = '"+name+"'"))
}

func TestServersAreDurableAndNeutral(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	for name, want := range map[string]string{
		"innodb_flush_log_at_trx_commit": "1",
		"sync_binlog":                    "1",
		"auto_increment_increment":       "1",
		"auto_increment_offset":          "1",
		"skip_name_resolve":              "1",
		"performance_schema":             "0",
	} {
		require.Equal(t, want, query(t, s.DB(), "SELECT @@GLOBAL."+name), name)
	}
	require.Contains(t, query(t, s.DB(), "SELECT VERSION()"), s.Version())
	require.Contains(t, []testfleet.Flavor{testfleet.MySQL, testfleet.MariaDB}, s.Flavor())
}

func TestSecretsAreThePasswords(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	for _, dsn := range append(fleet.DSNs(), fleet.MigrateDSNs()...) {
		cfg, err := mysql.ParseDSN(dsn)
		require.NoError(t, err)
		require.Contains(t, testfleet.Secrets(), cfg.Passwd)
	}
}

func TestServersOfAFleetAreDifferent(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	require.NotEqual(t, identity(t, fleet.Servers[0]), identity(t, fleet.Servers[1]))
	require.NotEqual(t, fleet.Servers[0].Addr(), fleet.Servers[1].Addr())
}

// identity returns what tells one server from others.
func identity(t *testing.T, s *testfleet.Server) string {
	t.Helper()
	if s.Flavor() == testfleet.MySQL {
		return query(t, s.DB(), "SELECT @@server_uuid")
	}
	return query(t, s.DB(), "SELECT @@server_uid")
}

func TestServerOptions(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1, testfleet.ServerOptions("--binlog-format=STATEMENT", "--max-connections=77")).Servers[0]
	require.Equal(t, "77", query(t, s.DB(), "SELECT @@GLOBAL.max_connections"))
	require.Equal(t, "STATEMENT", query(t, s.DB(), "SELECT @@GLOBAL.binlog_format"))
}

func TestMixedFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2, testfleet.Versions("mysql", "mariadb"))
	require.Equal(t, testfleet.MySQL, fleet.Servers[0].Flavor())
	require.Equal(t, testfleet.MariaDB, fleet.Servers[1].Flavor())
}

func TestPrivateFleet(t *testing.T) {
	t.Parallel()
	shared := testfleet.New(t, 1).Servers[0]
	private := testfleet.New(t, 1, testfleet.Private()).Servers[0]
	require.NotEqual(t, identity(t, shared), identity(t, private))
	private.Restart() // although this test is parallel
	run(t, private.DB(), "CREATE TABLE t (id INT)")
}

func TestServerEnv(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1, testfleet.ServerEnv("TZ=Asia/Tokyo")).Servers[0]
	require.Equal(t, "JST", query(t, s.DB(), "SELECT @@GLOBAL.system_time_zone"))
}
