package snowflake_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/snowflake"
)

// buildOverlay is set by cmd/mutate: what builds the program builds the mutant.
const buildOverlay = "ODDEVEN_BUILD_OVERLAY"

// program builds the command.
func program(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "oddeven")
	args := []string{"build", "-o", path}
	if overlay := os.Getenv(buildOverlay); overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	build := exec.CommandContext(t.Context(), "go", append(args, "./cmd/oddeven")...)
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// commandLine runs the command against servers.
type commandLine struct {
	t       testing.TB
	program string
	dsns    []string
}

// run returns what it prints and its exit code.
func (c commandLine) run(answer string, args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	cmd := exec.CommandContext(clienttest.Bounded(c.t), c.program, args...)
	cmd.Env = append(os.Environ(), "ODDEVEN_SERVERS="+strings.Join(c.dsns, " "))
	var out, err bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(answer), &out, &err
	_ = cmd.Run() // the code says it
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// listed is the line of a number in the list.
func (c commandLine) listed(number int64) map[string]any {
	c.t.Helper()
	stdout, stderr, code := c.run("", "worker", "list", "--all", "-o", "json")
	require.Zero(c.t, code, stderr)
	var lines []map[string]any
	require.NoError(c.t, json.Unmarshal([]byte(stdout), &lines))
	require.Len(c.t, lines, 8)
	return lines[number]
}

func TestWorkerCommand(t *testing.T) {
	servers := newFleet(t, 2, few, time.Hour)
	c := commandLine{t: t, program: program(t), dsns: servers.DSNs()}
	tickets := openTickets(t, servers.DSNs()...)
	w := openWorker(t, tickets, snowflake.Config{})
	l := &ledger{}
	l.draw(t, w, 10)
	number := w.Stats().Number
	text := strconv.FormatInt(number, 10)

	line := c.listed(number)
	require.Equal(t, "leased", line["state"])
	require.Contains(t, line["process"], strconv.Itoa(os.Getpid()))
	require.Equal(t, w.Stats().Server, line["server"])
	require.Equal(t, "free", c.listed((number + 1) % 8)["state"])
	table, _, code := c.run("", "worker", "list")
	require.Zero(t, code)
	require.Regexp(t, `^NUMBER +STATE +SINCE \(UTC\) +UNTIL \(UTC\) +LAST TICK \(UTC\)\n`+text+` +leased .*\n +process `+strconv.Itoa(os.Getpid())+` `, table)

	out, stderr, code := c.run("", "worker", "release", text)
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "can still be in use")
	out, stderr, code = c.run("yes\n", "worker", "release", text, "--force")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "makes the same IDs as the next one that gets the number")
	require.Contains(t, stderr, "not released: it needs the answer to a question, and standard input is no terminal")
	require.Equal(t, "leased", c.listed(number)["state"])
	out, _, code = c.run("", "worker", "release", strconv.FormatInt((number+1)%8, 10))
	require.Zero(t, code)
	require.Contains(t, out, "is free")
	for _, args := range [][]string{{"x"}, {"-1"}, {"99"}, {}} {
		_, _, code = c.run("", append([]string{"worker", "release", "--"}, args...)...)
		require.Equal(t, 2, code, "%v", args)
	}

	// A holder that renews meanwhile is alive.
	lease := listed(t, tickets, number)
	row := servers.Servers[1-number%2]
	clienttest.Exec(t, row, "UPDATE workers SET until_tick = until_tick + 1 WHERE number = ?", number)
	_, err := snowflake.ForceRelease(clienttest.Bounded(t), tickets, lease)
	require.ErrorIs(t, err, snowflake.ErrRenewed)
	require.Equal(t, "leased", c.listed(number)["state"])

	out, stderr, code = c.run("", "worker", "release", text, "--force", "-y")
	require.Zero(t, code, stderr)
	require.Contains(t, out, "worker number "+text+" is free from ")
	require.Zero(t, clienttest.Value(t, row, "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"))
	free, ok := c.listed(number)["until"].(string)
	require.True(t, ok)
	at, err := time.Parse(time.RFC3339, free)
	require.NoError(t, err)
	require.InDelta(t, 120, time.Until(at).Seconds(), 30)

	servers.Servers[0].Restart()
	clienttest.Until(t, "fenced", func() bool { return c.listed(1)["state"] == "parked" })
	_, stderr, code = c.run("", "worker", "release", "1")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "parked until")
	out, stderr, code = c.run("", "worker", "release", "1", "--force", "--yes")
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "may have forgotten who has the number")
	require.Contains(t, out, "is free from")
}
