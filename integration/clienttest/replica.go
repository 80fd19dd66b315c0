package clienttest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/replication"
	"github.com/oddeven/oddeven/integration/testfleet"
)

// Count is how many rows a table has, -1 if it is not there yet.
func Count(t testing.TB, s *testfleet.Server, table string) int64 {
	t.Helper()
	if Value(t, s, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table) == 0 {
		return -1
	}
	return Value(t, s, fmt.Sprintf("SELECT COUNT(*) FROM `%s`", table))
}

// Replicate makes replica follow source from now on. Both need a binary log and
// a server_id of their own.
func Replicate(t testing.TB, source, replica *testfleet.Server) {
	t.Helper()
	from := replication.Source{DB: source.DB(), Addr: source.PeerAddr(), Flavor: source.Flavor()}
	require.NoError(t, from.Follow(Bounded(t), replica.DB(), replication.Position{}))
}

// StopReplication makes the replica stand still, and writable as before.
func StopReplication(t testing.TB, replica *testfleet.Server) {
	t.Helper()
	require.NoError(t, replication.Stop(Bounded(t), replica.DB(), replica.Flavor()))
}
