package facade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
)

// example runs a program of directory examples, and returns what it prints.
func example(t testing.TB, name string, env ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args := []string{"build", "-o", path}
	if overlay := os.Getenv("ODDEVEN_BUILD_OVERLAY"); overlay != "" { // of cmd/mutate
		args = append(args, "-overlay="+overlay)
	}
	build := exec.CommandContext(clienttest.Bounded(t), "go", append(args, "./examples/"+name)...)
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	program := exec.CommandContext(clienttest.Bounded(t), path)
	program.Env = append(os.Environ(), env...)
	out, err = program.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestExampleSharded(t *testing.T) {
	t.Parallel()
	servers, shards := newFleetWithout(t, 4), testfleet.New(t, 2)
	out := example(t, "sharded", "ODDEVEN_SERVERS="+strings.Join(servers.DSNs(), " "), "SHARDS="+strings.Join(shards.RootDSNs(), " "))
	require.Regexp(t, `^database 1: \d+ users, \d+ posts\ndatabase 2: \d+ users, \d+ posts\n$`, out)
	var users, posts int64
	for i, s := range shards.Servers {
		users += clienttest.Count(t, s, "users")
		posts += clienttest.Count(t, s, "posts")
		require.Zero(t, clienttest.Value(t, s, "SELECT COUNT(*) FROM users WHERE id % 2 <> ?", i)) // the lowest bit of the shard
		require.Zero(t, clienttest.Value(t, s, "SELECT COUNT(*) FROM posts WHERE id % 16 <> author % 16"))
	}
	require.Equal(t, []int64{40, 120}, []int64{users, posts})
}

func TestExamplePlain(t *testing.T) {
	t.Parallel()
	servers, database := newFleetWithout(t, 0), testfleet.New(t, 1)
	out := example(t, "plain", "ODDEVEN_SERVERS="+strings.Join(servers.DSNs(), " "), "DATABASE="+database.Servers[0].RootDSN())
	found := regexp.MustCompile(`^{"id":"(\d+)","item":"a lamp"}\n$`).FindStringSubmatch(out)
	require.NotNil(t, found, out)
	require.Equal(t, int64(1), clienttest.Value(t, database.Servers[0], "SELECT COUNT(*) FROM orders WHERE id = ?", found[1]))
}
