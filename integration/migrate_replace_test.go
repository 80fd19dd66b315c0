package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// replace puts fresh in the place of the server with offset 2.
func replace(t testing.TB, alive, fresh *testfleet.Server) {
	t.Helper()
	cfg := migrating(t, alive, fresh)
	cfg.Retired = []int64{2}
	succeed(t, migrations.Up, cfg)
}

// drawSequence draws n IDs of a sequence through a client of its own.
func drawSequence(t testing.TB, name string, n int, servers ...*testfleet.Server) []int64 {
	t.Helper()
	a, err := segment.Open(bounded(t), openTickets(t, servers...), name, segment.Config{MinStep: 1000, MaxStep: 1000})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	ids := make([]int64, n)
	require.NoError(t, a.NextN(bounded(t), ids))
	return ids
}

// drawMany is draw for more than fit in one call.
func drawMany(t testing.TB, n int, s *testfleet.Server) []int64 {
	t.Helper()
	var all []int64
	for chunk := range slices.Chunk(make([]int64, n), ticket.MaxN) {
		all = append(all, draw(t, len(chunk), s)...)
	}
	return all
}

// The dead server has issued more than the one that is left knows, and more than
// an hour at the rate of the clock line, but less than is used in an hour.
func TestReplacementPastTheClockLineOfASequenceStartsAbove(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	alive, dead, fresh := fleet.Servers[0], fleet.Servers[1], fleet.Servers[2]
	succeed(t, migrations.Up, migrating(t, alive, dead))
	for _, s := range []*testfleet.Server{alive, dead} {
		execute(t, s, "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_by, created_at) "+
			"VALUES ('narrow', 1 << 28, 1, 0, UNIX_TIMESTAMP(), 2147483647, '', 0, 1 << 28, 0, 0, 0, '', NOW())")
	}
	drawSequence(t, "narrow", 60_000, alive, dead)
	held := drawSequence(t, "narrow", 5_000, dead)

	replace(t, alive, fresh)

	require.Greater(t, slices.Min(drawSequence(t, "narrow", 10_000, fresh)), slices.Max(held))
}

// As above, for tickets.
func TestReplacementPastTheClockLineOfTicketsStartsAbove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alive int   // tickets drawn from the one that is left
		peak  int64 // its busiest hour
		dead  int   // tickets drawn from the other one
	}{
		"not yet levelled": {alive: 2_000, dead: 10_000},
		"busiest hour":     {alive: 2_000, peak: 40_000, dead: 30_000},
		"this hour":        {alive: 15_000, dead: 28_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, 3)
			alive, dead, fresh := fleet.Servers[0], fleet.Servers[1], fleet.Servers[2]
			succeed(t, migrations.Up, migrating(t, alive, dead))
			for _, s := range []*testfleet.Server{alive, dead} { // an hour of the line is 1,225 rounds
				execute(t, s, "UPDATE server SET ticket_ceiling = 2147483647")
			}
			drawMany(t, c.alive, alive)
			execute(t, alive, "UPDATE server SET ticket_peak = ?", c.peak)
			held := drawMany(t, c.dead, dead)

			replace(t, alive, fresh)

			require.Greater(t, slices.Min(draw(t, 100, fresh)), slices.Max(held))
			require.Equal(t, "1", text(t, fresh, "SELECT ticket_peak = 0 AND ticket_hour_round = (tickets.id - server_offset) DIV `increment` FROM server JOIN tickets WHERE stub = 0"),
				"the leap is no use")
		})
	}
}

// setClock moves the clock of a server, as accounts without special privileges see it.
func setClock(s *testfleet.Server, seconds int64) {
	s.SetGlobal("init_connect", fmt.Sprintf("SET timestamp = UNIX_TIMESTAMP() + %d", seconds))
}

// The clock of the dead server is not known; it may have been as far as any.
func TestWorkerNumbersAreParkedByTheLatestClockOfAllServers(t *testing.T) {
	fleet := testfleet.New(t, 3)
	alive, dead, fresh := fleet.Servers[0], fleet.Servers[1], fleet.Servers[2]
	cfg := migrating(t, alive, dead)
	cfg.Settings.LongestLease = time.Hour
	succeed(t, migrations.Up, cfg)
	setClock(alive, 1500)
	end := (value(t, fresh, "SELECT UNIX_TIMESTAMP()") + 1500 + 3600) * 1000

	replace(t, alive, fresh)

	end -= value(t, fresh, "SELECT epoch_ms FROM server")
	require.Zero(t, value(t, fresh, "SELECT COUNT(*) FROM workers WHERE until_tick < ? OR parked_until < ?", end, end))

	execute(t, fresh, "DELETE FROM workers WHERE number = 2")
	succeed(t, migrations.Up, migrating(t, alive, fresh))
	require.Equal(t, int64(1), value(t, fresh, "SELECT COUNT(*) FROM workers WHERE number = 2 AND until_tick >= ? AND parked_until >= ?", end, end), "put back")
}

func TestNoServerJoinsWhileTheClocksAreFarApart(t *testing.T) {
	fleet := testfleet.New(t, 3)
	known := fleet.Servers[:2]
	for _, s := range []*testfleet.Server{known[0], fleet.Servers[2]} {
		setClock(s, 2000)
	}
	cfg := migrating(t, known...)
	cfg.Settings.Increment = 3
	report, message := refused(t, migrations.ErrClocks, migrations.Up, cfg)
	require.Regexp(t, `gets no offset while the clocks of the servers are (199\d|200\d) seconds apart\. Set the clocks, and run .oddeven migrate up. again\.`, message)
	require.Equal(t, []migrations.State{migrations.StateFailed, migrations.StateFailed}, states(report), "no fleet is made")
	for _, s := range known {
		require.Equal(t, "0", text(t, s, "SELECT COUNT(*) FROM server"))
	}
	known[0].SetGlobal("init_connect", "")
	succeed(t, migrations.Up, cfg)

	report, _ = refused(t, migrations.ErrClocks, migrations.Up, migrating(t, fleet.Servers...))
	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateUpToDate, migrations.StateFailed}, states(report))
	setClock(fleet.Servers[2], 1500)
	succeed(t, migrations.Up, migrating(t, fleet.Servers...))
	setClock(known[0], -7200)
	requireUpToDate(t, migrating(t, fleet.Servers...))
}
