package testfleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A test binary can end without the chance to clean up: a panic in a test, the
// timeout of "go test", SIGKILL. So it starts a second process of itself, the
// reaper, that waits at a pipe for its end and then removes containers and
// files. Server processes need no reaper on Linux: they die with their parent
// (see package localserver).

// reaperEnv makes Main be a reaper. Its value is the owner, a colon and the
// owner's directory.
const reaperEnv = "ODDEVEN_TESTFLEET_REAPER"

// reaperDone is what a run that has cleaned up itself writes to the pipe.
const reaperDone = "done"

// reaper is the other process, as seen by the run.
type reaper struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// startReaper starts a reaper for this process.
func startReaper(o owner, dir string) (*reaper, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start reaper: %w", err)
	}
	cmd := exec.Command(exe) //nolint:noctx // it is to outlive every context
	cmd.Env = append(os.Environ(), reaperEnv+"="+string(o)+":"+dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = ownSession()
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start reaper: %w", err)
	}
	return &reaper{cmd: cmd, pipe: pipe}, nil
}

// dismiss ends the reaper; there is nothing left for it to do.
func (r *reaper) dismiss() error {
	_, err := io.WriteString(r.pipe, reaperDone)
	if err = errors.Join(err, r.pipe.Close(), r.cmd.Wait()); err != nil {
		return fmt.Errorf("end reaper: %w", err)
	}
	return nil
}

// reap is the reaper's main function.
func reap(o owner, dir string) int {
	said, err := io.ReadAll(os.Stdin)
	if err == nil && string(said) == reaperDone {
		return 0
	}
	fmt.Fprintln(os.Stderr, "testfleet: the test binary ended without cleaning up; removing its servers")
	ctx, cancel := context.WithTimeout(context.Background(), opLimit)
	defer cancel()
	err = nil
	if _, statErr := os.Stat(filepath.Join(dir, dockerMark)); statErr == nil {
		err = reapContainers(ctx, o)
	}
	if err = errors.Join(err, reapDir(ctx, dir)); err != nil {
		fmt.Fprintf(os.Stderr, "testfleet: %v\n", err)
		return 1
	}
	return 0
}

// reapContainers removes the owner's containers.
func reapContainers(ctx context.Context, o owner) error {
	d, err := newDockerSource(ctx, o)
	if err != nil {
		return err
	}
	_, err = d.removeOwned(ctx, func(other owner) bool { return other == o })
	return errors.Join(err, d.close())
}

// reapDir deletes the directory, again and again while servers that are about
// to die write to it.
func reapDir(ctx context.Context, dir string) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := os.RemoveAll(dir)
		if _, gone := os.Stat(dir); errors.Is(gone, os.ErrNotExist) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove %s: %w", dir, errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}
