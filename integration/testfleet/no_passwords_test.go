package testfleet

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// make test runs the tests through this script.
func TestNoPasswordsFindsPasswordsAndKeepsExitCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		code         int
		found        bool
	}{
		{"Clean", "echo ok; echo word >&2", 0, false},
		{"Fails", "echo ok; exit 3", 3, false},
		{"StandardOutput", `echo "dsn: root:$1@tcp(host)/"`, 1, true},
		{"StandardError", `echo "$1" >&2`, 1, true},
		{"Escaped", `echo "$2"`, 1, true},
		{"WithoutLineEnd", `printf %s "$1"`, 1, true},
		{"FoundAndFails", `echo "$1"; exit 4`, 4, true},
		{"Killed", "kill -KILL $$", 137, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			password := newPassword()
			cmd := exec.CommandContext(t.Context(), "../../scripts/no-passwords", "sh", "-c", tt.script, "sh", password, url.QueryEscape(password))
			out, _ := cmd.CombinedOutput() // the code is looked at
			require.Equal(t, tt.code, cmd.ProcessState.ExitCode(), string(out))
			require.Equal(t, tt.found, strings.Contains(string(out), "no-passwords: a password of a test account is in the output"), string(out))
		})
	}
}

func TestShortPasswordsAreFoundToo(t *testing.T) {
	t.Parallel()
	password := ShortPassword()
	require.Contains(t, password, passwordMarker)
	require.LessOrEqual(t, len(password), 32, "what MySQL takes for replication")
	require.Contains(t, Secrets(), password)
}
