package testfleet_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// starts returns a match for statements that begin with a word.
func starts(word string) func(string) bool {
	return func(q string) bool { return strings.HasPrefix(q, word) }
}

// happened fails the test if a cut has not happened.
func happened(t *testing.T, cut <-chan struct{}) {
	t.Helper()
	select {
	case <-cut:
	default:
		t.Fatal("the cut has not happened")
	}
}

func TestCutReply(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	cut := s.CutReply(starts("INSERT"))
	require.Equal(t, "0", query(t, app, "SELECT COUNT(*) FROM t"), "others pass")

	_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")

	require.Error(t, err)
	require.Zero(t, errorNumber(err), "no answer came back")
	happened(t, cut)
	require.Equal(t, "1", query(t, root, "SELECT COUNT(*) FROM t"), "it was committed")
	run(t, app, "INSERT INTO t VALUES (2)") // once only
}

func TestCutReplyOfCommit(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	cut := s.CutReply(starts("COMMIT"))
	tx, err := app.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
	require.NoError(t, err)
	require.Error(t, tx.Commit())
	happened(t, cut)
	require.Equal(t, "1", query(t, root, "SELECT COUNT(*) FROM t"))
}

func TestCutReplyOfPreparedStatement(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	cut := s.CutReply(starts("INSERT"))
	stmt, err := app.PrepareContext(t.Context(), "INSERT INTO t VALUES (?)")
	require.NoError(t, err, "preparing is not executing")
	defer stmt.Close() //nolint:errcheck // its connection is broken
	_, err = stmt.ExecContext(t.Context(), 1)
	require.Error(t, err)
	happened(t, cut)
	require.Equal(t, "1", query(t, root, "SELECT COUNT(*) FROM t"))
}

func TestCutReplyAt(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	cut := s.CutReplyAt(3)
	run(t, app, "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
	_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (3)")
	require.Error(t, err)
	happened(t, cut)
	require.Equal(t, "3", query(t, root, "SELECT COUNT(*) FROM t"))
}

func TestCutBefore(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	cut := s.CutBefore(2)
	run(t, app, "INSERT INTO t VALUES (1)")
	_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
	require.Error(t, err)
	happened(t, cut)
	require.Equal(t, "1", query(t, root, "SELECT COUNT(*) FROM t"), "it never arrived")
	run(t, app, "INSERT INTO t VALUES (3)")
}

func TestCutBeforeCommitRollsBack(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	cut := s.CutBeforeQuery(starts("COMMIT"))
	tx, err := app.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
	require.NoError(t, err)
	require.Error(t, tx.Commit())
	happened(t, cut)
	require.Equal(t, "0", query(t, root, "SELECT COUNT(*) FROM t FOR UPDATE"), "the lock waits for the roll-back")
}

func TestSeveralCuts(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	reply, before := s.CutReplyAt(1), s.CutBefore(2)
	for range 2 {
		_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		require.Error(t, err)
	}
	happened(t, reply)
	happened(t, before)
	require.Equal(t, "1", query(t, root, "SELECT COUNT(*) FROM t"))
	never := s.CutBefore(1)
	s.Heal()
	require.NoError(t, app.PingContext(t.Context()))
	require.Equal(t, "1", query(t, app, "SELECT COUNT(*) FROM t"))
	require.Empty(t, never)
}

func TestStatements(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, _ := newTable(t, s)
	app.SetMaxOpenConns(1)
	require.NoError(t, app.PingContext(t.Context()))
	s.Mark()
	require.Empty(t, s.Statements())

	run(t, app, "INSERT INTO t VALUES (1)")
	_, err := app.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", 2)
	require.NoError(t, err)
	require.NoError(t, app.PingContext(t.Context()))

	log := s.Statements()
	commands := make([]testfleet.Command, len(log))
	for i, statement := range log {
		commands[i] = statement.Command
	}
	require.Equal(t, []testfleet.Command{
		testfleet.ComQuery, testfleet.ComPrepare, testfleet.ComExecute, testfleet.ComClose, testfleet.ComPing,
	}, commands)
	require.Equal(t, []string{"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (?)"}, log.Executed().Queries())
	require.Len(t, log.Of(testfleet.ComPing), 1)
	require.Len(t, log.Matching(starts("INSERT INTO t VALUES (?)")), 1)
	require.Len(t, log.Conns(), 1)
	require.Equal(t, 2, s.Executed())

	direct := connect(t, s.DirectDSN())
	run(t, direct, "INSERT INTO t VALUES (3)")
	require.Equal(t, 2, s.Executed(), "what goes around the proxies is not counted")
	run(t, connect(t, s.DSN()), "INSERT INTO t VALUES (4)")
	require.Len(t, s.Statements().Executed().Conns(), 2)
}

func TestStatementsOfAnEncryptedConnection(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app := connect(t, s.DSN()+"?tls=preferred&allowFallbackToPlaintext=true")
	s.Mark()
	require.Equal(t, "1", query(t, app, "SELECT 1"))
	if len(s.Statements().Of(testfleet.Opaque)) == 0 {
		require.Equal(t, testfleet.MariaDB, s.Flavor(), "MySQL makes itself a certificate")
		require.Equal(t, 1, s.Executed())
	}
}

func TestLargePackets(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app := connect(t, s.DSN())
	for _, size := range []int{0, 1, 16 << 10, 1 << 20, 8 << 20} {
		var length int
		text := strings.Repeat("x", size)
		require.NoError(t, app.QueryRowContext(t.Context(), "SELECT LENGTH('"+text+"')").Scan(&length))
		require.Equal(t, size, length)
		var back string
		require.NoError(t, app.QueryRowContext(t.Context(), "SELECT REPEAT('x', ?)", size).Scan(&back))
		require.Equal(t, text, back)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app := connect(t, s.DSN())
	require.NoError(t, app.PingContext(t.Context()))
	s.Latency(300*time.Millisecond, 0)
	require.GreaterOrEqual(t, roundTrip(t, app), 300*time.Millisecond)
	s.Latency(100*time.Millisecond, 10*time.Millisecond)
	require.GreaterOrEqual(t, roundTrip(t, app), 85*time.Millisecond)
	require.Less(t, roundTrip(t, connect(t, s.DirectDSN())), 85*time.Millisecond)
	s.Heal()
	require.Less(t, roundTrip(t, app), 85*time.Millisecond)
}

// roundTrip returns how long the fastest of some statements takes.
func roundTrip(t *testing.T, db *sql.DB) time.Duration {
	t.Helper()
	fastest := time.Hour
	for range 5 {
		began := time.Now()
		run(t, db, "DO 1")
		fastest = min(fastest, time.Since(began))
	}
	return fastest
}

func TestBandwidth(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app := connect(t, s.DSN())
	require.NoError(t, app.PingContext(t.Context()))
	s.Bandwidth(100)
	began := time.Now()
	require.Len(t, query(t, app, "SELECT REPEAT('x', 50000)"), 50_000)
	require.Greater(t, time.Since(began), 250*time.Millisecond)
	s.Heal()
	began = time.Now()
	require.Len(t, query(t, app, "SELECT REPEAT('x', 50000)"), 50_000)
	require.Less(t, time.Since(began), 250*time.Millisecond)
}

func TestCut(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	s, other := fleet.Servers[0], testfleet.New(t, 1).Servers[0]
	app := connect(t, s.DSN())
	conn := oneConn(t, app)
	s.Cut()
	require.Error(t, conn.PingContext(t.Context()))
	require.ErrorContains(t, app.PingContext(t.Context()), "connection refused")
	require.NoError(t, s.DB().PingContext(t.Context()), "around the proxies it can be reached")
	require.NoError(t, connect(t, other.DSN()).PingContext(t.Context()), "other tests don't feel it")
	s.Heal()
	require.NoError(t, app.PingContext(t.Context()))
}

func TestCutSurvivesRestart(t *testing.T) {
	s := testfleet.New(t, 1).Servers[0]
	app := connect(t, s.DSN())
	s.Cut()
	s.Restart()
	require.ErrorContains(t, app.PingContext(t.Context()), "connection refused")
	s.Kill()
	s.Heal()
	require.ErrorContains(t, app.PingContext(t.Context()), "connection refused")
	s.Start()
	require.NoError(t, app.PingContext(t.Context()))
}

func TestBlackhole(t *testing.T) {
	t.Parallel()
	s := testfleet.New(t, 1).Servers[0]
	app, root := newTable(t, s)
	conn := oneConn(t, app)
	s.Blackhole()
	lost := make(chan error, 1)
	go func() { // on an old connection, as long as it takes
		_, err := conn.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		lost <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	fresh := connect(t, s.DSN())
	require.ErrorIs(t, fresh.PingContext(ctx), context.DeadlineExceeded, "on a new connection")
	require.Empty(t, lost, "no reset tells the client")
	s.Heal()
	require.Error(t, <-lost, "half open connections are closed at Heal")
	require.Equal(t, "0", query(t, root, "SELECT COUNT(*) FROM t"))
	run(t, app, "INSERT INTO t VALUES (2)")
}
