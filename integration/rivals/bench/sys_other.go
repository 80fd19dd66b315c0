//go:build !linux

package bench

import "syscall"

// processAttributes are the defaults: a run that is killed leaves its servers
// behind here.
func processAttributes() *syscall.SysProcAttr { return nil }
