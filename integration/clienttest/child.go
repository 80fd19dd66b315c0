package clienttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Child is this test program, run once more as a process of its own, which prints
// lines. Each is written at once, so a kill cuts none short.
type Child struct {
	t    testing.TB
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and everything is read
}

// Spawn starts it with an order, as JSON, in the environment variable env, for
// TestMain to find. read gets what it prints, line by line, from one goroutine. It is
// killed at the end of the test, if it still runs.
func Spawn(t testing.TB, env string, order any, read func(line string)) *Child {
	t.Helper()
	text, err := json.Marshal(order)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), env+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &Child{t: t, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			read(lines.Text())
		}
		_ = cmd.Wait() // killed, as a rule
	}()
	t.Cleanup(c.Kill)
	return c
}

// Kill ends it as a crash does, also if it is frozen, and waits until all that it
// has printed is read.
func (c *Child) Kill() {
	_ = c.cmd.Process.Signal(syscall.SIGCONT)
	_ = c.cmd.Process.Kill()
	<-c.done
}

// Signal sends it a signal.
func (c *Child) Signal(s syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(s))
}

// RequireEnd waits until it has ended by itself.
func (c *Child) RequireEnd() {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(Patience):
		require.Fail(c.t, "the process goes on")
	}
}

// errorPrefix begins the line of an error.
const errorPrefix = "error "

// Report prints an error as one line for ReadError, and returns an exit code.
func Report(err error) int {
	fmt.Fprintf(os.Stdout, "%s%s\n", errorPrefix, strings.ReplaceAll(err.Error(), "\n", "; "))
	return 0
}

// ReadError reads such a line.
func ReadError(line string) (string, bool) { return strings.CutPrefix(line, errorPrefix) }
