package integration

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
)

// flickr makes a ticket table of Flickr's kind whose last number is last.
func flickr(t testing.TB, s *testfleet.Server, table, engine string, last uint64) {
	t.Helper()
	execute(t, s, "CREATE TABLE "+table+" (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, stub CHAR(1) NOT NULL DEFAULT '', PRIMARY KEY (id), UNIQUE KEY stub (stub)) ENGINE="+engine)
	execute(t, s, "REPLACE INTO "+table+" (id, stub) VALUES (?, 'a')", last)
}

// issue draws from such a table as its writers do.
func issue(t testing.TB, s *testfleet.Server, table string) error {
	t.Helper()
	return try(t, s.Config(), "REPLACE INTO "+table+" (stub) VALUES ('a')")
}

// requireTicketsAbove checks that every server issues tickets of its class above a number.
func requireTicketsAbove(t testing.TB, top int64, servers ...*testfleet.Server) {
	t.Helper()
	for i, s := range servers {
		for _, id := range draw(t, 10, s) {
			require.Greater(t, id, top, s.Name)
			require.Equal(t, int64(i+1)%2, id%2)
		}
	}
}

func TestAdoptStartsAboveTheLargestOfAllServers(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"MyISAM", "InnoDB"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, 2)
			cfg := migrating(t, fleet.Servers...)
			succeed(t, migrations.Up, cfg)
			flickr(t, fleet.Servers[0], "Tickets64", engine, 72157623227190423)
			flickr(t, fleet.Servers[1], "Tickets64", engine, 15)
			_, message := refused(t, migrations.ErrAdopt, adopt("Tickets64"), cfg)
			require.Contains(t, message, "tickets cannot start above 72157623227190423")
			require.Contains(t, message, "Numbers of oddeven stay below 2^53")
			require.Contains(t, tables(t, fleet.Servers[0]), "Tickets64", "refused before anything is renamed")
			execute(t, fleet.Servers[0], "DROP TABLE Tickets64")
			flickr(t, fleet.Servers[0], "Tickets64", engine, 5_000_001)
			require.NoError(t, issue(t, fleet.Servers[1], "Tickets64"))

			report := succeed(t, adopt("Tickets64"), cfg)

			for _, s := range report.Servers {
				require.Equal(t, []string{"rename `Tickets64` to `Tickets64_adopted`", "start tickets above 5000001"}, s.Done)
				require.Equal(t, migrations.StateMigrated, s.State)
			}
			for _, s := range fleet.Servers {
				require.ErrorContains(t, issue(t, s, "Tickets64"), "doesn't exist", "a forgotten writer fails")
				require.GreaterOrEqual(t, value(t, s, "SELECT ticket_hour_round FROM server"), int64(2_500_000), "it is no use of this hour")
			}
			before := dump(t, fleet.Servers[1])
			for _, s := range succeed(t, adopt("Tickets64"), cfg).Servers {
				require.Equal(t, migrations.StateUpToDate, s.State)
				require.Empty(t, s.Done)
			}
			require.Equal(t, before, dump(t, fleet.Servers[1]), "again changes nothing")
			requireTicketsAbove(t, 5_000_001, fleet.Servers...)

			drawn := slices.Max(draw(t, 100, fleet.Servers...))
			succeed(t, adopt("Tickets64"), cfg)
			requireTicketsAbove(t, drawn-200, fleet.Servers...)
		})
	}
}

// Numbers that a forgotten writer draws until the moment of the rename count:
// on every server the table is renamed before any server's tickets are raised.
func TestAdoptRenamesBeforeItRaises(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	both(t, fleet.Servers[0], fleet.Servers[1], 1000, 2000)
	cut := fleet.Servers[1].CutBeforeQuery(prefixed("RENAME TABLE"))
	_, err := perform(t, adopt("old"), cfg)
	require.Error(t, err)
	require.True(t, happened(cut))
	require.ErrorContains(t, issue(t, fleet.Servers[0], "old"), "doesn't exist")
	for _, s := range fleet.Servers {
		require.Zero(t, lastTicket(t, s), "nothing is raised while the table of %s can be written to", fleet.Servers[1].Name)
	}
	for range 20 {
		require.NoError(t, issue(t, fleet.Servers[1], "old"))
	}
	succeed(t, adopt("old"), cfg)
	requireTicketsAbove(t, 2020, fleet.Servers...)
}

// A number counts that was given out and whose row is gone.
func TestAdoptCountsTheCounterAndNotOnlyRows(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"MyISAM", "InnoDB"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			server := testfleet.New(t, 1).Servers[0]
			cfg := migrating(t, server)
			succeed(t, migrations.Up, cfg)
			flickr(t, server, "old", engine, 777_777)
			execute(t, server, "DELETE FROM old")
			succeed(t, adopt("old"), cfg)
			requireTicketsAbove(t, 777_777, server)
		})
	}
}

func TestAdoptFromAnotherDatabase(t *testing.T) {
	t.Parallel()
	fleet, other := testfleet.New(t, 2), testfleet.New(t, 2) // on the same servers, with the same accounts
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	for i, s := range other.Servers {
		flickr(t, s, "tickets", "InnoDB", uint64(1000*i+1000)) // one of our names, elsewhere
	}
	report := succeed(t, adopt(other.Database+".tickets"), cfg)
	require.Equal(t, "rename `"+other.Database+"`.`tickets` to `"+other.Database+"`.`tickets_adopted`", report.Servers[0].Done[0])
	require.Equal(t, []string{"tickets_adopted"}, tables(t, other.Servers[1]))
	requireTicketsAbove(t, 2000, fleet.Servers...)
}

func TestAdoptDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	var before []string
	for _, s := range fleet.Servers {
		flickr(t, s, "old", "InnoDB", 1000)
		before = append(before, dump(t, s))
	}
	cfg.DryRun = true
	report := succeed(t, adopt("old"), cfg)
	for i, s := range report.Servers {
		require.Equal(t, migrations.StatePlanned, s.State)
		require.Equal(t, "RENAME TABLE `old` TO `old_adopted`", s.SQL[0])
		require.Equal(t, before[i], dump(t, fleet.Servers[i]))
		for _, query := range s.SQL {
			execute(t, fleet.Servers[i], query)
		}
	}
	cfg.DryRun = false
	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateUpToDate}, states(succeed(t, adopt("old"), cfg)), "by hand it comes to the same")
	requireTicketsAbove(t, 1000, fleet.Servers...)
}

func TestAdoptRefusesBeforeItRenames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(one, two *testfleet.Server)
		table   string
		message string
	}{
		"table missing on one server": {func(one, _ *testfleet.Server) { flickr(t, one, "old", "InnoDB", 10) },
			"old", "has no table `old`. Name the table as SHOW TABLES does"},
		"no such database": {func(_, _ *testfleet.Server) {}, "oddeven_nowhere.old", ""},
		"no counter": {func(one, two *testfleet.Server) {
			flickr(t, one, "old", "InnoDB", 10)
			execute(t, two, "CREATE TABLE old (id BIGINT PRIMARY KEY COMMENT 'not AUTO_INCREMENT')")
		}, "old", "table `old` has no AUTO_INCREMENT column. Name the table that tickets are drawn from."},
		"our own": {func(_, _ *testfleet.Server) {}, "tickets", "table `tickets` is one of oddeven's own."},
		"2^53":    {func(one, two *testfleet.Server) { both(t, one, two, 10, 1<<53) }, "old", "tickets cannot start above 9007199254740992"},
		"2^63":    {func(one, two *testfleet.Server) { both(t, one, two, 1<<63, 10) }, "old", "tickets cannot start above 9223372036854775807"},
		"2^64-2":  {func(one, two *testfleet.Server) { both(t, one, two, 10, 1<<64-2) }, "old", "tickets cannot start above 9223372036854775807"},
		"no room": {func(one, two *testfleet.Server) { both(t, one, two, 1<<53-2, 10) }, "old", "tickets cannot start above 9007199254740990"},
		"its new name is taken": {func(one, two *testfleet.Server) {
			both(t, one, two, 10, 10)
			execute(t, two, "CREATE TABLE old_adopted (id INT)")
		}, "old", "has a table `old` and a table `old_adopted`. The first is renamed to the second."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, 2)
			cfg := migrating(t, fleet.Servers...)
			succeed(t, migrations.Up, cfg)
			c.prepare(fleet.Servers[0], fleet.Servers[1])
			before := []string{dump(t, fleet.Servers[0]), dump(t, fleet.Servers[1])}
			_, err := perform(t, adopt(c.table), cfg)
			require.ErrorContains(t, err, c.message)
			for i, s := range fleet.Servers {
				require.Equal(t, before[i], dump(t, s))
			}
			draw(t, 2, fleet.Servers...)
		})
	}
}

func both(t testing.TB, one, two *testfleet.Server, a, b uint64) {
	t.Helper()
	flickr(t, one, "old", "InnoDB", a)
	flickr(t, two, "old", "InnoDB", b)
}

func TestAdoptNeedsTheWholeFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	_, message := refused(t, migrations.ErrAdopt, adopt("old"), cfg)
	require.Contains(t, message, "belongs to no fleet yet. Run `oddeven migrate up` first.")
	succeed(t, migrations.Up, cfg)
	both(t, fleet.Servers[0], fleet.Servers[1], 100, 200)
	fleet.Servers[1].Cut()
	report, message := refused(t, migrations.ErrAdopt, adopt("old"), cfg)
	require.Contains(t, message, "left alone because of "+fleet.Servers[1].Addr())
	require.Equal(t, []migrations.State{migrations.StateFailed, migrations.StateUnreachable}, states(report))
	require.NoError(t, issue(t, fleet.Servers[0], "old"))
}

// The connection to one server is cut after every statement in turn; nothing
// is ever lowered, so every round takes over a table that is further.
func TestAdoptKilledAfterAnyStatementIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	for _, victim := range fleet.Servers {
		for k := 1; ; k++ {
			require.Less(t, k, mostStatements)
			table := fmt.Sprintf("old_%s_%d", victim.Name[len("server "):len("server ")+1], k)
			top := max(lastTicket(t, fleet.Servers[0]), lastTicket(t, fleet.Servers[1])) + 1000
			flickr(t, fleet.Servers[0], table, "InnoDB", 7)
			flickr(t, fleet.Servers[1], table, "InnoDB", uint64(top))
			cut := victim.CutReplyAt(k)
			_, err := perform(t, adopt(table), cfg)
			reached := happened(cut)
			if reached {
				last := lastStatement(victim)
				_, err = perform(t, adopt(table), cfg)
				require.NoError(t, err, "after statement %d, %s", k, last)
			}
			require.NoError(t, err)
			for _, s := range fleet.Servers {
				require.Contains(t, tables(t, s), table+"_adopted")
				require.NotContains(t, tables(t, s), table)
				require.Greater(t, lastTicket(t, s), top)
			}
			if !reached {
				victim.Heal()
				break
			}
		}
	}
	requireTicketsAbove(t, 1000, fleet.Servers...)
}
