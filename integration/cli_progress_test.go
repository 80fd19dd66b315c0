package integration

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// Whoever waits is told for which server, on standard error alone.
func TestWhoeverWaitsIsToldForWhichServer(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	silent := fleet.Servers[1]
	silent.Blackhole()
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.DSNs(), " ")}
	told := startProgram(t, env, "doctor", "--timeout", "1h", "-o", "json")
	quiet := startProgram(t, env, "doctor", "--timeout", "1h", "--quiet")
	awaitWords(t, told, "Still waiting for ", silent.Addr()+"/"+fleet.Database, ": examining the servers\n")
	require.Equal(t, 1, strings.Count(told.err.String(), "\n"), "one line, however long it takes")
	require.NotContains(t, told.err.String(), "\x1b", "it is no terminal")
	for _, p := range []*process{told, quiet} {
		p.interrupt(t)
		require.Equal(t, 1, p.wait(t))
	}
	require.NotContains(t, quiet.err.String(), "waiting")
	var report struct{ Verdict string }
	require.NoError(t, json.Unmarshal([]byte(told.out.String()), &report), "nothing else on standard output")
	require.Equal(t, "bad", report.Verdict)
}

// awaitWords waits until a process has written all of the words to standard error.
func awaitWords(t *testing.T, p *process, words ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, w := range words {
			if !strings.Contains(p.err.String(), w) {
				return false
			}
		}
		return true
	}, patience, 20*time.Millisecond, "%s", p.err.String())
}
