package localserver

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// processAttributes makes the child lead a process group of its own and die
// with the thread that starts it; see startProcess for that thread.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// allStopped reports whether every thread of a process is stopped. SIGSTOP
// returns before they are: each stops at its next return from the kernel.
func allStopped(pid int) bool {
	stats, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		return false
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // this thread has ended
		}
		// "pid (name) state ...", and the name may hold anything.
		_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		if len(rest) == 0 || rest[0] != 'T' && rest[0] != 't' && rest[0] != 'Z' && rest[0] != 'X' {
			return false
		}
	}
	return true
}
