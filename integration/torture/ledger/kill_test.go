package ledger

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was flushed is there after SIGKILL, whenever that comes, and the file is in order.
func TestFlushedSurvivesAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+filepath.Join(dir, "c1"+Extension))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines, last := bufio.NewReader(out), int64(0)
	for n := 0; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // killed; a line may be cut short
		}
		last, err = strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		require.NoError(t, err)
		if n == 2000 {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.Error(t, cmd.Wait(), "killed")
	r, err := Check(t.Context(), dir, pair())
	require.NoError(t, err)
	require.True(t, r.OK(), "%v", r.Findings)
	require.Equal(t, 1, r.Unfinished)
	require.GreaterOrEqual(t, r.IDs, (last+1)/2)
}
