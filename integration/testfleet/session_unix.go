//go:build unix

package testfleet

import "syscall"

// ownSession keeps a child out of reach of Ctrl-C and of signals to our
// process group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
