package snowflake

import (
	"log/slog"
	"time"
)

// Stats is a snapshot of a Worker. Counts are of this Worker alone, since it was
// opened. It needs a lock that Next does without, and no I/O.
type Stats struct {
	Number    int64         // worker number
	Layout    Layout        //
	Used      int64         // IDs claimed by callers; a few more than they were given when TryNext finds none
	Waits     int64         // calls that had to wait
	Waited    time.Duration // altogether, of calls that have ended
	Last      time.Time     // when the tick used last begins, in UTC; the epoch if there was none
	Exhausted time.Time     // when the time bits are used up, in UTC
	Warning   bool          // that is nearer than Config.WarnBefore
	Closed    bool          // Close was called
	Ended     error         // what Next fails with by now; nil while it makes IDs, at once or after a wait

	// Of the lease; zero for a Worker made by New.

	Fleet    string        // identity of the fleet in hexadecimal
	Server   string        // host:port/database of the server that granted it
	Until    time.Time     // end of the ticks leased by now, by the server's clock, in UTC
	Left     time.Duration // until then, whatever our clock says; 0 when it has ended or is lost
	Renewed  time.Time     // when it was last granted, taken up from the state file, or renewed, by our clock
	Renewals int64         // confirmed
	Failed   int64         // renewals that failed
	Overdue  bool          // it should have been renewed by now
	Err      error         // why the worker has stopped for good, the state file's included, or of the last renewal; nil if that succeeded
}

// counts are the counters of a generator; guarded by its mu.
type counts struct {
	waits  int64
	waited time.Duration
}

// stats returns what a generator knows.
func (g *generator) stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	st := Stats{
		Number: g.number, Layout: g.layout,
		Used:  g.position() - g.first - g.skipped,
		Waits: g.counts.waits, Waited: g.counts.waited,
		Last:      g.layout.TimeOf(g.usedLocked() >> g.seqBits),
		Exhausted: g.layout.Exhausted(),
		Closed:    g.closed,
		Ended:     g.overLocked(time.Now()),
	}
	if !g.clock.base.read.IsZero() {
		st.Warning = g.warning.near(g.leftLocked(time.Now()))
	}
	return st
}

// leftLocked returns how many milliseconds it is until the time bits are used up.
func (g *generator) leftLocked(now time.Time) int64 {
	return g.layout.Exhausted().UnixMilli() - g.clock.milli(now)
}

// warnEvery is how often the log warns.
const warnEvery = 24 * time.Hour

// warning says when to warn that the time bits are going to be used up. Guarded
// by the generator's mu.
type warning struct {
	before time.Duration
	next   time.Time
	logger *slog.Logger
}

// near reports whether that many milliseconds are a reason to warn.
func (w *warning) near(left int64) bool { return left < w.before.Milliseconds() }

// due reports whether to warn in the log now.
func (w *warning) due(now time.Time, left int64) bool {
	if !w.near(left) || now.Before(w.next) {
		return false
	}
	w.next = now.Add(warnEvery)
	return true
}

// warn is called without the lock.
func (g *generator) warn(logger *slog.Logger) {
	logger.Warn("snowflake: the time bits of the layout are going to be used up",
		"worker", g.number, "layout", g.layout.String(), "at", g.layout.Exhausted())
}
