package snowflake

import "time"

// serverTime is what a clock said, and when: milliseconds of Unix time, and our
// monotonic time at the statement, when it was sent or answered, whichever is
// safer.
type serverTime struct {
	ms   int64
	read time.Time
}

// slew is by how much time runs slower, one part in slew, while it is ahead of
// the clock it follows.
const slew = 16

// clock is a serverTime and the monotonic time elapsed since. It never goes back
// and never stands still: a clock that was set back makes it run slower until the
// lead is used up. The host's wall clock is not read. Its zero value has not been set.
type clock struct {
	base serverTime
	lead int64 // milliseconds by which time was ahead at base
}

// set makes the clock follow another reading.
func (c *clock) set(to serverTime) {
	next := clock{base: to}
	if now := time.Now(); !c.base.read.IsZero() {
		if lead := c.milli(now) - next.milli(now); lead > 0 {
			next.lead = lead + now.Sub(to.read).Milliseconds()/slew
		}
	}
	*c = next
}

// milli returns the time in milliseconds of Unix time. now counts only for what
// is monotonic about it.
func (c *clock) milli(now time.Time) int64 {
	elapsed := now.Sub(c.base.read).Milliseconds()
	return c.base.ms + elapsed + max(0, c.lead-elapsed/slew)
}

// wait returns how long it takes from now on until the clock says milli, which
// it does not yet; less while there is a lead, and if it is longer than an hour.
func (c *clock) wait(now time.Time, milli int64) time.Duration {
	left := min(milli-c.milli(now), time.Hour.Milliseconds())
	return time.Duration(left)*time.Millisecond - now.Sub(c.base.read)%time.Millisecond
}
