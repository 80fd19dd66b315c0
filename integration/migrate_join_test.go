package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
)

// used makes a fleet with room for one more, which has issued tickets, a
// sequence and nothing else.
func used(t *testing.T, servers ...*testfleet.Server) (tickets []int64) {
	t.Helper()
	cfg := migrating(t, servers...)
	cfg.Settings = migrations.Settings{Increment: int64(len(servers)) + 1, LongestLease: time.Hour}
	succeed(t, migrations.Up, cfg)
	execute(t, servers[0], "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_by, created_at, deleted_at) "+
		"VALUES ('invoices', 5000, 1, 0, UNIX_TIMESTAMP(), 9007199254740991, 'for people', 0, 0, 0, 0, 0, '', NOW(), NULL), "+
		"('gone', 70, 1, 70, UNIX_TIMESTAMP() + 7200, 1000000, '', 0, 0, 0, 0, 0, '', NOW(), NOW())")
	for _, s := range servers {
		tickets = append(tickets, draw(t, 50, s)...)
	}
	return tickets
}

// line is the ticket clock line of a server at its time, in rounds.
func line(t testing.TB, s *testfleet.Server) int64 {
	t.Helper()
	return value(t, s, "SELECT ticket_base + FLOOR((UNIX_TIMESTAMP() + 3600 - ticket_birth) * "+
		"(((ticket_ceiling DIV `increment`) - 1 - ticket_base) / (36525.0 * 86400))) FROM server")
}

// requireAbove checks that a server that has joined starts above everything.
func requireAbove(t *testing.T, joined *testfleet.Server, tickets []int64, known *testfleet.Server) {
	t.Helper()
	highest, lowest := line(t, known), value(t, joined, "SELECT (tickets.id - server_offset) DIV `increment` FROM tickets JOIN server WHERE stub = 0")
	require.GreaterOrEqual(t, lowest, highest, "its tickets start at the clock line")
	for _, id := range draw(t, 20, joined) {
		require.Greater(t, id, slices.Max(tickets))
		require.Equal(t, value(t, joined, "SELECT server_offset % `increment` FROM server"), id%value(t, joined, "SELECT `increment` FROM server"))
	}
	clock := value(t, joined, "SELECT UNIX_TIMESTAMP()")
	require.Equal(t, "0", text(t, joined, "SELECT COUNT(*) FROM workers JOIN server WHERE until_tick < (? + 3600 - 30) * 1000 - epoch_ms OR parked_until <> until_tick", clock),
		"its worker numbers are parked for one longest lease")
}

func TestNoServerJoinsWhileASequenceIsHeldBack(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	known, fresh := fleet.Servers[:2], fleet.Servers[2]
	used(t, known...)
	execute(t, known[0], "UPDATE sequences SET gen = 0 WHERE name = 'invoices'")
	report, message := refused(t, migrations.ErrWaiting, migrations.Up, migrating(t, fleet.Servers...))
	require.Contains(t, message, `sequence "invoices" is held back`)
	require.Equal(t, migrations.StateFailed, report.Servers[2].State)
	require.Zero(t, value(t, fresh, "SELECT COUNT(*) FROM server"))
	execute(t, known[0], "UPDATE sequences SET gen = 1 WHERE name = 'invoices'") // as bump does
	succeed(t, migrations.Up, migrating(t, fleet.Servers...))
}

func TestServerThatJoinsStartsAboveEverything(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	known, fresh := fleet.Servers[:2], fleet.Servers[2]
	tickets := used(t, known...)

	report := succeed(t, migrations.Up, migrating(t, fleet.Servers...))

	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateUpToDate, migrations.StateMigrated}, states(report))
	require.Equal(t, int64(3), report.Servers[2].Offset)
	requireFleet(t, fleet.Servers...)
	requireAbove(t, fresh, tickets, known[0])
	require.Equal(t, "1", text(t, fresh, "SELECT rounds > 5000 FROM sequences WHERE name = 'invoices'"), "above the clock line")
	for _, name := range []string{"invoices", "gone"} {
		state := "SELECT CONCAT_WS(' ', base, birth, ceiling) FROM sequences WHERE name = '" + name + "'"
		require.Equal(t, text(t, known[0], state), text(t, fresh, state), "the same clock line as everywhere")
	}
	require.Equal(t, "for people 9007199254740991", text(t, fresh, "SELECT CONCAT_WS(' ', description, ceiling) FROM sequences WHERE name = 'invoices'"))
	require.Equal(t, "1", text(t, fresh, "SELECT rounds >= 70 AND deleted_at IS NOT NULL FROM sequences WHERE name = 'gone'"), "tombstones too")
	require.Equal(t, "341", text(t, known[0], "SELECT COUNT(*) FROM workers WHERE until_tick = 0"), "the others are as they were")
	requireUpToDate(t, migrating(t, fleet.Servers...))
	draw(t, 30, fleet.Servers...)
}

func TestServerThatJoinsAnUnusedFleetStartsAtTheBeginning(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	cfg := migrating(t, fleet.Servers[:2]...)
	cfg.Settings.Increment = 3
	succeed(t, migrations.Up, cfg)
	succeed(t, migrations.Up, migrating(t, fleet.Servers...))
	requireFleet(t, fleet.Servers...)
	require.Equal(t, []string{"0", "0"}, texts(t, fleet.Servers[2], "SELECT MAX(until_tick) FROM workers UNION ALL SELECT COUNT(*) FROM tickets"))
	require.Equal(t, []int64{3, 6, 9}, draw(t, 3, fleet.Servers[2]))
}

// Whoever names only a part of the fleet does not know which offsets are free.
func TestNoServerJoinsAPartOfTheFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	cfg := migrating(t, fleet.Servers[:2]...)
	cfg.Settings.Increment = 4
	succeed(t, migrations.Up, cfg)

	_, message := refused(t, migrations.ErrOffsets, migrations.Up, migrating(t, fleet.Servers[0], fleet.Servers[2]))

	require.Contains(t, message, "which is not named here")
	require.Contains(t, message, "Name all servers of the fleet")
	require.Equal(t, "0", text(t, fleet.Servers[2], "SELECT COUNT(*) FROM server"))
	succeed(t, migrations.Up, migrating(t, fleet.Servers...))
	requireFleet(t, fleet.Servers...)
}

func TestReplacingADeadServer(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	alive, dead, fresh := fleet.Servers[0], fleet.Servers[1], fleet.Servers[2]
	cfg := migrating(t, alive, dead)
	cfg.Settings.LongestLease = time.Hour
	succeed(t, migrations.Up, cfg)
	tickets := draw(t, 50, dead) // only the dead one has issued
	cfg = migrating(t, alive, fresh)

	report, message := refused(t, migrations.ErrOffsets, migrations.Up, cfg)

	require.Contains(t, message, fmt.Sprintf("no offset can be given away: offset 2 belongs to server %s, which is not named here", hexOf(t, dead, "identity")))
	require.Contains(t, message, "--retired OFFSET")
	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateFailed}, states(report))
	require.Equal(t, "0", text(t, fresh, "SELECT COUNT(*) FROM server"))

	cfg.Retired = []int64{2}
	report = succeed(t, migrations.Up, cfg)
	require.Equal(t, int64(2), report.Servers[1].Offset)
	require.Contains(t, report.Servers[0].Done, fmt.Sprintf("retire server %s of offset 2", hexOf(t, dead, "identity")))
	require.Equal(t, []string{"0", "1"}, texts(t, alive, "SELECT ISNULL(retired_at) FROM peers WHERE server_offset = 2 ORDER BY retired_at IS NULL"))
	require.Equal(t, hexOf(t, dead, "identity"), text(t, alive, "SELECT LOWER(HEX(identity)) FROM peers WHERE retired_at IS NOT NULL"))
	requireFleet(t, alive, fresh)
	requireAbove(t, fresh, tickets, alive)
	requireUpToDate(t, migrating(t, alive, fresh))

	_, message = refused(t, migrations.ErrOffsets, migrations.Up, migrating(t, alive, dead, fresh))
	require.Contains(t, message, "has the same offset 2 as")
}

// A server that has issued nothing does not hide how far the dead one may have been.
func TestReplacementStartsAboveTheLineOfAnUnusedServer(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	alive, dead, fresh := fleet.Servers[0], fleet.Servers[1], fleet.Servers[2]
	succeed(t, migrations.Up, migrating(t, alive, dead))
	for _, s := range []*testfleet.Server{alive, dead} { // the fleet is ten years old
		execute(t, s, "UPDATE server SET ticket_birth = ticket_birth - 10 * 31557600")
	}
	cfg := migrating(t, alive, fresh)
	cfg.Retired = []int64{2}
	succeed(t, migrations.Up, cfg)
	requireAbove(t, fresh, []int64{0}, alive)
}

func TestIncrementTooSmall(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	cfg := migrating(t, fleet.Servers...)
	cfg.Settings.Increment = 2
	report, err := perform(t, migrations.Up, cfg)
	require.Nil(t, report)
	require.ErrorContains(t, err, "Increment = 2: is less than the number of servers, 3; each server needs an offset of its own")
	require.Empty(t, tables(t, fleet.Servers[0]))

	succeed(t, migrations.Up, migrating(t, fleet.Servers[:2]...))
	before := dump(t, fleet.Servers[0])
	_, message := refused(t, migrations.ErrOffsets, migrations.Up, migrating(t, fleet.Servers...))
	require.Contains(t, message, "2 offsets, 1 new servers, too few free: 1 is taken by ")
	require.Equal(t, before, dump(t, fleet.Servers[0]))
}

func TestSameServerGivenTwiceIsRefused(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	server := fleet.Servers[0]
	otherProxy := testfleet.New(t, 1).Servers[0].Addr()
	for name, change := range map[string]func(*mysql.Config){
		"same DSN":            func(*mysql.Config) {},
		"another host name":   func(c *mysql.Config) { c.Addr = "localhost" + c.Addr[len("127.0.0.1"):] },
		"through other proxy": func(c *mysql.Config) { c.Addr = otherProxy },
		"around the proxies":  func(c *mysql.Config) { c.Addr = parse(t, server.DirectDSN())[0].Addr },
		"another account":     func(c *mysql.Config) { *c = *parse(t, server.RootDSN())[0] },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := migrating(t, server)
			cfg.LockTimeout = 100 * time.Millisecond // it would wait for itself
			cfg.Servers = append(cfg.Servers, changed(t, server, change))
			for _, do := range []command{migrations.Up, migrations.Status, to(3), adopt("flickr")} {
				report, message := refused(t, migrations.ErrSameServer, do, cfg)
				require.Contains(t, message, "given twice. Remove one of the DSNs that lead to it.")
				require.Equal(t, migrations.StateUntouched, report.Servers[0].State)
				require.Empty(t, tables(t, server))
			}
		})
	}
}

func TestServersOfTwoFleetsAreRefused(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	for _, s := range fleet.Servers {
		succeed(t, migrations.Up, migrating(t, s))
	}
	before := dump(t, fleet.Servers[0])
	cfg := migrating(t, fleet.Servers...)
	for _, do := range []command{migrations.Up, migrations.Status, migrations.Down, adopt("flickr")} {
		_, message := refused(t, migrations.ErrMixedFleets, do, cfg)
		require.Contains(t, message, fmt.Sprintf("belongs to fleet %s, %s/%s to fleet %s",
			hexOf(t, fleet.Servers[1], "fleet"), fleet.Servers[0].Addr(), fleet.Database, hexOf(t, fleet.Servers[0], "fleet")))
		require.Equal(t, before, dump(t, fleet.Servers[0]))
	}
}

func TestRowsThatClashAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  string
		kind    error
		message string
	}{
		"offset":        {"server_offset = 1", migrations.ErrOffsets, "has the same offset 1 as"},
		"identity":      {"server_offset = 1, identity = UNHEX(?)", migrations.ErrSameServer, "has the same identity"},
		"increment":     {"`increment` = 7", migrations.ErrMixedFleets, "its row says increment 7, not the 2 of"},
		"shard bits":    {"shard_bits = 7", migrations.ErrMixedFleets, "its row says shard bits 7, not the 0 of"},
		"layout":        {"layout = 'other'", migrations.ErrMixedFleets, `its row says layout "other", not the "time:41`},
		"longest lease": {"longest_lease_ms = 1000", migrations.ErrMixedFleets, "its row says longest lease 1s, not the 4h0m0s of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, 2)
			cfg := migrating(t, fleet.Servers...)
			succeed(t, migrations.Up, cfg)
			var args []any
			if name == "identity" {
				args = append(args, hexOf(t, fleet.Servers[0], "identity"))
			}
			execute(t, fleet.Servers[1], "UPDATE server SET "+c.change, args...)
			before := dump(t, fleet.Servers[1])
			for _, do := range []command{migrations.Up, migrations.Status, migrations.Down} {
				_, message := refused(t, c.kind, do, cfg)
				require.Contains(t, message, c.message)
				require.Equal(t, before, dump(t, fleet.Servers[1]))
			}
		})
	}
}
