package snowflake_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/snowflake"
)

// No statement of a lease reads or locks the whole table, whatever the state of
// its rows: all free since ever, free since different times, few free, parked.
func TestStatementsTouchFewRows(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, "time:44,worker:13,sequence:6;unit=1ms;epoch=2020-01-01T00:00:00Z", time.Hour)
	one := servers.Servers[0]
	states := []struct{ name, change string }{
		{"NeverUsed", "UPDATE workers SET until_tick = 0"},
		{"ReleasedNowAndThen", "UPDATE workers SET until_tick = 1000000 + number * 1000"},
		{"FewFree", "UPDATE workers SET until_tick = IF(number IN (1001, 4001), number, 1 << 43)"},
		{"FreedByTheSameFence", "UPDATE workers SET until_tick = IF(number = 4001, 1, 5000000), parked_until = 5000000"},
	}
	fleet := openTickets(t, servers.DSNs()...)
	for _, state := range states {
		clienttest.Exec(t, one, state.change)
		clienttest.Exec(t, one, "ANALYZE TABLE workers")
		one.Mark()
		w := openWorker(t, fleet, snowflake.Config{Lease: 300 * time.Millisecond})
		clienttest.Until(t, "renewed", func() bool { return w.Stats().Renewals > 0 })
		require.NoError(t, w.Close())
		sent := one.Statements().Matching(func(q string) bool { return strings.Contains(q, "`workers`") }).Queries()
		for _, kind := range []func(string) bool{isGrant, isRenewal, isRelease} {
			require.NotEmpty(t, last(t, one, kind))
		}
		grants := 0
		for _, query := range sent {
			require.LessOrEqual(t, rowsRead(t, one, query), int64(80), "%s: %s", state.name, query)
			if strings.HasPrefix(query, "UPDATE") {
				require.LessOrEqual(t, rowsLocked(t, one, query), int64(3), "%s: %s", state.name, query)
			}
			if isGrant(query) {
				grants++
			}
		}
		require.Equal(t, 1, grants, state.name)
	}
}

// bare is a query that does its work whoever asks, and again.
func bare(query string) string {
	return oldConn.ReplaceAllString(oldGen.ReplaceAllString(query, "TRUE"), "TRUE")
}

// rowsRead is how many rows and index entries a statement looks at.
func rowsRead(t testing.TB, s *testfleet.Server, query string) int64 {
	t.Helper()
	conn, err := s.DB().Conn(clienttest.Bounded(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = conn.ExecContext(clienttest.Bounded(t), "FLUSH STATUS")
	require.NoError(t, err)
	sum := fetch(t, conn, bare(query)) // which counts them twice; that does not matter
	status, err := conn.QueryContext(clienttest.Bounded(t), "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler\\_read\\_%'")
	require.NoError(t, err)
	defer func() { require.NoError(t, status.Close()) }()
	for status.Next() {
		var name string
		var n int64
		require.NoError(t, status.Scan(&name, &n))
		sum += n
	}
	require.NoError(t, status.Err())
	return sum
}

// fetch runs a statement and returns how many rows it gives.
func fetch(t testing.TB, conn *sql.Conn, query string) (n int64) {
	t.Helper()
	rows, err := conn.QueryContext(clienttest.Bounded(t), query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		n++
	}
	require.NoError(t, rows.Err())
	return n
}

// rowsLocked is how many index entries a statement has locked before it is
// committed, by the server's own count.
func rowsLocked(t testing.TB, s *testfleet.Server, query string) int64 {
	t.Helper()
	tx, err := s.DB().BeginTx(clienttest.Bounded(t), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	_, err = tx.ExecContext(clienttest.Bounded(t), bare(query))
	require.NoError(t, err)
	var n int64
	require.NoError(t, tx.QueryRowContext(clienttest.Bounded(t), "SELECT trx_rows_locked FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = CONNECTION_ID()").Scan(&n))
	return n
}

func TestExplainOfStatements(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, "", time.Hour)
	one := servers.Servers[0]
	one.Mark()
	w := openWorker(t, openTickets(t, servers.DSNs()...), snowflake.Config{Lease: 300 * time.Millisecond})
	clienttest.Until(t, "renewed", func() bool { return w.Stats().Renewals > 0 })
	require.NoError(t, w.Close())
	seen := 0
	for _, st := range one.Statements().Executed() {
		if !strings.Contains(st.Query, "`workers`") {
			continue
		}
		seen++
		for _, plan := range explain(t, one, st.Query) {
			if plan["table"] == "workers" {
				require.NotEqual(t, "ALL", plan["type"], st.Query)
				require.NotContains(t, plan["Extra"], "filesort", st.Query)
				require.Equal(t, strings.HasPrefix(st.Query, "UPDATE"), plan["key"] == "PRIMARY", "%v: %s", plan, st.Query)
			}
		}
	}
	require.GreaterOrEqual(t, seen, 5)
}

// explain is the server's plan, a line for each table.
func explain(t testing.TB, s *testfleet.Server, query string) []map[string]string {
	t.Helper()
	rows, err := s.DB().QueryContext(clienttest.Bounded(t), "EXPLAIN "+query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var plans []map[string]string
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, rows.Scan(into...))
		plan := map[string]string{}
		for i, c := range columns {
			plan[c] = values[i].String
		}
		plans = append(plans, plan)
	}
	require.NoError(t, rows.Err())
	return plans
}
