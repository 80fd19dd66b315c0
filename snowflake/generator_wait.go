package snowflake

import (
	"context"
	"time"
)

// waiter is one call that has to wait. Its zero value has not waited yet.
type waiter struct{ since time.Time }

// waitUnlocking waits until there may be values again. The caller holds g.mu,
// which is released in any case.
func (w *waiter) waitUnlocking(ctx context.Context, g *generator) error {
	if g.wake == nil {
		g.wake = make(chan struct{})
	}
	wake := g.wake
	now := time.Now()
	if w.since.IsZero() {
		w.since = now
		g.waiting++
		g.counts.waits++
	}
	g.armLocked(now, g.opens.Sub(now))
	g.mu.Unlock()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end is called when the call ends.
func (w *waiter) end(g *generator) {
	if w.since.IsZero() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	g.counts.waited += time.Since(w.since)
}

// wakeLocked lets all callers that wait look again.
func (g *generator) wakeLocked() {
	if g.wake != nil {
		close(g.wake)
		g.wake = nil
	}
}

// armLocked sees to it that the timer calls tick after that time at the latest.
func (g *generator) armLocked(now time.Time, after time.Duration) {
	if g.closed {
		return
	}
	due := now.Add(after)
	if g.armed {
		if !due.Before(g.due) || !g.timer.Stop() {
			return // early enough, or tick is waiting for the lock
		}
	} else {
		g.work.Add(1)
	}
	g.armed, g.due = true, due
	if g.timer == nil {
		g.timer = time.AfterFunc(after, g.tick)
		return
	}
	g.timer.Reset(after)
}

// disarmLocked stops the timer, unless tick is waiting for the lock.
func (g *generator) disarmLocked() {
	if g.armed && g.timer.Stop() {
		g.armed = false
		g.work.Done()
	}
}

// tick is what the timer calls.
func (g *generator) tick() {
	defer g.work.Done()
	g.mu.Lock()
	g.armed = false
	now := time.Now()
	g.tickLocked(now)
	warn, logger := g.warning.due(now, g.leftLocked(now)), g.warning.logger
	g.mu.Unlock()
	if warn {
		g.warn(logger)
	}
}

// tickLocked raises time. If nothing was claimed since the last time, nobody
// waits, it parks state and leaves the timer alone: an idle worker costs nothing.
func (g *generator) tickLocked(now time.Time) {
	if g.err != nil {
		return
	}
	if g.waiting == 0 && g.position() == g.lastPos {
		g.parkLocked()
		return
	}
	if g.advanceLocked(now) != nil {
		return // callers get the error, those that wait have been woken
	}
	g.lastPos = g.position()
	if g.waiting > 0 && isParked(g.state.Load()) {
		g.armLocked(now, g.opens.Sub(now))
	}
}
