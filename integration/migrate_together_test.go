package integration

import (
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
)

func TestUpsAtOnceMakeOneFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	for _, runs := range []int{2, 4} {
		forget(t, fleet.Servers...)
		errs := make(chan error, runs)
		for i := range runs {
			cfg := migrating(t, fleet.Servers[i%2], fleet.Servers[(i+1)%2])
			go func() {
				_, err := migrations.Up(t.Context(), cfg)
				errs <- err
			}()
		}
		for range runs {
			if err := <-errs; err != nil {
				require.ErrorIs(t, err, migrations.ErrLocked)
			}
		}
		requireFleet(t, fleet.Servers...)
		require.Equal(t, []string{"0 1", "1 1", "2 1", "3 1", "4 1", "5 1"}, facts(t, fleet.Servers[0])["migrations"], "nothing twice")
		requireUpToDate(t, migrating(t, fleet.Servers...))
	}
}

func TestWaitForAnotherMigrationEnds(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	holder, err := fleet.Servers[1].DB().Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, holder.Close()) }()
	var id, got int64
	require.NoError(t, holder.QueryRowContext(t.Context(),
		"SELECT CONNECTION_ID(), GET_LOCK(CONCAT('oddeven.migrate.', LEFT(SHA2(DATABASE(), 256), 32)), 0)").Scan(&id, &got))
	require.Equal(t, int64(1), got)
	cfg := migrating(t, fleet.Servers...)
	cfg.LockTimeout = 50 * time.Millisecond

	report, message := refused(t, migrations.ErrLocked, migrations.Up, cfg)

	require.Regexp(t, `locked by connection \d+ for more than 50ms\. Wait for the other migration to end, or end that connection \(KILL\) if nobody owns it`, message)
	require.Contains(t, message, text(t, fleet.Servers[1], "SELECT CONCAT('connection ', ?, ' for')", id))
	require.ErrorIs(t, report.Servers[0].Err, migrations.ErrWaiting)
	require.Empty(t, tables(t, fleet.Servers[1]), "nothing is done without the lock")
	require.Equal(t, "0", text(t, fleet.Servers[0], "SELECT COUNT(*) FROM server"))

	another := migrating(t, testfleet.New(t, 2).Servers...)
	another.LockTimeout = 50 * time.Millisecond
	succeed(t, migrations.Up, another) // of another database on the same servers

	cfg.LockTimeout = time.Minute
	done := make(chan error, 1)
	go func() {
		_, err := migrations.Up(t.Context(), cfg)
		done <- err
	}()
	_, err = holder.ExecContext(t.Context(), "DO RELEASE_ALL_LOCKS()")
	require.NoError(t, err)
	require.NoError(t, <-done)
	requireFleet(t, fleet.Servers...)
}

func TestUnreachableServerOfAFleetDoesNotKeepTheOthers(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	cfg := migrating(t, fleet.Servers...)
	succeed(t, migrations.Up, cfg)
	succeed(t, migrations.Down, cfg)
	fleet.Servers[1].Cut()

	report, err := perform(t, migrations.Up, cfg)

	var failed *migrations.FleetError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.Failed)
	require.Equal(t, 3, failed.Total)
	require.ErrorContains(t, err, "connection refused")
	require.ErrorContains(t, err, "Check that the server runs, and host and port in its DSN.")
	require.Equal(t, []migrations.State{migrations.StateMigrated, migrations.StateUnreachable, migrations.StateMigrated}, states(report))
	require.Equal(t, fleet.Servers[1].Addr()+"/"+fleet.Database, report.Servers[1].Server)

	fleet.Servers[1].Heal()
	report = succeed(t, migrations.Up, cfg)
	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateMigrated, migrations.StateUpToDate}, states(report))
	requireFleet(t, fleet.Servers...)
}

func TestNoOffsetIsAssignedWhileAServerIsUnreachable(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*testfleet.Server){
		"refuses": (*testfleet.Server).Cut, "is silent": (*testfleet.Server).Blackhole,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet := testfleet.New(t, 3)
			cfg := migrating(t, fleet.Servers...)
			for _, s := range cfg.Servers {
				s.Timeout = time.Second
			}
			fault(fleet.Servers[0])

			report, message := refused(t, migrations.ErrWaiting, migrations.Up, cfg)

			require.Contains(t, message, "has its tables, but gets no offset while "+fleet.Servers[0].Addr()+"/"+fleet.Database+" cannot be asked for theirs. Run `oddeven migrate up` again when every server answers.")
			require.Equal(t, []migrations.State{migrations.StateUnreachable, migrations.StateFailed, migrations.StateFailed}, states(report))
			for _, s := range fleet.Servers[1:] {
				require.Equal(t, "0", text(t, s, "SELECT COUNT(*) FROM server"))
			}
			fleet.Servers[0].Heal()
			report = succeed(t, migrations.Up, cfg)
			for i, s := range report.Servers {
				require.Equal(t, int64(i+1), s.Offset)
			}
			requireFleet(t, fleet.Servers...)
		})
	}
}

func TestServerJoinsOnlyWhenTheWholeFleetAnswers(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 3)
	cfg := migrating(t, fleet.Servers[:2]...)
	cfg.Settings.Increment = 3
	succeed(t, migrations.Up, cfg)
	fleet.Servers[1].Cut()
	report, _ := refused(t, migrations.ErrWaiting, migrations.Up, migrating(t, fleet.Servers...))
	require.Equal(t, []migrations.State{migrations.StateUpToDate, migrations.StateUnreachable, migrations.StateFailed}, states(report))
	fleet.Servers[1].Heal()
	require.Equal(t, int64(3), succeed(t, migrations.Up, migrating(t, fleet.Servers...)).Servers[2].Offset)
	requireFleet(t, fleet.Servers...)
}

func TestServersThatCannotBeUsedAreExplained(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	server := fleet.Servers[0]
	for name, c := range map[string]struct {
		change   func(*mysql.Config)
		messages []string
	}{
		"unknown host": {func(c *mysql.Config) { c.Addr = "no-such-host.invalid:3306" },
			[]string{"server no-such-host.invalid:3306/", "unknown host", "Check the host name in the DSN"}},
		"wrong password": {func(c *mysql.Config) { c.Passwd = "open sesame" },
			[]string{"access denied", "Check the user name and the password in its DSN."}},
		"missing database": {func(c *mysql.Config) {
			c.User, c.Passwd, c.DBName = rootOf(t, server), parse(t, server.RootDSN())[0].Passwd, "nowhere"
		},
			[]string{"no such database", "Create it (CREATE DATABASE) or correct the name"}},
		"application account": {func(c *mysql.Config) { *c = *server.Config() },
			[]string{"missing privilege", "CREATE command denied", "Grant the account what the README lists for it."}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := migrations.Config{Servers: []*mysql.Config{changed(t, server, c.change)}, Settings: migrations.Settings{Increment: 2}}
			_, err := perform(t, migrations.Up, cfg)
			for _, m := range c.messages {
				require.ErrorContains(t, err, m)
			}
			require.NotContains(t, err.Error(), "open sesame")
			require.Empty(t, tables(t, server))
		})
	}
}

func rootOf(t testing.TB, s *testfleet.Server) string {
	t.Helper()
	return parse(t, s.RootDSN())[0].User
}

func TestMissingPrivilegeIsNamed(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	server := fleet.Servers[0]
	cfg := migrating(t, server)
	database, account := " ON `"+fleet.Database+"`.*", "'"+cfg.Servers[0].User+"'@'%'"
	for _, privilege := range []string{"CREATE", "INSERT"} {
		forget(t, server)
		execute(t, server, "REVOKE "+privilege+database+" FROM "+account)
		_, err := perform(t, migrations.Up, cfg)
		require.ErrorContains(t, err, "missing privilege")
		require.ErrorContains(t, err, privilege+" command denied")
		execute(t, server, "GRANT "+privilege+database+" TO "+account)
		succeed(t, migrations.Up, cfg)
	}
	execute(t, server, "REVOKE DROP"+database+" FROM "+account)
	_, err := perform(t, migrations.Down, cfg)
	require.ErrorContains(t, err, "DROP command denied")
}

// Not parallel: changes a global variable.
func TestReadOnlyServerIsExplained(t *testing.T) {
	fleet := testfleet.New(t, 2)
	fleet.Servers[1].SetReadOnly(true)
	cfg := migrating(t, fleet.Servers...)
	report, message := refused(t, migrations.ErrWaiting, migrations.Up, cfg)
	require.Contains(t, message, "read-only")
	require.Contains(t, message, "Turn read_only off on it, or point the DSN at the primary.")
	require.Equal(t, migrations.StateFailed, report.Servers[1].State)
	fleet.Servers[1].SetReadOnly(false)
	succeed(t, migrations.Up, cfg)
	requireFleet(t, fleet.Servers...)
}

func TestUpWarnsOfANewFleetOfOneServer(t *testing.T) {
	t.Parallel()
	server := testfleet.New(t, 1).Servers[0]
	cfg := migrating(t, server)
	cfg.Settings.Increment = 0
	report := succeed(t, migrations.Up, cfg)
	require.Len(t, report.Warnings, 1)
	require.Contains(t, report.Warnings[0], "name all of them at once")
	require.Equal(t, int64(2), report.Increment)
	require.Empty(t, succeed(t, migrations.Up, cfg).Warnings, "an existing one")
}
