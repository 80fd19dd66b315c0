package testfleet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// An owner names one run of a test binary, as host_pid_starttime. It is part
// of the names of what a run leaves behind if it is killed, so that a later run
// can tell its leftovers from what a living run uses.
type owner string

// self returns the owner that this process is.
func self() owner {
	host, _ := os.Hostname() // empty is as good a name as any
	pid := os.Getpid()
	return owner(fmt.Sprintf("%s_%d_%s", host, pid, startTime(pid)))
}

// alive reports whether the owner's process still runs. It says yes when in
// doubt, as of an owner on another host.
func (o owner) alive() bool {
	parts := strings.Split(string(o), "_")
	if len(parts) != 3 {
		return true
	}
	host, _ := os.Hostname()
	pid, err := strconv.Atoi(parts[1])
	if err != nil || parts[0] != host {
		return true
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	now := startTime(pid)
	return now == "" || now == parts[2]
}

// dead is the opposite of alive.
func (o owner) dead() bool { return !o.alive() }

// startTime returns when a process was started, in the kernel's unit; empty
// where there is no /proc.
func startTime(pid int) string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// "pid (name) state ppid ...": the start time is the 22nd field, and the
	// name may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19])
}

// dirPrefix begins the names of the directories that runs keep their files in.
const dirPrefix = "oddeven-testfleet-"

// makeDir creates the directory of a run. Its path is short because unix
// sockets live in it.
func (o owner) makeDir() (string, error) {
	dir, err := os.MkdirTemp("", dirPrefix+string(o)+"-")
	if err != nil {
		return "", fmt.Errorf("create directory for servers: %w", err)
	}
	return dir, nil
}

// removeOrphanedDirs deletes the directories of runs that are gone.
func removeOrphanedDirs() error {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	for _, dir := range dirs {
		name := strings.TrimPrefix(filepath.Base(dir), dirPrefix)
		if cut := strings.LastIndexByte(name, '-'); cut > 0 && owner(name[:cut]).dead() {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}
