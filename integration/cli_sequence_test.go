package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// A creation that reaches one server only fails, says how to go on, and is
// completed by the same command.
func TestCreationThatIsCutOffSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	servers := patients(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(servers.DSNs(), " ")}
	cut := two.CutBeforeQuery(prefixed(inserting))
	p := startProgram(t, env, "sequence", "create", "orders", "--start", "1000")
	await(t, cut, p)
	two.Cut()
	require.Equal(t, 1, p.wait(t))
	require.Empty(t, p.out.String())
	require.Contains(t, p.err.String(), "sequence orders: the change was begun and may not have reached every server. "+
		"No ID can be issued twice because of that. Run the same command again, or `oddeven sequence repair`, to complete it\nserver "+two.Addr())

	stdout, stderr, code := runProgram(t, env, "next", "orders")
	require.Zero(t, code, stderr)
	require.Equal(t, "1001\n", stdout, "from the server that has it")
	two.Heal()
	stdout, stderr, code = runProgram(t, env, "sequence", "create", "orders", "--start", "1000")
	require.Zero(t, code, stderr)
	require.Regexp(t, one.Addr()+`/\w+\s+1 +none `, stdout)
	require.Regexp(t, two.Addr()+`/\w+\s+2 +create by a leap `, stdout)
	_, stderr, code = runProgram(t, env, "sequence", "show", "orders")
	require.Zero(t, code, stderr)
}

// Whoever presses a key has not asked for a fence; whoever lists sequences has.
func TestCompletionDoesNotFence(t *testing.T) {
	fleet := patients(t, 2)
	drawFrom(t, fleet) // no server is used in the second of its start, in which another start could not be told from it
	one := fleet.Servers[0]
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.DSNs(), " ")}
	_, stderr, code := runProgram(t, env, "sequence", "create", "orders")
	require.Zero(t, code, stderr)
	execute(t, one, "UPDATE workers SET holder = REPEAT('h', 16), until_tick = 1 << 40 LIMIT 1")
	one.Restart()
	before := genOf(t, one)
	for _, args := range [][]string{{"sequence", "show", ""}, {"stats", ""}, {"next", ""}, {"worker", "release", ""}} {
		for ctx, offered := bounded(t), false; !offered; { // a shell waits two seconds for names; a machine that is busy may need more
			require.NoError(t, ctx.Err(), "%q", args)
			stdout, stderr, code := runProgram(t, env, append([]string{"__complete"}, args...)...)
			require.Zero(t, code, stderr)
			offered = !strings.HasPrefix(stdout, ":")
		}
	}
	require.Equal(t, before, genOf(t, one))
	_, stderr, code = runProgram(t, env, "sequence", "list")
	require.Zero(t, code, stderr)
	require.Greater(t, genOf(t, one), before)
}

// genOf is the generation of a server.
func genOf(t testing.TB, s *testfleet.Server) (gen int64) {
	t.Helper()
	require.NoError(t, s.DB().QueryRowContext(bounded(t), "SELECT gen FROM server").Scan(&gen))
	return gen
}
