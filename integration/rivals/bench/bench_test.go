//go:build bench

package bench

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fullScenes kill each server, then both.
var fullScenes = []scene{
	{2 * time.Second, []int{0}, true}, {4 * time.Second, []int{0}, false},
	{6 * time.Second, []int{1}, true}, {8 * time.Second, []int{1}, false},
	{10 * time.Second, []int{0, 1}, true}, {13 * time.Second, []int{0, 1}, false},
}

// TestBench is the command behind `make bench`.
func TestBench(t *testing.T) {
	window := 300 * time.Millisecond
	if text := os.Getenv("BENCHTIME"); text != "" {
		var err error
		window, err = time.ParseDuration(text)
		require.NoError(t, err, "BENCHTIME=%s: must be a duration like 300ms, of one line in one round", text)
		require.Positive(t, window, "BENCHTIME=%s: must be more than nothing", text)
	}
	flavors := strings.Fields(os.Getenv("FLAVORS"))
	if len(flavors) == 0 {
		flavors = []string{"mysql:9", "mariadb:10.11"}
		if _, err := exec.LookPath("docker"); err != nil { // MySQL is in containers
			flavors = flavors[1:]
		}
	}
	r := Options{
		Window: window, Rounds: 5, IDs: 20_000_000, Paced: 10 * time.Second, Kill: true, Scenes: fullScenes, Flavors: flavors, Progress: os.Stderr,
	}.run(t)
	require.NotNil(t, r)
	require.NotNil(t, r.failover, "the failover was not measured")
	r.command = "make bench"
	require.NoError(t, r.write("../../../docs"))
	require.NoError(t, r.table.print(os.Stdout))
	for _, what := range r.missing {
		t.Errorf("not measured: %s", what)
	}
}
