package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// A server that takes connections and says nothing does not keep decode from
// reading the fleet's settings off another one.
func TestDecodeWhileAServerIsSilent(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.MigrateDSNs(), " ")}
	_, stderr, code := runProgram(t, env, "migrate", "up", "--increment", "3")
	require.Zero(t, code, stderr)

	fleet.Servers[0].Blackhole()
	stdout, stderr, code := runProgram(t, []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.DSNs(), " ")}, "decode", "-o", "json", "5", "6")
	require.Zero(t, code, stderr)
	require.Equal(t, `{"id":"5","plane":"segment","server":2}
{"id":"6","plane":"segment","server":3}
`, stdout)
	require.Contains(t, stderr, "Going on without one: server "+fleet.Servers[0].Addr())
}
