package snowflake_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
)

// The statements of leases, as they are seen on the way to the server.
func isGrant(query string) bool   { return strings.HasPrefix(query, "UPDATE `workers` SET `from_tick`") }
func isRelease(query string) bool { return strings.Contains(query, "`holder` = NULL") }
func isRenewal(query string) bool {
	return strings.HasPrefix(query, "UPDATE `workers` SET `until_tick` = GREATEST(`until_tick`")
}

// last is the last statement of its kind that was sent to the server since Mark.
func last(t testing.TB, s *testfleet.Server, kind func(string) bool) string {
	t.Helper()
	var found string
	for _, st := range s.Statements() {
		if kind(st.Query) {
			found = st.Query
		}
	}
	require.NotEmpty(t, found)
	return found
}

var (
	oldGen  = regexp.MustCompile("`gen` = \\d+")
	oldConn = regexp.MustCompile(`CONNECTION_ID\(\) = \d+`)
)

// replay sends a statement of a client again as if it had verified the server
// just now. It returns how many rows changed.
func replay(t testing.TB, s *testfleet.Server, query string) int64 {
	t.Helper()
	query = oldGen.ReplaceAllString(query, "`gen` = (SELECT `gen` FROM `server`)")
	query = oldConn.ReplaceAllString(query, "TRUE")
	result, err := s.DB().ExecContext(clienttest.Bounded(t), query)
	require.NoError(t, err)
	n, err := result.RowsAffected()
	require.NoError(t, err)
	return n
}
