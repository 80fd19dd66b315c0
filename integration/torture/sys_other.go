//go:build !linux

package main

import (
	"errors"
	"syscall"
)

// unsupported is why nothing runs here. Plans are shown all the same.
var unsupported = errors.New("this needs Linux: mounts of its own, and clients that the kernel ends with the driver")

func isolate([]string) (code int, done bool) { return 0, false }

func withDriver() *syscall.SysProcAttr { return nil }

func privateMounts() error { return unsupported }

func mountMemory(string) error { return unsupported }

func unmount(string) error { return unsupported }
