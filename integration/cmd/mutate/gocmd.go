package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oddeven/oddeven/integration/mutants"
)

// overlayVar tells tests that build a command themselves which overlay to hand
// to go build. Only test helpers read it, never the product.
const overlayVar = "ODDEVEN_BUILD_OVERLAY"

// patienceVar shortens the waits of tests that wait for what a mutant prevents.
// Without a mutant they have shown that they need no longer.
const (
	patienceVar = "ODDEVEN_TEST_PATIENCE"
	patience    = 20 * time.Second
)

const (
	// stopGrace is how long an interrupted command may take to end by itself.
	stopGrace = 10 * time.Second
	// buildGrace is what a command gets beyond the limit of its tests, to build.
	buildGrace = 10 * time.Minute
)

// goCommand runs the go command in dir with the caller's environment, and with
// overlayVar set if there is an overlay. If ctx ended the command, the error is
// ctx's cause, else that of the command.
//
// The command has a process group of its own, so that an interrupt reaches the
// test binary too, and so that nothing a crashed test has started outlives it.
func (r *runner) goCommand(ctx context.Context, dir, overlay string, args ...string) (stdout, stderr []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout+buildGrace)
	defer cancel()
	if r.log != nil {
		fmt.Fprintf(r.log, "+ cd %s && go %s\n", dir, strings.Join(args, " "))
	}
	var out, diag bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(r.root, filepath.FromSlash(dir))
	cmd.Env = environ(os.Environ(), overlay)
	cmd.Stdout, cmd.Stderr = &out, &diag
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = stopGrace
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group, if anything
	}
	if r.log != nil {
		_, _ = r.log.Write(diag.Bytes())
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), diag.Bytes(), err
}

// environ is env with overlayVar set to overlay, or without it if there is none,
// and with patienceVar likewise.
func environ(env []string, overlay string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, overlayVar+"=") || strings.HasPrefix(v, patienceVar+"=")
	})
	if overlay != "" {
		env = append(env, overlayVar+"="+overlay, patienceVar+"="+patience.String())
	}
	return env
}

// goTest runs one test command, with an overlay or with "" for none. The error
// is not nil only if the go command could not be run or was interrupted: what
// the tests did is in the outcome.
func (r *runner) goTest(ctx context.Context, t mutants.Test, overlay string) (outcome, error) {
	// Vet is off because what it finds in a mutant is no test's merit.
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout=" + r.timeout.String(), "-run=" + t.Run}
	if t.Race {
		args = append(args, "-race")
	}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	stdout, stderr, err := r.goCommand(ctx, t.Module, overlay, append(args, t.Pattern)...)
	o := parseEvents(stdout)
	o.text += string(stderr)
	if r.log != nil {
		_, _ = io.WriteString(r.log, o.text)
	}
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
	case errors.As(err, &exit):
		o.failed = true
	case errors.Is(err, context.DeadlineExceeded):
		o.timedOut = true
	default:
		return o, fmt.Errorf("go test %s: %w", t, err)
	}
	return o, nil
}

// goBuild compiles every package of the module that the mutant's file is in,
// without linking any. It returns what the compiler said if it refused.
func (r *runner) goBuild(ctx context.Context, m mutants.Mutant, overlay string) (refused string, err error) {
	module, err := r.moduleOf(m.File)
	if err != nil {
		return "", err
	}
	_, stderr, err := r.goCommand(ctx, module, overlay, "list", "-export", "-overlay="+overlay, "./...")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(stderr), nil
	}
	if err != nil {
		return "", fmt.Errorf("go list -export: %w", err)
	}
	return "", nil
}

// moduleOf returns the directory of the module that file belongs to. Both are
// slash-separated paths from the repository root.
func (r *runner) moduleOf(file string) (string, error) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(dir), "go.mod")); err == nil {
			return dir, nil
		}
		if dir == "." {
			return "", fmt.Errorf("find module of %s: no go.mod", file)
		}
	}
}
