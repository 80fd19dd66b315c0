//go:build !unix

package localserver

import (
	"errors"
	"os"
	"syscall"
)

// Servers are not run on systems without flock and SIGSTOP; this file lets
// programs that import the package build there. Open fails at the lock.

const (
	signalPause  = syscall.SIGKILL // never sent
	signalResume = syscall.SIGKILL // never sent
)

func processAttributes() *syscall.SysProcAttr { return nil }

func allStopped(int) bool { return true }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func processAlive(int) bool { return true }

func killGroup(int) error { return errors.ErrUnsupported }
