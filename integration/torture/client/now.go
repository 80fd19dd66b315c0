package main

import (
	"syscall"
	"time"
)

// now is the right time, whatever the wall clock of this process is made to say:
// asked of the kernel, not of package time.
func now() time.Time {
	var tv syscall.Timeval
	_ = syscall.Gettimeofday(&tv) // fails only for a bad pointer
	return time.Unix(tv.Unix())
}
