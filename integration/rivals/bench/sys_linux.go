package bench

import "syscall"

// processAttributes make a child die with the thread that starts it, and keep it
// from the terminal's Ctrl-C.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
