package testfleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// started returns the second at which a server was started, by its own clock.
func started(t *testing.T, s *testfleet.Server) string {
	t.Helper()
	schema := "information_schema.GLOBAL_STATUS"
	if s.Flavor() == testfleet.MySQL {
		schema = "performance_schema.global_status"
	}
	return query(t, s.DB(), "SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM "+schema+" WHERE VARIABLE_NAME = 'UPTIME'")
}

func TestKillAndStart(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app, _ := newTable(t, s)
	run(t, app, "INSERT INTO t VALUES (1)")
	conn := oneConn(t, app)

	s.Kill()

	require.Error(t, conn.PingContext(t.Context()))
	_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
	require.ErrorContains(t, err, "connection refused")
	require.Error(t, s.DB().PingContext(t.Context()))

	s.Start()

	require.Equal(t, "1", query(t, app, "SELECT COUNT(*) FROM t"), "what was committed is there")
	run(t, app, "INSERT INTO t VALUES (2)")
}

func TestStopAndRestart(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	addr, who := s.Addr(), identity(t, s)
	s.Stop()
	require.Error(t, app.PingContext(t.Context()))
	s.Start()
	s.Restart()
	run(t, app, "INSERT INTO t VALUES (1)")
	require.Equal(t, "1", query(t, root, "SELECT COUNT(*) FROM t"))
	require.Equal(t, addr, s.Addr())
	require.Equal(t, who, identity(t, s))
}

func TestPauseAndResume(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	conn := oneConn(t, app)

	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := root.ExecContext(ctx, "INSERT INTO t VALUES (1)")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	answer := make(chan error, 1)
	go func() { // waits as long as it takes
		_, err := conn.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
		answer <- err
	}()

	s.Resume()
	require.NoError(t, <-answer, "the connection was frozen, not broken")
	s.Pause() // cleanup resumes it, and the next test finds it well
}

func TestPausedServerCanBeKilledAndStopped(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	s.Pause()
	s.Kill()
	s.Start()
	s.Pause()
	s.Stop()
	s.Start()
	require.NoError(t, s.DB().PingContext(t.Context()))
}

func TestRestartFromSnapshot(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app, _ := newTable(t, s)
	run(t, app, "INSERT INTO t VALUES (1)")
	who := identity(t, s)
	snapshot := s.Snapshot()
	run(t, app, "INSERT INTO t VALUES (2)")

	s.RestartFrom(snapshot)

	require.Equal(t, "1", query(t, app, "SELECT MAX(id) FROM t"), "it has forgotten")
	require.Equal(t, who, identity(t, s), "and does not know")
	run(t, app, "INSERT INTO t VALUES (3)")
	s.RestartFrom(snapshot) // a snapshot serves more than once
	require.Equal(t, "1", query(t, app, "SELECT MAX(id) FROM t"))
}

func TestSnapshotOfStoppedServer(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app, _ := newTable(t, s)
	run(t, app, "INSERT INTO t VALUES (1)")
	s.Stop()
	snapshot := s.Snapshot()
	s.Start()
	run(t, app, "INSERT INTO t VALUES (2)")
	s.RestartFrom(snapshot)
	require.Equal(t, "1", query(t, app, "SELECT MAX(id) FROM t"))
}

func TestStartCopy(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app, _ := newTable(t, s)
	run(t, app, "INSERT INTO t VALUES (1)")

	twin := s.StartCopy(s.Snapshot())

	other := connect(t, twin.DSN())
	run(t, other, "INSERT INTO t VALUES (2)")
	run(t, app, "INSERT INTO t VALUES (3)")
	require.Equal(t, "2", query(t, other, "SELECT MAX(id) FROM t"))
	require.Equal(t, "3", query(t, app, "SELECT MAX(id) FROM t"))
	require.NotEqual(t, s.Addr(), twin.Addr())
	if s.Flavor() == testfleet.MySQL {
		require.Equal(t, identity(t, s), identity(t, twin), "both take themselves for the one")
	}
	twin.Kill()
	twin.Start()
}

func TestRestartChangesStart(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	before := started(t, s)
	require.Eventually(t, func() bool { return query(t, s.DB(), "SELECT UNIX_TIMESTAMP() - 1") > before }, 5*time.Second, 50*time.Millisecond)
	s.Restart()
	require.NotEqual(t, before, started(t, s))
}

func TestGlobals(t *testing.T) {
	before := make(map[string]string)
	names := []string{"read_only", "auto_increment_increment", "sql_mode", "long_query_time"}
	value := func(t *testing.T, s *testfleet.Server, name string) string {
		return query(t, s.DB(), "SELECT @@GLOBAL."+name)
	}
	fleetOf(t, "Set", func(t *testing.T, s *testfleet.Server) {
		for _, name := range names {
			before[name] = value(t, s, name)
		}
		s.SetGlobal("auto_increment_increment", 7)
		s.SetGlobal("auto_increment_increment", 9)
		s.SetGlobal("sql_mode", "ANSI")
		s.SetGlobal("long_query_time", 2.5)
		require.Equal(t, "9", value(t, s, "auto_increment_increment"))
		require.Contains(t, value(t, s, "sql_mode"), "ANSI")
	})
	fleetOf(t, "SetReadOnly", func(t *testing.T, s *testfleet.Server) {
		app, _ := newTable(t, s)
		s.SetReadOnly(true)
		_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		require.EqualValues(t, 1290, errorNumber(err))
		s.SetReadOnly(false)
		run(t, app, "INSERT INTO t VALUES (1)")
		s.SetReadOnly(true)
	})
	fleetOf(t, "Restored", func(t *testing.T, s *testfleet.Server) {
		for _, name := range names {
			require.Equal(t, before[name], value(t, s, name), name)
		}
	})
}

// fleetOf runs a subtest on a fleet of one.
func fleetOf(t *testing.T, name string, test func(*testing.T, *testfleet.Server)) {
	t.Helper()
	require.True(t, t.Run(name, func(t *testing.T) { test(t, testfleet.New(t, 1).Servers[0]) }))
}

func TestBrokenServerIsPutBack(t *testing.T) {
	for _, name := range []string{"Killed", "Paused", "Cut", "Crashed"} {
		fleetOf(t, name, func(t *testing.T, s *testfleet.Server) {
			switch name {
			case "Killed":
				s.Kill()
			case "Paused":
				s.Pause()
			case "Cut":
				s.Cut()
			case "Crashed":
				s.Restart() // skips the test if the server is not ours to break
				run(t, s.DB(), "SHUTDOWN")
			}
		})
		fleetOf(t, "After"+name, func(t *testing.T, s *testfleet.Server) {
			run(t, connect(t, s.MigrateDSN()), "CREATE TABLE t (id INT)")
		})
	}
}
