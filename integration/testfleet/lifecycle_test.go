package testfleet_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// victimEnv makes TestVictim do something, in a test binary of its own that
// the tests below start. Its value says how it ends.
const victimEnv = "ODDEVEN_TESTFLEET_VICTIM"

// TestVictim is no test: it is what the tests below run and end.
func TestVictim(t *testing.T) {
	how := os.Getenv(victimEnv)
	if how == "" {
		return // nobody started it
	}
	testfleet.New(t, 1, testfleet.Private()) // of which there is one, not the usual two
	id, reaper := testfleet.ThisRun()
	_, _ = fmt.Fprintf(os.Stdout, "victim %s %d\n", id, reaper)
	switch how {
	case "panic":
		go func() { panic("of a victim") }()
		select {}
	case "exit":
		os.Exit(3) //nolint:forbidigo // the bad end that the reaper is for
	case "hang":
		select {}
	case "leak":
		go func() { select {} }()
	}
}

// victim is a run of TestVictim.
type victim struct {
	cmd    *exec.Cmd
	id     string
	reaper int
	output bytes.Buffer // of both streams after the line of TestVictim, valid after wait
	done   chan error
}

// startVictim returns when the victim has a server.
func startVictim(t *testing.T, how string) *victim {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	v := &victim{cmd: exec.CommandContext(t.Context(), exe, "-test.run=^TestVictim$"), done: make(chan error, 1)}
	v.cmd.Env = append(os.Environ(), victimEnv+"="+how)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	v.cmd.Stdout, v.cmd.Stderr = write, write
	require.NoError(t, v.cmd.Start())
	require.NoError(t, write.Close())
	lines := bufio.NewReader(read)
	for v.id == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "the victim did not get a server")
		_, _ = fmt.Sscanf(line, "victim %s %d", &v.id, &v.reaper) // other lines leave both as they are
	}
	go func() {
		_, err := lines.WriteTo(&v.output) // ends when the reaper has ended too
		_ = read.Close()                   // only read
		v.done <- err
	}()
	return v
}

// wait returns the exit code when the victim and its reaper have ended.
func (v *victim) wait(t *testing.T) int {
	t.Helper()
	_ = v.cmd.Wait() // the exit code says it all
	require.NoError(t, <-v.done)
	return v.cmd.ProcessState.ExitCode()
}

// requireNothingLeft checks that nothing of the victim exists.
func (v *victim) requireNothingLeft(t *testing.T) {
	t.Helper()
	left, err := testfleet.Leftovers(t.Context(), v.id)
	require.NoError(t, err)
	require.Empty(t, left, v.output.String())
	processes, err := testfleet.ServerProcesses(v.id)
	require.NoError(t, err)
	require.Empty(t, processes, v.output.String())
}

func TestNothingIsLeft(t *testing.T) {
	testfleet.New(t, 1) // so that this run knows its source
	for how, want := range map[string]struct {
		code   int
		output string
	}{
		"panic": {2, "panic: of a victim"},
		"exit":  {3, "ended without cleaning up"},
		"leak":  {1, "goroutines leak"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			v := startVictim(t, how)
			require.Equal(t, want.code, v.wait(t), v.output.String())
			require.Contains(t, v.output.String(), want.output)
			v.requireNothingLeft(t)
		})
	}
	for signal, want := range map[syscall.Signal]int{
		syscall.SIGTERM: 130, syscall.SIGKILL: -1,
	} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			v := startVictim(t, "hang")
			require.NoError(t, v.cmd.Process.Signal(signal))
			require.Equal(t, want, v.wait(t), v.output.String())
			v.requireNothingLeft(t)
		})
	}
}

func TestLeftoversOfAnEarlierRunAreRemoved(t *testing.T) {
	testfleet.New(t, 1) // so that this run knows its source
	v := startVictim(t, "hang")
	require.NoError(t, syscall.Kill(v.reaper, syscall.SIGKILL))
	require.NoError(t, v.cmd.Process.Kill())
	v.wait(t)
	left, err := testfleet.Leftovers(t.Context(), v.id)
	require.NoError(t, err)
	require.NotEmpty(t, left)

	later := startVictim(t, "return")
	require.Zero(t, later.wait(t), later.output.String())

	v.requireNothingLeft(t)
	later.requireNothingLeft(t)
}

func TestBreakingASharedServerInUseIsRefused(t *testing.T) {
	testfleet.New(t, 1)
	var message string
	t.Run("Second", func(t *testing.T) {
		message = fatal(t, func(t testing.TB) { testfleet.New(t, 1).Servers[0].Kill() })
	})
	require.Contains(t, message, "in use by another test")
}

// fatal runs f and returns what it says to Fatalf.
func fatal(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.message
}

// recorder is a test whose Fatalf does not make it fail.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
