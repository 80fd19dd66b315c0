package segment

import (
	"context"
	"fmt"
	"time"
)

// waiter is one call that has to wait. Its zero value has not waited yet.
type waiter struct {
	wanted int64
	since  time.Time
	limit  *time.Timer // WaitAtMost
}

// waitUnlocking waits until there may be IDs again. The caller holds a.mu, which
// is released in any case. It returns why there is no use in waiting any longer.
func (w *waiter) waitUnlocking(ctx context.Context, a *Allocator, wanted int64) error {
	if err := a.hopelessLocked(); err != nil {
		a.mu.Unlock()
		return err
	}
	if a.wake == nil {
		a.wake = make(chan struct{})
	}
	wake := a.wake
	if w.since.IsZero() {
		w.since = time.Now()
		a.waiting++
		a.counts.waits++
	}
	a.wanted = max(a.wanted, wanted)
	a.mu.Unlock()
	var limit <-chan time.Time
	if a.cfg.WaitAtMost > 0 {
		if w.limit == nil {
			w.limit = time.NewTimer(a.cfg.WaitAtMost)
		}
		limit = w.limit.C
	}
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-limit:
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.err != nil {
			return unavailable(a.err)
		}
		return unavailable(errNoAnswer)
	}
}

// end is called when the call ends.
func (w *waiter) end(a *Allocator) {
	if w.since.IsZero() {
		return
	}
	if w.limit != nil {
		w.limit.Stop()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting--
	if a.waiting == 0 {
		a.wanted = 0
	}
	a.counts.waited += time.Since(w.since)
}

// hopelessLocked is why a call should not wait; nil if it should.
func (a *Allocator) hopelessLocked() error {
	switch {
	case a.closed:
		return ErrClosed
	case a.err == nil:
		return nil
	case isFinal(a.err):
		return a.err
	case a.cfg.FailFast:
		return unavailable(a.err)
	}
	return nil
}

func unavailable(cause error) error { return fmt.Errorf("%w: %w", ErrUnavailable, cause) }

// wakeLocked lets all callers that wait look again.
func (a *Allocator) wakeLocked() {
	if a.wake != nil {
		close(a.wake)
		a.wake = nil
	}
}

// alarm calls a function of the allocator at a later time, under its lock,
// unless it was closed or the alarm stopped or set anew by then. It is guarded
// by the allocator's mu.
type alarm struct{ timer *time.Timer }

// set sets the alarm anew.
func (m *alarm) set(a *Allocator, after time.Duration, ring func()) {
	m.stop(a)
	a.work.Add(1)
	var own *time.Timer
	own = time.AfterFunc(after, func() {
		defer a.work.Done()
		a.mu.Lock()
		defer a.mu.Unlock()
		if m.timer == own && !a.closed {
			m.timer = nil
			ring()
		}
	})
	m.timer = own
}

// stop makes sure that it does not ring.
func (m *alarm) stop(a *Allocator) {
	if m.timer != nil && m.timer.Stop() {
		a.work.Done()
	}
	m.timer = nil
}

// isSet reports whether it is going to ring.
func (m *alarm) isSet() bool { return m.timer != nil }
