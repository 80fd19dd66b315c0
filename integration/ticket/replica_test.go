package ticket_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/ticket"
)

// A replica that had not received everything becomes the server: it has
// forgotten what its source issued last.
func TestLaggingReplicaPromoted(t *testing.T) {
	for _, alive := range []bool{false, true} {
		name := map[bool]string{false: "OldPrimaryDead", true: "OldPrimaryStillWritable"}[alive]
		t.Run(name, func(t *testing.T) {
			servers := testfleet.New(t, 3, testfleet.ServerOptions("--log-bin=binlog", "--binlog-format=ROW"))
			source, two, replica := servers.Servers[0], servers.Servers[1], servers.Servers[2]
			for i, s := range servers.Servers {
				s.SetGlobal("server_id", i+1)
			}
			clienttest.Replicate(t, source, replica)
			clienttest.Migrate(t, source, two)
			l := &ledger{}
			old := clienttest.Open(t, clienttest.Config(t, source.DSN(), two.DSN()))
			l.draw(t, old, 200)
			clienttest.Until(t, "replicated", func() bool {
				return clienttest.Count(t, replica, "tickets") == clienttest.Count(t, source, "tickets") && clienttest.Value(t, replica, "SELECT COALESCE(MAX(id), 0) FROM tickets") == clienttest.Value(t, source, "SELECT MAX(id) FROM tickets")
			})
			clienttest.StopReplication(t, replica) // from here on it lags
			l.draw(t, old, 2000)
			if !alive {
				source.Kill()
			}

			cfg := clienttest.Config(t, replica.DSN(), two.DSN())
			promoted := clienttest.Open(t, cfg)
			l.draw(t, promoted, 20)
			require.True(t, clienttest.Refused(promoted, 0), "%v", promoted.Stats().Servers[0].Err)
			require.NoError(t, ticket.Accept(clienttest.Bounded(t), cfg, dsn.Label(replica.Config())))
			clienttest.UntilUp(t, promoted, 0)
			l.draw(t, promoted, 500)
			require.Positive(t, promoted.Stats().Servers[0].Issued)
			l.draw(t, old, 500) // a client that still talks to the old primary, or cannot
			l.requireUnique(t)
			if alive {
				late := clienttest.Open(t, clienttest.Config(t, source.DSN(), two.DSN()))
				l.draw(t, late, 20)
				require.True(t, clienttest.Refused(late, 0), "the old primary is out for everybody who starts now")
				l.requireUnique(t)
			}
		})
	}
}
