package ticket_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/internal/schema"
)

// A server whose clock is behind leaps to where its line is by the clock of the
// other one. A clock is here that of the sessions of accounts without special
// privileges; the start of the server stays the same, as its uptime goes by it, too.
func TestFenceLooksAtClockLinesAtTheLatestTimeOfAllServers(t *testing.T) {
	const day = 86400
	servers := clienttest.New(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	now := clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP()")
	line := schema.ClockLine{Base: 0, Birth: now - 30*day, Last: 1<<52 - 1}
	for _, s := range servers.Servers {
		clienttest.Exec(t, s, "UPDATE server SET ticket_base = 0, ticket_birth = ?", line.Birth)
		insertSequence(t, s, "a", 10, line)
	}
	two.SetGlobal("init_connect", "SET timestamp = UNIX_TIMESTAMP() + 10 * 86400")
	clienttest.ForceFence(t, one)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	clienttest.UntilUp(t, fleet, 0)
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	require.GreaterOrEqual(t, clienttest.Value(t, one, "SELECT rounds FROM sequences WHERE name = 'a'"), line.At(now+10*day))
	require.Greater(t, clienttest.Value(t, one, "SELECT MAX(id) FROM tickets"), 2*line.At(now+10*day))

	// Worker numbers are parked by the server's own time: leases go by it.
	lease := clienttest.Value(t, one, "SELECT longest_lease_ms FROM server")
	parked := clienttest.Value(t, one, "SELECT MIN(until_tick) + (SELECT epoch_ms FROM server) FROM workers")
	require.InDelta(t, now*1000+lease, parked, 2*3600*1000)
}
