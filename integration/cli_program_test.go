package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// buildOverlay is set by cmd/mutate: what builds the program builds the mutant.
const buildOverlay = "ODDEVEN_BUILD_OVERLAY"

// program is the built command, shared by the tests that run at one time.
var program struct {
	sync.Mutex
	users int
	dir   string // "" if it is not built
}

// programPath builds the command unless another test has. The last one that
// uses it removes it.
func programPath(t testing.TB) string {
	t.Helper()
	program.Lock()
	defer program.Unlock()
	if program.dir == "" {
		dir, err := buildProgram()
		require.NoError(t, err)
		program.dir = dir
	}
	program.users++
	t.Cleanup(func() {
		program.Lock()
		defer program.Unlock()
		if program.users--; program.users == 0 {
			require.NoError(t, os.RemoveAll(program.dir))
			program.dir = ""
		}
	})
	return filepath.Join(program.dir, "oddeven")
}

func buildProgram() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "oddeven-program-"); err != nil {
		return "", err
	}
	args := []string{"build", "-o", filepath.Join(dir, "oddeven")}
	if overlay := os.Getenv(buildOverlay); overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	build := exec.Command("go", append(args, "./cmd/oddeven")...) //nolint:noctx // ends by itself
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("build the program: %w\n%s", err, out), os.RemoveAll(dir))
	}
	return dir, nil
}

// process is the program while it runs.
type process struct {
	cmd      *exec.Cmd
	out, err output
	done     chan struct{} // closed when it has ended
	result   error         // of Wait; read after done
}

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startProgram starts the program with additions to its environment. It is
// killed at the end of the test if it still runs, and no output may hold a password.
func startProgram(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), programPath(t), args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.Dir = t.TempDir()
	require.NoError(t, p.cmd.Start())
	go func() {
		p.result = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill(t)
		requireNoSecrets(t, p.out.String(), p.err.String())
	})
	return p
}

// kill ends it by SIGKILL and waits.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	<-p.done
}

// interrupt sends SIGINT.
func (p *process) interrupt(t testing.TB) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
}

// wait waits until it has ended, and returns the exit code.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-bounded(t).Done():
		require.Fail(t, "the program does not end", "%s%s", p.out.String(), p.err.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// runProgram runs the program to its end.
func runProgram(t testing.TB, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	p := startProgram(t, env, args...)
	code = p.wait(t)
	return p.out.String(), p.err.String(), code
}

// await waits for a channel to be closed, and fails the test if the process ends before.
func await(t testing.TB, what <-chan struct{}, p *process) {
	t.Helper()
	select {
	case <-what:
	case <-p.done:
		require.Fail(t, "the program has ended", "%s%s", p.out.String(), p.err.String())
	case <-bounded(t).Done():
		require.Fail(t, "waited in vain")
	}
}
