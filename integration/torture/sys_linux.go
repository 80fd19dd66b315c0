package main

import (
	"fmt"
	"os"
	"syscall"
)

// unsupported is why nothing can run here.
var unsupported error

// withDriver are the attributes of a process that the kernel ends with this one, and
// that signals to this one do not reach.
func withDriver() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// privateMounts keeps the mounts of this process from others.
func privateMounts() error {
	if os.Getenv(namespaceEnv) == "" {
		return nil
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts private: %w", err)
	}
	return nil
}

// mountMemory mounts a file system in memory at dir.
func mountMemory(dir string) error {
	return syscall.Mount("torture", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=0700,size="+diskSize)
}

// unmount unmounts it as soon as nobody uses it any more.
func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
