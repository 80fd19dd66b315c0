package clienttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/ticket"
)

// OpenCopy opens a client that uses a second copy of a server besides another
// server, accepted by an operator who is wrong about it where that is needed, and
// waits until the copy is up. The copy is server 0 of the client.
func OpenCopy(t testing.TB, twin, other *testfleet.Server) *ticket.Fleet {
	t.Helper()
	cfg := Config(t, twin.DSN(), other.DSN())
	fleet := Open(t, cfg)
	if Refused(fleet, 0) {
		require.NoError(t, ticket.Accept(Bounded(t), cfg, dsn.Label(cfg.Servers[0])))
	}
	UntilUp(t, fleet, 0)
	return fleet
}
