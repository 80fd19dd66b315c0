package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

// openError is why a client of the application's account cannot open the fleet.
func openError(t testing.TB, servers ...*testfleet.Server) string {
	t.Helper()
	var cfg ticket.Config
	for _, s := range servers {
		cfg.Servers = append(cfg.Servers, s.Config())
	}
	fleet, err := ticket.Open(bounded(t), cfg)
	if err == nil {
		require.NoError(t, fleet.Close())
	}
	require.Error(t, err)
	requireNoSecrets(t, err.Error())
	return err.Error()
}

func TestClientRefusesAnOlderSchemaAndSaysWhatToRun(t *testing.T) {
	t.Parallel()
	server := testfleet.New(t, 1).Servers[0]
	cfg := migrating(t, server)
	message := openError(t, server)
	require.Contains(t, message, "has no oddeven schema")
	require.Contains(t, message, "oddeven migrate up")

	succeed(t, to(3), cfg)
	message = openError(t, server)
	require.Contains(t, message, "belongs to no fleet yet")
	require.Contains(t, message, "oddeven migrate up")

	succeed(t, migrations.Up, cfg)
	draw(t, 1, server)
	succeed(t, migrations.Down, cfg) // drops workers, of which none is leased
	message = openError(t, server)
	require.Contains(t, message, "schema version 4 is older than the 5 this build needs")
	require.Contains(t, message, "oddeven migrate up")

	succeed(t, migrations.Up, cfg)
	draw(t, 1, server)
}

func TestNewerSchemaIsRefusedByMigrateAndUsedByClients(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	server := fleet.Servers[1]
	execute(t, server, "INSERT INTO oddeven_migrations (version_id, is_applied) VALUES (?, 1)", migrations.Latest()+1)
	before := dump(t, server)
	for _, do := range []command{migrations.Up, migrations.Down, to(2), adopt("flickr")} {
		report, message := refused(t, migrations.ErrNewerSchema, do, migrating(t, server))
		require.Contains(t, message, "its schema has version 6, this build knows 5. Use the oddeven that made it, or a newer one.")
		require.Equal(t, migrations.StateFailed, report.Servers[0].State)
		require.Equal(t, before, dump(t, server))
	}
	draw(t, 10, server)

	execute(t, server, "UPDATE server SET min_client = ?", schema.Client+1)
	message := openError(t, server)
	require.Contains(t, message, "schema version 6 asks for client protocol 2, this build speaks 1. Update oddeven in this application.")
}

func TestTableOfOurNameThatIsNotOursIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, table := range schema.Tables() {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, 1)
			server := fleet.Servers[0]
			execute(t, server, "CREATE TABLE `"+table+"` (id INT PRIMARY KEY, precious TEXT) COMMENT='theirs'")
			execute(t, server, "INSERT INTO `"+table+"` VALUES (1, 'data')")
			before := dump(t, server)
			for _, destroy := range []bool{false, true} {
				cfg := migrating(t, server)
				cfg.DestroyAllocations = destroy
				for _, do := range []command{migrations.Up, migrations.Down, to(0), migrations.Status} {
					_, message := refused(t, migrations.ErrForeignTable, do, cfg)
					require.Contains(t, message, `has a table "`+table+`" that oddeven did not make`)
					require.Contains(t, message, "Give oddeven a database of its own")
					require.Equal(t, before, dump(t, server))
				}
			}
		})
	}
}
