package bench

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/recipes"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/account"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const (
	step     = 1000 // IDs of a segment, with all that reserve segments
	poolSize = 16   // connections of what is not ours: what an application has
)

const (
	lineDo      = "DO 1"
	lineTickets = "tickets, one server"
	lineRefill  = "refill"
)

// serverCallers are how many callers ask servers at the same time.
var serverCallers = []int{1, 16, 64}

// newFleet returns n migrated servers of a flavour, as durable as they can be.
func newFleet(t testing.TB, n int, flavor string) []*testfleet.Server {
	var opts []testfleet.Option
	if flavor != "" {
		opts = append(opts, testfleet.Versions(flavor))
	}
	fleet := testfleet.New(t, n, opts...)
	for _, s := range fleet.Servers {
		var atCommit, syncBinlog int
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.sync_binlog").Scan(&atCommit, &syncBinlog))
		require.Equal(t, []int{1, 1}, []int{atCommit, syncBinlog}, "full durability of "+s.Name)
	}
	migrate(t, parse(t, fleet.MigrateDSNs()...)...)
	return fleet.Servers
}

func migrate(t testing.TB, servers ...*mysql.Config) {
	_, err := migrations.Up(t.Context(), migrations.Config{Servers: servers})
	require.NoError(t, err)
}

// alone makes a fleet of its own on one of the servers, in a second database, so
// that what it issues is not mixed with what the fleet of two does. It returns the
// application's way there.
func alone(t testing.TB, s *testfleet.Server) *mysql.Config {
	admin, app := parse(t, s.MigrateDSN())[0], direct(t, s)[0]
	name := app.DBName + "alone"
	admin.DBName, app.DBName = name, name
	for _, query := range []string{
		"CREATE DATABASE `" + name + "`",
		account.Grant(admin.User, account.MigratePrivileges, name), account.Grant(app.User, account.AppPrivileges, name),
	} {
		_, err := s.DB().ExecContext(t.Context(), query)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		_, err := s.DB().ExecContext(context.WithoutCancel(t.Context()), "DROP DATABASE `"+name+"`")
		require.NoError(t, err)
	})
	migrate(t, admin)
	return app
}

func parse(t testing.TB, dsns ...string) []*mysql.Config {
	configs := make([]*mysql.Config, len(dsns))
	for i, dsn := range dsns {
		var err error
		configs[i], err = mysql.ParseDSN(dsn)
		require.NoError(t, err)
	}
	return configs
}

// direct are the application's ways to servers, without the proxies of the tests.
func direct(t testing.TB, servers ...*testfleet.Server) []*mysql.Config {
	dsns := make([]string, len(servers))
	for i, s := range servers {
		dsns[i] = s.DirectDSN()
	}
	configs := parse(t, dsns...)
	for _, cfg := range configs {
		cfg.Logger = &mysql.NopLogger{} // of connections that a kill broke
	}
	return configs
}

func openTickets(t testing.TB, servers ...*mysql.Config) *ticket.Fleet {
	fleet, err := ticket.Open(t.Context(), ticket.Config{Servers: servers})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fleet.Close()) })
	for _, s := range fleet.Stats().Servers {
		require.Equal(t, ticket.StateUp, s.State, s.Server)
	}
	return fleet
}

// openGenerator opens a sequence through the facade, with a worker in reserve.
func openGenerator(t testing.TB, servers []*mysql.Config, name string, cfg segment.Config) *oddeven.Generator {
	client, err := oddeven.Open(t.Context(), oddeven.Config{Servers: servers, Segment: cfg})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	g, err := client.Sequence(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, client.Ready(t.Context()))
	return g
}

// openPool opens a pool of the application's account.
func openPool(t testing.TB, s *testfleet.Server) *sql.DB {
	cfg := direct(t, s)[0]
	cfg.InterpolateParams = true // saves round trips
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(poolSize)
	return db
}

// servers measures what asks servers of one flavour.
func (o Options) servers(t testing.TB, flavor string) *group {
	servers := newFleet(t, 2, flavor)
	one := servers[0]
	g := &group{title: title(one), unit: "statement", callers: serverCallers}
	fmt.Fprintf(o.Progress, "%s\n", g.title)
	lines := append(ourStatements(t, servers), theirStatements(t, one)...)
	for _, l := range lines {
		g.lines = append(g.lines, l.line)
	}
	for _, callers := range g.callers {
		require.NoError(t, o.rounds(t.Context(), lines, callers))
	}
	for _, l := range lines {
		l.look()
	}
	if o.Kill {
		fmt.Fprintf(o.Progress, "  drawing around a SIGKILL\n")
		require.NoError(t, survive(t.Context(), lines, func() {
			one.Restart()
		}))
	}
	return g
}

// title names the kind of a server: "MariaDB 10.11.19".
func title(s *testfleet.Server) string {
	name := "MySQL"
	if s.Flavor() == testfleet.MariaDB {
		name = "MariaDB"
	}
	version, _, _ := strings.Cut(s.Version(), "-")
	return name + " " + version
}

func ourStatements(t testing.TB, servers []*testfleet.Server) []*draw {
	db, tickets, two := openPool(t, servers[0]), openTickets(t, alone(t, servers[0])), openTickets(t, direct(t, servers...)...)
	_, err := sequence.Create(t.Context(), tickets, sequence.Spec{Name: recipes.Name})
	require.NoError(t, err)
	source, err := segment.NewSource(tickets, recipes.Name)
	require.NoError(t, err)
	return []*draw{
		{line: newLine(lineDo, "", "raw limit: one round trip, nothing written", 0), next: func(ctx context.Context) (int64, error) {
			_, err := db.ExecContext(ctx, "DO 1")
			return 0, err
		}},
		{line: newLine(lineTickets, lineDo, "ticket.Fleet.Next: callers share a statement", 1), next: tickets.Next, stride: 2},
		{line: newLine("tickets, two servers", lineTickets, "the same, in turn from two servers", 1), next: two.Next, stride: 2},
		{line: newLine(lineRefill, lineDo, "segment.Source.Reserve: a segment of 1,000 IDs", step), stride: 1, next: func(ctx context.Context) (int64, error) {
			r, err := source.Reserve(ctx, 0, step)
			if err != nil {
				return 0, err
			}
			return r.First / r.Stride, nil
		}},
	}
}

func theirStatements(t testing.TB, one *testfleet.Server) []*draw {
	require.NoError(t, recipes.FlickrTable(t.Context(), one.DB(), "InnoDB"))
	require.NoError(t, recipes.FlickrTable(t.Context(), one.DB(), "MyISAM"))
	require.NoError(t, recipes.SegmentTables(t.Context(), one.DB(), step))
	db := openPool(t, one)
	return []*draw{
		{line: newLine("Flickr, InnoDB", lineTickets, "REPLACE, SELECT LAST_INSERT_ID(): an ID", 1), next: recipes.NewFlickr(db, "InnoDB").Next, stride: 1},
		{line: newLine("Flickr, MyISAM", lineTickets, "the same, in the engine of the original, which does not sync", 1), next: recipes.NewFlickr(db, "MyISAM").Next, stride: 1},
		{line: newLine("Leaf", lineRefill, "BEGIN, UPDATE, SELECT, COMMIT: a segment of 1,000 IDs", step), next: recipes.NewLeaf(db).Next, stride: 1},
		{line: newLine("CosId", lineRefill, "BEGIN, UPDATE, SELECT, COMMIT: a segment of 1,000 IDs", step), next: recipes.NewCosID(db, step).Next, stride: 1},
		{line: newLine("tinyid", lineRefill, "BEGIN, SELECT, UPDATE of that version, COMMIT: a segment of 1,000 IDs; a conflict is tried again at once", step), next: recipes.NewTinyid(db).Next, stride: 1},
	}
}
