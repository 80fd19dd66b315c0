package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
)

func TestUpMakesAFleetNumberedInTheOrderGiven(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, n)
			given := slices.Clone(fleet.Servers)
			slices.Reverse(given)
			cfg := migrating(t, given...)

			report := succeed(t, migrations.Up, cfg)

			require.Equal(t, int64(n), report.Increment)
			require.Equal(t, hexOf(t, given[0], "fleet"), report.Fleet)
			requireFleet(t, given...)
			for i, s := range given {
				got := report.Servers[i]
				require.Equal(t, migrations.StateMigrated, got.State)
				require.Equal(t, int64(i+1), got.Offset)
				require.Equal(t, hexOf(t, s, "identity"), got.Identity)
				require.Zero(t, got.Before)
				require.Equal(t, migrations.Latest(), got.Version)
				requireNewServer(t, s, i+1, n)
			}
			requireUpToDate(t, cfg)
			before := dump(t, given[0])
			succeed(t, migrations.Up, cfg)
			require.Equal(t, before, dump(t, given[0]), "up again changes nothing")
		})
	}
}

// requireNewServer checks the rows of a server of a new fleet with default settings.
func requireNewServer(t *testing.T, s *testfleet.Server, offset, increment int) {
	t.Helper()
	want := fmt.Sprintf("1 %d %d 0 time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z 1 %d %d 0 1 1 1   0 %d 0 0",
		offset, increment, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), (4 * time.Hour).Milliseconds(), int64(1)<<53-1)
	require.Equal(t, map[string][]string{
		"migrations": {"0 1", "1 1", "2 1", "3 1", "4 1", "5 1"},
		"server":     {want},
		"peers":      facts(t, s)["peers"], // requireFleet compares them
		"tickets":    nil,
		"sequences":  nil,
		"workers":    facts(t, s)["workers"],
	}, facts(t, s))
	var class []string
	for number := offset % increment; number < 1024; number += increment {
		class = append(class, fmt.Sprintf("%d 1 0 0", number))
	}
	require.Equal(t, class, texts(t, s, "SELECT CONCAT_WS(' ', number, gen, until_tick, parked_until) FROM workers ORDER BY number"),
		"every number of its class, free from the beginning")
	uuid := "server_uuid"
	if s.Flavor() == testfleet.MariaDB {
		uuid = "server_uid"
	}
	require.Equal(t, text(t, s, "SELECT @@GLOBAL."+uuid), text(t, s, "SELECT server_uuid FROM server"))
	require.Equal(t, []string{"oddeven_migrations", "peers", "sequences", "server", "tickets", "workers"}, tables(t, s))
}

func TestSettingsAreStoredOnEveryServer(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	cfg.Settings = migrations.Settings{Increment: 5, ShardBits: new(4), Layout: "sonyflake", LongestLease: 90 * time.Second}
	report := succeed(t, migrations.Up, cfg)
	require.Equal(t, int64(5), report.Increment)
	require.Equal(t, 4, report.ShardBits)
	for i, s := range fleet.Servers {
		require.Equal(t, fmt.Sprintf("%d 5 4 %s 10 90000 %d", i+1, report.Layout, int64(1)<<49-1),
			text(t, s, "SELECT CONCAT_WS(' ', server_offset, `increment`, shard_bits, layout, tick_ms, longest_lease_ms, ticket_ceiling) FROM server"))
		require.Equal(t, text(t, s, "SELECT COUNT(*) FROM workers"), text(t, s, "SELECT SUM(number % 5 = ?) FROM workers", (i+1)%5))
	}
	requireUpToDate(t, cfg)
	requireUpToDate(t, migrating(t, fleet.Servers...))
	requireUpToDate(t, migrating(t, fleet.Servers[1], fleet.Servers[0]))
}

func TestSettingsOtherThanTheFleetsAreRefusedAndNothingIsDone(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	known, fresh := fleet.Servers[:2], fleet.Servers[2]
	cfg := migrating(t, known...)
	cfg.Settings = migrations.Settings{Increment: 4, ShardBits: new(2), LongestLease: time.Hour}
	succeed(t, migrations.Up, cfg)
	before := dump(t, known[0])
	for _, c := range []struct {
		settings migrations.Settings
		message  string
	}{
		{migrations.Settings{Increment: 8}, "increment is 4, asked for 8"},
		{migrations.Settings{ShardBits: new(0)}, "shard bits is 2, asked for 0"},
		{migrations.Settings{LongestLease: 2 * time.Hour}, "longest lease is 1h0m0s, asked for 2h0m0s"},
		{migrations.Settings{Layout: "twitter"}, "layout is time:41,worker:10,sequence:10,shard:2;unit=1ms;epoch=2026-01-01T00:00:00Z, asked for "},
	} {
		cfg := migrating(t, fleet.Servers...)
		cfg.Settings = c.settings
		report, message := refused(t, migrations.ErrSettings, migrations.Up, cfg)
		require.Contains(t, message, c.message)
		require.Contains(t, message, "It was chosen for good when the fleet was made")
		require.Equal(t, []migrations.State{migrations.StateFailed, migrations.StateUntouched, migrations.StateUntouched}, states(report))
		require.Equal(t, before, dump(t, known[0]))
		require.Empty(t, tables(t, fresh), "nothing is done on a new server either")
	}
}

func TestStatusOfNewPendingAndMigratedServers(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	report := succeed(t, migrations.Status, cfg)
	require.Equal(t, []migrations.State{migrations.StateNew, migrations.StateNew}, states(report))
	require.Empty(t, report.Fleet)
	require.Empty(t, tables(t, fleet.Servers[0]), "status changes nothing")

	succeed(t, to(3), migrating(t, fleet.Servers[0]))
	report = succeed(t, migrations.Status, cfg)
	require.Equal(t, []migrations.State{migrations.StatePending, migrations.StateNew}, states(report))
	require.Equal(t, int64(3), report.Servers[0].Version)

	succeed(t, migrations.Up, cfg)
	before := dump(t, fleet.Servers[0])
	report = succeed(t, migrations.Status, cfg)
	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateUpToDate}, states(report))
	require.Equal(t, hexOf(t, fleet.Servers[1], "identity"), report.Servers[1].Identity)
	require.Equal(t, before, dump(t, fleet.Servers[0]))
}

func TestUpContinuesFromEveryVersion(t *testing.T) {
	t.Parallel()
	server := testfleet.New(t, 1).Servers[0]
	cfg := migrating(t, server)
	succeed(t, migrations.Up, cfg)
	wantSchema, wantFacts := schemaOf(t, server), facts(t, server)
	for version := range migrations.Latest() {
		forget(t, server)
		report := succeed(t, to(version), cfg)
		require.Equal(t, version, report.Servers[0].Version)
		require.Zero(t, report.Servers[0].Offset, "rows are made when the newest version is reached")
		require.Equal(t, migrations.StateMigrated, succeed(t, migrations.Up, cfg).Servers[0].State)
		require.Equal(t, wantSchema, schemaOf(t, server))
		require.Equal(t, wantFacts, facts(t, server))
	}
}

func TestDownAndUpOfAnUnusedFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	wantSchema, wantFacts, was := schemaOf(t, fleet.Servers[0]), facts(t, fleet.Servers[0]), hexOf(t, fleet.Servers[0], "fleet")
	for version := migrations.Latest() - 1; version >= 0; version-- {
		report := succeed(t, migrations.Down, cfg)
		for _, s := range report.Servers {
			require.Equal(t, migrations.StateMigrated, s.State)
			require.Equal(t, version, s.Version)
		}
	}
	require.Equal(t, []string{"oddeven_migrations"}, tables(t, fleet.Servers[0]))
	require.Equal(t, []migrations.State{migrations.StateNew, migrations.StateNew}, states(succeed(t, migrations.Status, cfg)))

	succeed(t, migrations.Up, cfg)
	require.Equal(t, wantSchema, schemaOf(t, fleet.Servers[0]))
	require.Equal(t, wantFacts["workers"], facts(t, fleet.Servers[0])["workers"])
	requireFleet(t, fleet.Servers...)
	require.NotEqual(t, was, hexOf(t, fleet.Servers[0], "fleet"), "a new fleet")
}

func TestDownPastAllocationsIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, allocate, message string
		version                 int64
	}{
		{"tickets", "REPLACE INTO tickets (stub) VALUES (7)", "tickets up to 1", 2},
		{"sequences", "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_by, created_at) " +
			"VALUES ('invoices', 0, 1, 0, 0, 1000000, '', 0, 0, 0, 0, 0, '', NOW())", "1 sequences", 3},
		{"workers", "UPDATE workers SET holder = 'held', until_tick = 1 ORDER BY number LIMIT 2", "2 worker numbers leased or parked", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := testfleet.New(t, 1).Servers[0]
			cfg := migrating(t, server)
			succeed(t, migrations.Up, cfg)
			execute(t, server, c.allocate)
			before := dump(t, server)
			for _, version := range []int64{c.version, 0} {
				for _, dry := range []bool{true, false} {
					cfg.DryRun = dry
					report, message := refused(t, migrations.ErrAllocations, to(version), cfg)
					require.Contains(t, message, "would lose the record of "+c.message)
					require.Contains(t, message, "--destroy-allocations")
					require.Equal(t, migrations.StateFailed, report.Servers[0].State)
					require.Equal(t, before, dump(t, server))
				}
			}
			cfg.DestroyAllocations = true
			succeed(t, to(0), cfg)
			require.Equal(t, []string{"oddeven_migrations"}, tables(t, server))
		})
	}
}

// What is drawn by a client counts, not only rows written by hand.
func TestDownPastDrawnTicketsIsRefused(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	draw(t, 10, fleet.Servers[1])
	report, message := refused(t, migrations.ErrAllocations, to(0), cfg)
	require.Contains(t, message, "would lose the record of tickets up to ")
	require.Equal(t, []migrations.State{migrations.StateUntouched, migrations.StateFailed}, states(report))
	require.NotEmpty(t, hexOf(t, fleet.Servers[0], "identity"), "all or none")
	require.NotEmpty(t, hexOf(t, fleet.Servers[1], "identity"))
}

func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	server := fleet.Servers[0]
	cfg := migrating(t, fleet.Servers...)
	cfg.DryRun = true
	for _, do := range []command{migrations.Up, to(3), migrations.Down, to(0)} {
		succeed(t, do, cfg)
		require.Empty(t, tables(t, server))
	}
	cfg.DryRun = false
	succeed(t, to(2), cfg)
	cfg.DryRun = true
	before := dump(t, server)
	for _, do := range []command{migrations.Up, to(1), migrations.Down} {
		report := succeed(t, do, cfg)
		require.Equal(t, []migrations.State{migrations.StatePlanned, migrations.StatePlanned}, states(report))
		require.NotEmpty(t, report.Servers[0].SQL)
		require.Equal(t, before, dump(t, server))
	}
	cfg.DryRun = false
	succeed(t, migrations.Up, cfg)
	execute(t, server, "DELETE FROM workers WHERE number > 1000")
	execute(t, server, "DELETE FROM peers")
	cfg.DryRun = true
	before = dump(t, server)
	for _, do := range []command{migrations.Up, migrations.Down, to(0)} {
		succeed(t, do, cfg)
		require.Equal(t, before, dump(t, server))
	}
}

func TestDryRunSQLMadeByHandGivesTheSameFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	cfg.Settings.ShardBits = new(3)
	succeed(t, migrations.Up, cfg)
	var wantSchema []map[string]string
	var wantFacts []map[string][]string
	for _, s := range fleet.Servers {
		wantSchema, wantFacts = append(wantSchema, schemaOf(t, s)), append(wantFacts, facts(t, s))
	}
	forget(t, fleet.Servers...)
	cfg.DryRun = true
	for i, planned := range succeed(t, migrations.Up, cfg).Servers {
		byHand := changed(t, fleet.Servers[i], func(c *mysql.Config) { c.MultiStatements = true })
		run(t, byHand, strings.Join(planned.SQL, ";\n"))
	}
	for i, s := range fleet.Servers {
		got := schemaOf(t, s)
		for table, definition := range wantSchema[i] {
			if table != "oddeven_migrations" { // kept by goose itself
				require.Equal(t, definition, got[table])
			}
		}
	}
	cfg.DryRun = false
	succeed(t, migrations.Up, cfg) // takes what is there
	for i, s := range fleet.Servers {
		require.Equal(t, wantSchema[i], schemaOf(t, s))
		require.Equal(t, wantFacts[i], facts(t, s))
	}
	requireFleet(t, fleet.Servers...)
}

func TestMissingWorkerNumbersAreAddedParked(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	server := fleet.Servers[0]
	cfg := migrating(t, fleet.Servers...)
	cfg.Settings.LongestLease = time.Hour
	succeed(t, migrations.Up, cfg)
	execute(t, server, "UPDATE server SET gen = 7") // as after fences
	execute(t, server, "DELETE FROM workers WHERE number IN (3, 11, 1023)")
	clock := value(t, server, "SELECT UNIX_TIMESTAMP()")

	report := succeed(t, migrations.Up, cfg)

	require.Equal(t, []string{"add 3 missing worker numbers, parked for 1h0m0s"}, report.Servers[0].Done)
	require.Equal(t, "512", text(t, server, "SELECT COUNT(*) FROM workers"))
	epoch := value(t, server, "SELECT epoch_ms FROM server")
	parked := texts(t, server, "SELECT CONCAT_WS(' ', number, gen, until_tick = parked_until) FROM workers WHERE until_tick >= ? ORDER BY number",
		(clock+3600)*1000-epoch)
	require.Equal(t, []string{"3 7 1", "11 7 1", "1023 7 1"}, parked, "nobody knows whether they are leased")
	requireUpToDate(t, cfg)
}

func TestMissingRecordsOfPeersAreWrittenAgain(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	execute(t, fleet.Servers[0], "DELETE FROM peers WHERE server_offset = 3")
	execute(t, fleet.Servers[1], "UPDATE peers SET gen = 9, started_at = 1 WHERE server_offset = 1")
	succeed(t, migrations.Up, cfg)
	require.Equal(t, []string{"2 1", "3 1"}, texts(t, fleet.Servers[0], "SELECT CONCAT_WS(' ', server_offset, gen) FROM peers ORDER BY server_offset"))
	require.Equal(t, []string{"9 1"}, texts(t, fleet.Servers[1], "SELECT CONCAT_WS(' ', gen, started_at) FROM peers WHERE server_offset = 1"), "never lowered")
}

// run executes SQL on a connection of its own.
func run(t testing.TB, cfg *mysql.Config, query string) {
	t.Helper()
	require.NoError(t, try(t, cfg, query))
}
