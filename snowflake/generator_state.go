package snowflake

import "time"

// startBits is how many low bits of a value go on counting from one tick to the
// next. A tick that always began with sequence 0 would leave slow producers with
// even IDs only, and half of the shards chosen by ID empty; with 6 bits the IDs of
// a producer of any speed are spread evenly over 2, 4, … 64 shards.
const startBits = 6

// startMask is what startBits leaves of a layout with a short sequence.
func (g *generator) startMask() int64 { return min(g.seqMask, 1<<startBits-1) }

// startOf returns what state becomes when time has come to a tick and pos was
// claimed last: the value claimed next is in this tick, and its low bits are
// those of pos plus one. The result is above pos only if pos is in an earlier tick.
func (g *generator) startOf(tick, pos int64) int64 {
	return tick<<g.seqBits + (pos+1)&g.startMask() - 1
}

// isParked reports whether state p is not a claimed value.
func isParked(p int64) bool { return p < parked/2 }

// position is the last value claimed.
func (g *generator) position() int64 {
	if p := g.state.Load(); !isParked(p) {
		return p
	}
	return g.real
}

// parkLocked makes callers come by to look at the clock before they claim
// anything.
func (g *generator) parkLocked() {
	for {
		p := g.state.Load()
		if isParked(p) {
			return
		}
		if g.state.CompareAndSwap(p, parked) {
			g.real = p
			return
		}
	}
}

// raiseLocked raises state to a tick if it is in an earlier one, and reports
// whether there is anything to claim below hi. If not, state is parked.
func (g *generator) raiseLocked(tick int64) bool {
	hi := g.hi.Load()
	for {
		p := g.state.Load()
		pos := p
		if isParked(p) {
			pos = g.real
		}
		start := max(pos, g.startOf(tick, pos))
		if start+1 >= hi {
			g.parkLocked()
			return false
		}
		if g.state.CompareAndSwap(p, start) {
			g.skipped += start - pos
			return true
		}
	}
}

// advanceLocked lets callers have what the clock allows by now: the timer's work,
// and that of a caller for whom there is nothing. It returns why there will be
// nothing any more; what there is or not yet is seen in state.
func (g *generator) advanceLocked(now time.Time) error {
	if g.err != nil {
		return g.err
	}
	milli := g.clock.milli(now)
	tick := max(g.tickAt(milli), g.rect.from)
	if tick >= g.rect.until {
		g.parkLocked()
		return g.endedLocked()
	}
	if hi := min(g.horizon(milli), g.rect.until) << g.seqBits; hi > g.hi.Load() {
		g.hi.Store(hi)
		g.wakeLocked()
	}
	if g.raiseLocked(tick) {
		g.armLocked(now, g.period)
		return nil
	}
	next := g.hi.Load() >> g.seqBits
	if next == g.rect.until {
		return g.endedLocked()
	}
	g.opens = now.Add(g.clock.wait(now, g.layout.epoch+next*g.layout.unit-g.ahead))
	return nil
}

// horizon is the first tick that may not be used yet. Every tick before it has
// begun by now, or begins within ahead.
func (g *generator) horizon(milli int64) int64 {
	h := g.tickAt(milli+g.ahead) + 1
	if !g.strict {
		h = max(h, g.rect.from+g.ahead/g.layout.unit+1)
	}
	return max(h, 0)
}

// tickAt returns the tick of a time in milliseconds of Unix time.
func (g *generator) tickAt(milli int64) int64 {
	return floorDiv(milli-g.layout.epoch, g.layout.unit)
}

// overLocked is the error of a call that begins now, nil if it gets something, at
// once or later: what it finds at hand, or what advanceLocked would make of it. It
// changes nothing.
func (g *generator) overLocked(now time.Time) error {
	if g.err != nil {
		return g.err
	}
	hi, pos := g.hi.Load(), g.position()
	if p := g.state.Load(); !isParked(p) {
		if p+1 < hi {
			return nil
		}
		pos = p + 1 // the call claims it in vain
	}
	milli, until := g.clock.milli(now), g.rect.until
	tick := max(g.tickAt(milli), g.rect.from)
	hi = max(hi, min(g.horizon(milli), until)<<g.seqBits)
	usedUp := max(pos, g.startOf(tick, pos))+1 >= hi && hi>>g.seqBits == until
	if tick >= until || usedUp {
		return g.endError()
	}
	return nil
}

// endedLocked is the error at the end of the rectangle, for callers that wait too.
func (g *generator) endedLocked() error {
	g.wakeLocked()
	return g.endError()
}

// endError is the error at the end of the rectangle.
func (g *generator) endError() error {
	if g.rect.until > g.layout.MaxTick() {
		return &ExhaustedError{Layout: g.layout, At: g.layout.Exhausted()}
	}
	return &LeaseEndedError{Worker: g.number, Until: g.layout.TimeOf(g.rect.until)}
}
