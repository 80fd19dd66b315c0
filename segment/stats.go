package segment

import (
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// Stats is a snapshot of an Allocator. Counts are of this Allocator alone,
// since it was opened. It needs a lock that Next does without, and no I/O.
type Stats struct {
	Used         int64         // IDs claimed by callers; a few more than they were given when calls race with a refill
	Reserved     int64         // IDs in confirmed refills
	Dropped      int64         // IDs reserved and never to be used: too old, overtaken, or left at Close
	Left         int64         // IDs at hand in the current segment
	Queued       int64         // IDs at hand after that
	Refills      int64         // confirmed
	RefillsBy    RefillCounts  // the same by cause
	Failed       int64         // refills that failed
	Abandoned    int64         // refills whose outcome is unknown, or not wanted any more: gaps
	Hedges       int64         // refills begun because another one was slow
	Enlargements int64         // refills begun because another one under way was too small
	Waits        int64         // calls that had to wait
	Waited       time.Duration // altogether, of calls that have ended
	Waiting      int64         // calls that wait now
	Step         int64         // IDs asked for last
	Rate         float64       // IDs used per second, lately
	Latency      time.Duration // of a refill, rather too long than too short
	Stride       int64         // from one ID to the next of a segment: a round holds so many IDs
	Floor        int64         // highest round seen
	Ceiling      int64         // largest ID that the sequence may reach; 0 if not known
	Exhausted    time.Time     // when it is reached at the rate since the Allocator was opened; zero if not known
	Warning      bool          // that is nearer than Config.WarnBefore
	Err          error         // of the last refill; nil if it succeeded

	RefillTimes    ticket.Histogram // how long confirmed refills took
	RefillTimesSum time.Duration    // altogether
	Servers        []ServerStats    // that refills came from, by offset; nil if the source is not a fleet's
}

// ServerStats is what an Allocator knows of one server.
type ServerStats struct {
	Server string // host:port/database
	Offset int64  // its residue class
	Round  int64  // highest round that a refill of this Allocator came to there
}

// RefillCounts counts refills by cause.
type RefillCounts struct {
	First       int64 // when the Allocator was opened
	Prefetch    int64 // a part of the segment in use was used up
	Demand      int64 // no ID was at hand: the first ones after MaxAge, or callers were faster
	Retry       int64 // the one before had failed
	Hedge       int64 // another one was slow
	Enlargement int64 // another one under way was too small
}

// Total is the sum of all causes.
func (c RefillCounts) Total() int64 {
	return c.First + c.Prefetch + c.Demand + c.Retry + c.Hedge + c.Enlargement
}

// cause is why a refill was begun: the field of RefillCounts that it is counted in.
type cause func(*RefillCounts) *int64

func causeFirst(c *RefillCounts) *int64       { return &c.First }
func causePrefetch(c *RefillCounts) *int64    { return &c.Prefetch }
func causeDemand(c *RefillCounts) *int64      { return &c.Demand }
func causeRetry(c *RefillCounts) *int64       { return &c.Retry }
func causeHedge(c *RefillCounts) *int64       { return &c.Hedge }
func causeEnlargement(c *RefillCounts) *int64 { return &c.Enlargement }

// counts are the counters; guarded by the allocator's mu.
type counts struct {
	reserved, dropped, failed, abandoned, hedges, enlargements, waits int64
	waited                                                            time.Duration
	refills                                                           RefillCounts
	took                                                              time.Duration
	times                                                             *ticket.Histogram // nil before the second refill: an idle Allocator has to be small
}

// refilled counts a confirmed refill.
func (c *counts) refilled(why cause, took time.Duration) {
	if c.times == nil && c.refills.Total() > 0 {
		h := c.histogram()
		c.times = &h
	}
	*why(&c.refills)++
	c.took += took
	if c.times != nil {
		c.times.Add(took)
	}
}

// histogram is how long confirmed refills took.
func (c *counts) histogram() (h ticket.Histogram) {
	if c.times != nil {
		return *c.times
	}
	if c.refills.Total() > 0 {
		h.Add(c.took) // of the only one
	}
	return h
}

// gapCounter is a Source that knows more about gaps than its errors say.
type gapCounter interface{ gaps() int64 }

// serverWatcher is a Source that knows its servers.
type serverWatcher interface{ servers() []ServerStats }

// Stats returns a snapshot. It works after Close.
func (a *Allocator) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.counts
	st := Stats{
		Reserved: c.reserved, Dropped: c.dropped + a.lost, Left: a.left(), Queued: a.queuedLocked(), Refills: c.refills.Total(), RefillsBy: c.refills,
		Failed: c.failed, Abandoned: c.abandoned, Hedges: c.hedges, Enlargements: c.enlargements, Waits: c.waits, Waited: c.waited,
		Waiting: int64(a.waiting), Stride: a.stride, RefillTimes: c.histogram(), RefillTimesSum: c.took,
		Step: a.pacer.step, Rate: a.pacer.rate, Latency: seconds(a.pacer.latency), Floor: a.floor, Err: a.err,
		Ceiling: a.ceiling.ceiling, Exhausted: a.ceiling.when, Warning: a.ceiling.near(a.cfg.WarnBefore, time.Now()),
	}
	st.Used = max(0, c.reserved-st.Dropped-st.Left-st.Queued)
	if g, ok := a.source.(gapCounter); ok {
		st.Abandoned += g.gaps()
	}
	if w, ok := a.source.(serverWatcher); ok {
		st.Servers = w.servers()
	}
	return st
}

// forecast says when a sequence reaches its ceiling. Guarded by the
// allocator's mu.
type forecast struct {
	ceiling int64
	begun   time.Time
	from    int64     // round at begun
	when    time.Time // zero: not known
	warned  time.Time
}

const (
	forecastAfter = time.Minute    // less says nothing
	warnEvery     = 24 * time.Hour // in the log
	longest       = 200 * 365 * 24 * time.Hour
)

func (f *forecast) begin(now time.Time, round int64) { f.begun, f.from = now, round }

func (f *forecast) near(within time.Duration, now time.Time) bool {
	return !f.when.IsZero() && f.when.Sub(now) < within
}

// note looks at a confirmed range. How far the rounds have come since the
// beginning counts the use of all processes. It reports whether it is time to warn.
func (f *forecast) note(r Range, warnBefore time.Duration) bool {
	f.ceiling = r.Ceiling
	now := time.Now()
	at := round(r.last(), r.Stride)
	elapsed := now.Sub(f.begun)
	f.when = time.Time{}
	if r.Ceiling == 0 || elapsed < forecastAfter || at <= f.from {
		return false
	}
	left := float64(round(r.Ceiling, r.Stride) - at)
	left = left / float64(at-f.from) * elapsed.Seconds()
	if left > longest.Seconds() {
		return false
	}
	f.when = now.Add(seconds(left)).UTC()
	if !f.near(warnBefore, now) || now.Sub(f.warned) < warnEvery {
		return false
	}
	f.warned = now
	return true
}
