package integration

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

// command is one of the commands of package migrations.
type command func(context.Context, migrations.Config) (*migrations.Report, error)

// to is migrations.To as a command.
func to(version int64) command {
	return func(ctx context.Context, cfg migrations.Config) (*migrations.Report, error) {
		return migrations.To(ctx, cfg, version)
	}
}

// adopt is migrations.Adopt as a command.
func adopt(table string) command {
	return func(ctx context.Context, cfg migrations.Config) (*migrations.Report, error) {
		return migrations.Adopt(ctx, cfg, table)
	}
}

// migrating is the configuration of the migrating account.
func migrating(t testing.TB, servers ...*testfleet.Server) migrations.Config {
	t.Helper()
	dsns := make([]string, len(servers))
	for i, s := range servers {
		dsns[i] = s.MigrateDSN()
	}
	cfg := migrations.Config{Servers: parse(t, dsns...)}
	if len(servers) == 1 {
		cfg.Settings.Increment = 2 // a new fleet of one server has to say so
	}
	return cfg
}

// perform runs a command and fails the test if anything it says holds a password.
func perform(t testing.TB, do command, cfg migrations.Config) (*migrations.Report, error) {
	t.Helper()
	var log bytes.Buffer
	cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	report, err := do(bounded(t), cfg)
	requireNoSecrets(t, log.String(), fmt.Sprintf("%+v", report), fmt.Sprintf("%v %+v %q", err, err, err))
	return report, err
}

// succeed is perform for a command that must succeed on every server.
func succeed(t testing.TB, do command, cfg migrations.Config) *migrations.Report {
	t.Helper()
	report, err := perform(t, do, cfg)
	require.NoError(t, err)
	return report
}

// refused is perform for a command that must fail with kind; it returns the report and the message.
func refused(t testing.TB, kind error, do command, cfg migrations.Config) (*migrations.Report, string) {
	t.Helper()
	report, err := perform(t, do, cfg)
	require.ErrorIs(t, err, kind)
	return report, err.Error()
}

// requireNoSecrets fails the test if a text holds a password of testfleet.
func requireNoSecrets(t testing.TB, texts ...string) {
	t.Helper()
	for _, secret := range testfleet.Secrets() {
		for _, text := range texts {
			if strings.Contains(text, secret) {
				t.Fatalf("a password was put out: %s", strings.ReplaceAll(text, secret, "(PASSWORD)"))
			}
		}
	}
}

// states are the states of a report's servers.
func states(r *migrations.Report) []migrations.State {
	all := make([]migrations.State, len(r.Servers))
	for i, s := range r.Servers {
		all[i] = s.State
	}
	return all
}

// texts reads one column as root.
func texts(t testing.TB, s *testfleet.Server, query string, args ...any) []string {
	t.Helper()
	rows, err := s.DB().QueryContext(bounded(t), query, args...)
	require.NoError(t, err, query)
	defer func() { require.NoError(t, rows.Close()) }()
	var all []string
	for rows.Next() {
		var text sql.NullString
		require.NoError(t, rows.Scan(&text))
		all = append(all, text.String)
	}
	require.NoError(t, rows.Err())
	return all
}

// text reads one value as root.
func text(t testing.TB, s *testfleet.Server, query string, args ...any) string {
	t.Helper()
	all := texts(t, s, query, args...)
	require.Len(t, all, 1, query)
	return all[0]
}

// hexOf reads a binary column of the server's row.
func hexOf(t testing.TB, s *testfleet.Server, column string) string {
	t.Helper()
	return text(t, s, "SELECT LOWER(HEX("+column+")) FROM server")
}

// tables are the names of the tables there are.
func tables(t testing.TB, s *testfleet.Server) []string {
	t.Helper()
	return texts(t, s, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY BINARY TABLE_NAME")
}

var counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// schemaOf is the definition of every table, without counters.
func schemaOf(t testing.TB, s *testfleet.Server) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range tables(t, s) {
		var name, definition string
		require.NoError(t, s.DB().QueryRowContext(bounded(t), "SHOW CREATE TABLE `"+table+"`").Scan(&name, &definition))
		all[table] = counter.ReplaceAllString(definition, "")
	}
	return all
}

// dump is everything in the database: definitions, counters and rows.
func dump(t testing.TB, s *testfleet.Server) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables(t, s) {
		var name, definition string
		require.NoError(t, s.DB().QueryRowContext(bounded(t), "SHOW CREATE TABLE `"+table+"`").Scan(&name, &definition))
		fmt.Fprintf(&b, "%s\n", definition)
		columns := texts(t, s, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION", table)
		for i, c := range columns {
			columns[i] = "IFNULL(HEX(`" + c + "`), 'NULL')"
		}
		list := strings.Join(columns, ", ")
		for _, row := range texts(t, s, "SELECT CONCAT_WS(',', "+list+") FROM `"+table+"` ORDER BY 1") {
			fmt.Fprintf(&b, "  %s\n", row)
		}
	}
	return b.String()
}

// facts are the rows that `migrate up` has written, without what is random or a time.
func facts(t testing.TB, s *testfleet.Server) map[string][]string {
	t.Helper()
	return map[string][]string{
		"migrations": texts(t, s, "SELECT CONCAT_WS(' ', version_id, is_applied) FROM oddeven_migrations ORDER BY id"),
		"server": texts(t, s, "SELECT CONCAT_WS(' ', id, server_offset, `increment`, shard_bits, layout, tick_ms, epoch_ms, longest_lease_ms, "+
			"single_writer, min_client, gen, ISNULL(fenced_at), fence_reason, fenced_by, ticket_base, ticket_ceiling, ticket_hour_round, ticket_peak) FROM server"),
		"peers":     texts(t, s, "SELECT CONCAT_WS(' ', server_offset, gen, ISNULL(retired_at)) FROM peers ORDER BY server_offset"),
		"tickets":   texts(t, s, "SELECT CONCAT_WS(' ', stub, id) FROM tickets ORDER BY stub"),
		"sequences": texts(t, s, "SELECT name FROM sequences"),
		"workers": texts(t, s, "SELECT CONCAT_WS(' ', COUNT(*), MIN(number), MAX(number), COUNT(DISTINCT number % (SELECT `increment` FROM server)), "+
			"MIN(gen), MAX(gen), MAX(until_tick), MAX(parked_until), MAX(from_tick), SUM(holder IS NOT NULL)) FROM workers"),
	}
}

// requireFleet fails the test unless the servers are one fleet: one identity,
// identities and offsets of their own, and each in the records of all others.
func requireFleet(t testing.TB, servers ...*testfleet.Server) {
	t.Helper()
	fleets, identities, offsets := map[string]bool{}, map[string]int{}, map[string]bool{}
	for i, s := range servers {
		fleets[hexOf(t, s, "fleet")] = true
		identities[hexOf(t, s, "identity")] = i
		offsets[text(t, s, "SELECT server_offset FROM server")] = true
	}
	require.Len(t, fleets, 1, "one fleet")
	require.Len(t, identities, len(servers), "identities")
	require.Len(t, offsets, len(servers), "offsets")
	for i, s := range servers {
		for identity, j := range identities {
			if i == j {
				continue
			}
			other := servers[j]
			require.Equal(t,
				text(t, other, "SELECT CONCAT_WS(' ', server_offset, gen, server_uuid, started_at) FROM server"),
				text(t, s, "SELECT CONCAT_WS(' ', server_offset, gen, server_uuid, started_at) FROM peers WHERE identity = UNHEX(?)", identity),
				"%s's record of %s", s.Name, other.Name)
		}
	}
}

// forget drops every table of a server.
func forget(t testing.TB, servers ...*testfleet.Server) {
	t.Helper()
	for _, s := range servers {
		if all := tables(t, s); len(all) > 0 {
			execute(t, s, "DROP TABLE `"+strings.Join(all, "`, `")+"`")
		}
	}
}

// lastTicket is the largest ticket that a server may have issued.
func lastTicket(t testing.TB, s *testfleet.Server) int64 {
	t.Helper()
	return value(t, s, "SELECT COALESCE(MAX(id), 0) FROM tickets")
}

// changed is a copy of a server's configuration for the migrating account with something changed.
func changed(t testing.TB, s *testfleet.Server, change func(*mysql.Config)) *mysql.Config {
	t.Helper()
	cfg := parse(t, s.MigrateDSN())[0]
	change(cfg)
	return cfg
}

// try executes SQL on a connection of its own.
func try(t testing.TB, cfg *mysql.Config, query string) error {
	t.Helper()
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.ExecContext(bounded(t), query)
	return err
}

// patience bounds every wait of a test: long, because machines are slow.
const patience = time.Minute

// bounded is a context that ends with the test or after patience.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func parse(t testing.TB, dsns ...string) []*mysql.Config {
	t.Helper()
	configs := make([]*mysql.Config, len(dsns))
	for i, dsn := range dsns {
		cfg, err := mysql.ParseDSN(dsn)
		require.NoError(t, err)
		configs[i] = cfg
	}
	return configs
}

// openTickets opens a client of the application's account, and closes it at the end of the test.
func openTickets(t testing.TB, servers ...*testfleet.Server) *ticket.Fleet {
	t.Helper()
	cfg := ticket.Config{Conns: 2}
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, s.Config())
	}
	fleet, err := ticket.Open(bounded(t), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fleet.Close()) })
	return fleet
}

// draw draws n tickets through one client of the given servers.
func draw(t testing.TB, n int, servers ...*testfleet.Server) []int64 {
	t.Helper()
	ids := make([]int64, n)
	require.NoError(t, openTickets(t, servers...).NextN(bounded(t), ids))
	return ids
}

// value reads one number as root.
func value(t testing.TB, s *testfleet.Server, query string, args ...any) int64 {
	t.Helper()
	var v int64
	require.NoError(t, s.DB().QueryRowContext(bounded(t), query, args...).Scan(&v), query)
	return v
}

// execute runs a statement as root.
func execute(t testing.TB, s *testfleet.Server, query string, args ...any) {
	t.Helper()
	_, err := s.DB().ExecContext(bounded(t), query, args...)
	require.NoError(t, err, query)
}
