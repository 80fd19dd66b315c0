package snowflake

import "errors"

// errNotGranted is what a generator without a rectangle returns.
var errNotGranted = errors.New("snowflake: no ticks granted")

// rectangle is the ticks [from, until) of one worker number. They are nobody
// else's, ever.
type rectangle struct{ from, until int64 }

// grant gives the generator ticks, and tells it the time.
//
// The first rectangle, and one after revoke, counts from its from; the latter
// must not begin before the end of the one that was revoked, or it is ignored.
// Any other one extends what there is if it begins at or before its end, and
// takes its place if it begins later. A rectangle is never made shorter, and time
// does not go back: if now is earlier than the generator's time, that slows
// down until they are equal. from and until are held to what the layout can
// represent.
func (g *generator) grant(r rectangle, now serverTime) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limit := g.layout.MaxTick() + 1
	r.from, r.until = min(max(r.from, 0), limit), min(max(r.until, 0), limit)
	fresh := g.err != nil || r.from > g.rect.until
	if g.closed || fresh && r.from < g.rect.until {
		return
	}
	g.clock.set(now)
	if fresh {
		g.beginLocked(r)
	} else {
		g.rect.until = max(g.rect.until, r.until)
	}
	g.wakeLocked()
}

// beginLocked puts a rectangle in the place of the one before, which ends at or
// before its beginning. lo is raised before hi: see generator.
func (g *generator) beginLocked(r rectangle) {
	g.parkLocked()
	r.until = max(r.until, r.from)
	g.rect = r
	if start := g.startOf(r.from, g.real); start > g.real {
		g.skipped += start - g.real
		g.real = start
	}
	g.lo.Store(r.from << g.seqBits)
	g.err = nil
}

// revoke ends the rectangle: no call that begins later gets an ID, and calls that
// wait return err. What a call under way may still return is below firstUnused.
func (g *generator) revoke(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revokeLocked(err)
}

func (g *generator) revokeLocked(err error) {
	if g.closed {
		return
	}
	if g.err == nil {
		g.parkLocked()
		g.used = g.usedLocked()
		g.hi.Store(0)
	}
	g.err = err
	g.disarmLocked()
	g.wakeLocked()
}

// usedLocked is a value such that none above it has been used. What was claimed
// at or above hi does not count.
func (g *generator) usedLocked() int64 {
	if g.err != nil {
		return g.used
	}
	return max(min(g.position(), g.hi.Load()-1), g.lo.Load()-1)
}

// firstUnused returns the first tick of the rectangle of which nothing was used,
// and nothing will be: it is for use after revoke. It is until if all was used,
// and may be a tick later than need be.
func (g *generator) firstUnused() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return min(max(g.usedLocked()>>g.seqBits+1, g.rect.from), g.rect.until)
}

// lastTick returns the last tick that may have been used by now, from - 1 if
// none was, and never less than 0.
func (g *generator) lastTick() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.usedLocked()>>g.seqBits, 0)
}

// stop revokes with ErrClosed, for good, and joins the timer. It may be called
// again.
func (g *generator) stop() {
	g.mu.Lock()
	g.revokeLocked(ErrClosed)
	g.closed = true
	g.mu.Unlock()
	g.work.Wait()
}
