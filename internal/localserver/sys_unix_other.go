//go:build unix && !linux

package localserver

import "syscall"

// processAttributes makes the child lead a process group of its own. These
// systems have no Pdeathsig: a server outlives a parent that is killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// allStopped cannot be answered here without much ado; a process stops within
// moments of SIGSTOP.
func allStopped(int) bool { return true }
