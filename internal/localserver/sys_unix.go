//go:build unix

package localserver

import (
	"errors"
	"os"
	"syscall"
)

// Signals of Pause and Resume.
const (
	signalPause  = syscall.SIGSTOP
	signalResume = syscall.SIGCONT
)

// tryLock takes an exclusive lock on an open file, without waiting. The lock
// belongs to the open file, also in processes that inherit it.
func tryLock(file *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// processAlive reports whether a process with this id exists.
func processAlive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// killGroup sends SIGKILL to a process started by startProcess and to its children.
func killGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
