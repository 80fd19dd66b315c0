package integration

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/localserver"
)

// export is a line that `oddeven dev` prints ready to paste.
var export = regexp.MustCompile(`(?m)^export ODDEVEN_SERVERS='(.*)'\n`)

// TestDevIsALocalFleetThatIsFoundAgain needs servers that can be started here.
func TestDevIsALocalFleetThatIsFoundAgain(t *testing.T) {
	t.Parallel()
	requireLocalServer(t)
	dir := filepath.Join(t.TempDir(), "fleet")
	var highest int64
	for round := range 2 {
		dev, application := startDev(t, dir)
		var id int64
		for range 3 {
			stdout, stderr, code := runProgram(t, []string{"ODDEVEN_SERVERS=" + application}, "next")
			require.Zero(t, code, stderr)
			var err error
			id, err = strconv.ParseInt(strings.TrimSpace(stdout), 10, 64)
			require.NoError(t, err)
		}
		require.Greater(t, id, highest, "round %d goes on", round)
		highest = id
		stdout, stderr, code := runProgram(t, []string{"ODDEVEN_SERVERS=" + application}, "fleet", "status")
		require.Zero(t, code, stderr)
		require.Equal(t, 2, strings.Count(stdout, " ok "), stdout)

		dev.interrupt(t)
		require.Zero(t, dev.wait(t), dev.err.String())
		require.Contains(t, dev.err.String(), "Stopping …")
		for _, s := range parse(t, strings.Fields(application)...) {
			_, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Addr)
			require.Error(t, err, "no server is left")
		}
	}
}

// How many calls fail depends on how fast this machine restarts servers; that
// no number comes twice does not.
func TestDemoFindsNoDuplicate(t *testing.T) {
	t.Parallel()
	if os.Getenv("ODDEVEN_TEST_SOURCE") != "process" {
		t.Skip("starts processes; runs with ODDEVEN_TEST_SOURCE=process")
	}
	stdout, stderr, _ := runProgram(t, nil, "demo", "--duration", "3s", "--callers", "4")
	require.Regexp(t, `(?m)^demo: (?:ok|FAILED) ids=[1-9]\d* duplicates=0 failed=\d+$`, stdout, stderr)
	require.Contains(t, stderr, "server 1 killed (SIGKILL)")
	require.Contains(t, stderr, "server 2 started again")
}

// startDev starts two servers in dir, and returns the DSNs for applications.
func startDev(t *testing.T, dir string) (dev *process, dsns string) {
	t.Helper()
	dev = startProgram(t, nil, "dev", "--servers", "2", "--dir", dir)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx := bounded(t); !strings.Contains(dev.err.String(), "Running. Ctrl-C stops it."); {
		select {
		case <-tick.C:
		case <-dev.done:
			require.Fail(t, "dev has ended", "%s%s", dev.out.String(), dev.err.String())
		case <-ctx.Done():
			require.Fail(t, "dev does not get ready", "%s%s", dev.out.String(), dev.err.String())
		}
	}
	lines := export.FindAllStringSubmatch(dev.out.String(), -1)
	require.NotEmpty(t, lines)
	return dev, lines[0][1]
}

// requireLocalServer fails the test where there is no server binary. It is
// skipped only where nobody has said that servers are processes: the other
// tests run in containers there.
func requireLocalServer(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := localserver.Find(ctx)
	var missing *localserver.NotFoundError
	if errors.As(err, &missing) && os.Getenv("ODDEVEN_TEST_SOURCE") != "process" {
		t.Skipf("no mysqld or mariadbd on this machine; runs with ODDEVEN_TEST_SOURCE=process: %v", err)
	}
	require.NoError(t, err)
}
