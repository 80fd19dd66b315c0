//go:build unix

package localserver

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	ended := false
	p, err := startProcess(exec.CommandContext(t.Context(), "sleep", "600"), func() { ended = true })
	require.NoError(t, err)
	require.True(t, p.running())
	require.True(t, processAlive(p.pid))
	require.NoError(t, p.signal(signalPause))
	require.NoError(t, p.kill(), "also when paused")
	require.True(t, ended)
	require.False(t, p.running())
	require.ErrorContains(t, p.exitError(), "killed")
	require.NoError(t, p.signal(os.Interrupt), "it has ended")
	require.NoError(t, p.kill())

	_, err = startProcess(exec.CommandContext(t.Context(), "/no/such/program"), func() {})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestProcessOutlivesTheStartersThread guards against golang/go#27505: the
// goroutine that asks for the process ends, and its thread with it.
func TestProcessOutlivesTheStartersThread(t *testing.T) {
	t.Parallel()
	started := make(chan *process)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends
		p, err := startProcess(exec.CommandContext(t.Context(), "sleep", "600"), func() {})
		if err != nil {
			close(started)
			return
		}
		started <- p
	}()
	p := <-started
	require.NotNil(t, p)
	select {
	case <-p.done:
		t.Error(p.exitError())
	case <-time.After(200 * time.Millisecond):
	}
	require.NoError(t, p.kill())
}

func TestRunCommandEndsChildrenToo(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 & echo $!; wait")
	cmd.Stdout = w
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- runCommand(ctx, cmd) }()
	buf := make([]byte, 20)
	n, err := r.Read(buf)
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	require.NoError(t, err)
	require.True(t, processAlive(child))
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	require.NoError(t, w.Close())
	require.NoError(t, r.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = r.Read(buf)
	require.ErrorIs(t, err, io.EOF, "the child held the pipe and is gone")
}
