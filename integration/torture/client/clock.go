//go:build wallclock

package main

import "time"

// stepClock sets how many seconds the wall clock is wrong by. time.WallStep is there
// when package time was built with the overlay of the driver (build.go there):
// time.Now then adds it to the wall part of what it returns and leaves the monotonic
// part alone, as a step of the host's clock does.
func stepClock(seconds int64) { time.WallStep.Store(seconds) }
