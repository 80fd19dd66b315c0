package integration

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
)

// mostStatements is far more than any command sends to one server, so that a loop over them ends.
const mostStatements = 200

// happened reports whether a cut was reached.
func happened(cut <-chan struct{}) bool {
	select {
	case <-cut:
		return true
	default:
		return false
	}
}

// prefixed matches statements that begin so.
func prefixed(prefix string) func(string) bool {
	return func(query string) bool { return strings.HasPrefix(query, prefix) }
}

// The connection is cut right after the k-th statement was carried out, for
// every k, until a run sends fewer statements.
func TestUpKilledAfterAnyStatementIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	server := fleet.Servers[0]
	cfg := migrating(t, server)
	cfg.Settings = migrations.Settings{Increment: 2, ShardBits: new(3), LongestLease: time.Minute}

	succeed(t, migrations.Up, cfg)
	wantSchema, wantFacts := schemaOf(t, server), facts(t, server)

	for k := 1; ; k++ {
		require.Less(t, k, mostStatements)
		forget(t, server)
		server.Mark()
		cut := server.CutReplyAt(k)
		_, err := perform(t, migrations.Up, cfg)
		if !happened(cut) {
			require.NoError(t, err)
			require.Greater(t, k, 20, "the cuts were counted")
			server.Heal()
			return
		}
		last := lastStatement(server)
		_, err = perform(t, migrations.Up, cfg)
		require.NoError(t, err, "after statement %d, %s", k, last)
		require.Equal(t, wantSchema, schemaOf(t, server), "after statement %d, %s", k, last)
		require.Equal(t, wantFacts, facts(t, server), "after statement %d, %s", k, last)
	}
}

// lastStatement is what the last cut was made at.
func lastStatement(s *testfleet.Server) string {
	all := s.Statements().Executed()
	if len(all) == 0 {
		return "none"
	}
	return all[len(all)-1].Query
}

// upSteps are statements of `up` in the order they are sent.
var upSteps = []string{
	"SELECT GET_LOCK", "CREATE TABLE IF NOT EXISTS `oddeven_migrations`", "CREATE TABLE IF NOT EXISTS `tickets`",
	"INSERT INTO `oddeven_migrations`", "SELECT `gen` FROM `server`", "INSERT INTO `server`", "INSERT INTO `workers`", "INSERT INTO `peers`", "COMMIT",
}

// Coarser than with one server: a cut before and after each kind of statement, on each of two.
func TestUpOfTwoKilledOnEitherLeavesOneFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	var wantFacts []map[string][]string
	for _, s := range fleet.Servers {
		wantFacts = append(wantFacts, facts(t, s))
	}
	for _, step := range upSteps {
		for i, victim := range fleet.Servers {
			forget(t, fleet.Servers...)
			var cut <-chan struct{}
			if last := step == "COMMIT"; last { // of the server's row, not of a migration
				rows := false
				cut = victim.CutReply(func(query string) bool {
					rows = rows || strings.Contains(query, "INSERT INTO `workers`")
					return rows && query == "COMMIT"
				})
			} else if i == 0 {
				cut = victim.CutReply(prefixed(step))
			} else {
				cut = victim.CutBeforeQuery(prefixed(step))
			}
			_, err := perform(t, migrations.Up, cfg)
			require.True(t, happened(cut), step)
			require.Error(t, err, step)
			victim.Heal()
			succeed(t, migrations.Up, cfg)
			requireFleet(t, fleet.Servers...)
			for j, s := range fleet.Servers {
				require.Equal(t, wantFacts[j], facts(t, s), "%s of %s", step, victim.Name)
			}
		}
	}
}

// The process itself is killed (SIGKILL) when it sends a statement.
func TestUpWhoseProcessIsKilledIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	cfg := migrating(t, fleet.Servers...)
	for _, step := range []string{"CREATE TABLE IF NOT EXISTS `sequences`", "INSERT INTO `workers`"} {
		forget(t, fleet.Servers...)
		sent := make(chan struct{})
		notice := sync.OnceFunc(func() { close(sent) })
		fleet.Servers[1].CutReply(func(query string) bool {
			if strings.HasPrefix(query, step) {
				notice()
			}
			return false // only watches
		})
		up := startProgram(t, []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.MigrateDSNs(), " ")}, "migrate", "up", "--verbose")
		await(t, sent, up)
		up.kill(t)
		fleet.Servers[1].Heal()
		succeed(t, migrations.Up, cfg)
		requireFleet(t, fleet.Servers...)
		requireUpToDate(t, cfg)
	}
}

// requireUpToDate fails the test if `up` finds anything to do.
func requireUpToDate(t testing.TB, cfg migrations.Config) {
	t.Helper()
	for _, s := range succeed(t, migrations.Up, cfg).Servers {
		require.Equal(t, migrations.StateUpToDate, s.State, s.Done)
		require.Empty(t, s.Done)
	}
}

// Down, too, may be cut anywhere.
func TestDownKilledAfterAnyStatementIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	server := testfleet.New(t, 1).Servers[0]
	cfg := migrating(t, server)
	for k := 1; ; k += 3 {
		require.Less(t, k, mostStatements)
		succeed(t, migrations.Up, cfg)
		cut := server.CutReplyAt(k)
		_, err := perform(t, to(0), cfg)
		if !happened(cut) {
			require.NoError(t, err)
			server.Heal()
			return
		}
		succeed(t, to(0), cfg)
		require.Equal(t, []string{"oddeven_migrations"}, tables(t, server))
		require.Equal(t, []string{"0"}, texts(t, server, "SELECT version_id FROM oddeven_migrations"))
	}
}
