package segment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Allocator hands out the IDs of a sequence. All methods are safe for
// concurrent use. While it is not used it has no goroutine, and no timer once
// the segment in use has reached MaxAge. Close ends it.
type Allocator struct {
	buffer // first, so that it begins a cache line

	source Source
	cfg    Config
	work   sync.WaitGroup // refills and alarms; Add only under mu and before closed

	mu      sync.Mutex // guards all below and the buffer; never held across I/O or a wait
	closed  bool
	pacer   pacer
	floor   int64         // highest round seen
	since   time.Time     // from when on numbers have been used; zero while parked
	mark    int64         // claimed at since
	queue   [2]segment    // what comes after it
	queued  int           //
	flights [3]*flight    // calls of Reserve under way, see underwayLocked
	wake    chan struct{} // closed when callers that wait should look again; nil if none wait
	waiting int           // callers
	wanted  int64         // most IDs that one of them still needs
	err     error         // of the last refill, if nothing has succeeded since
	backoff time.Duration // before the next attempt
	demand  int64         // claimed when the last attempt failed
	old     alarm         // the current segment reaches MaxAge
	slow    alarm         // a refill takes long
	retry   alarm         // after a failed refill
	ceiling forecast
	counts  counts
}

// segment is numbers that nobody has claimed.
type segment struct {
	first, last int64
	born        time.Time // when its reservation was begun
}

// New makes an Allocator of a Source and reserves a first segment. ctx bounds
// the opening only. Errors: a *ticket.ConfigError, ctx's own, those of the
// source, ErrScheme.
func New(ctx context.Context, source Source, cfg Config) (*Allocator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	floor, err := source.Floor(ctx)
	if err != nil {
		return nil, fmt.Errorf("read floor: %w", err)
	}
	a := &Allocator{source: source, cfg: cfg, floor: floor}
	a.pacer = pacer{interval: min(cfg.Interval, cfg.MaxAge/2).Seconds(), min: cfg.MinStep, max: cfg.MaxStep}
	count := a.pacer.next(0, 0)
	began := time.Now()
	r, err := source.Reserve(ctx, floor, count)
	if err != nil {
		return nil, fmt.Errorf("reserve first segment: %w", err)
	}
	if err := r.check(0, floor, count); err != nil {
		return nil, err
	}
	a.init(r.Stride, r.First-r.Stride)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ceiling.begin(began, floor)
	a.counts.refilled(causeFirst, time.Since(began))
	a.acceptLocked(r, began)
	return a, nil
}

// advanceLocked sees to it that there is something to claim, and reports
// whether there is. A refill is begun when it is due.
func (a *Allocator) advanceLocked(now time.Time, wanted int64) bool {
	if a.closed {
		return false
	}
	if a.left() > 0 {
		if a.hidden() {
			a.revealLocked(now)
		}
		return true
	}
	a.measureLocked(now)
	for a.queued > 0 {
		next := a.queue[0]
		a.queue[0], a.queue[1] = a.queue[1], segment{}
		a.queued--
		if a.switchLocked(next, now) {
			return true
		}
	}
	a.park()
	a.since = time.Time{}
	a.old.stop(a)
	a.refillLocked(now, wanted)
	return false
}

// revealLocked lets callers have the rest of the current segment and begins
// the refill for which a part of it was kept back.
func (a *Allocator) revealLocked(now time.Time) {
	a.measureLocked(now)
	a.reveal(0)
	a.refillLocked(now, 0)
}

// switchLocked makes a segment the current one, unless it is too old or there
// is nothing left of it.
func (a *Allocator) switchLocked(s segment, now time.Time) bool {
	if left := s.born.Add(a.cfg.MaxAge).Sub(now); left <= 0 {
		a.counts.dropped += (s.last-s.first)/a.stride + 1
		a.pacer.forget()
		return false
	}
	count := a.publish(s.first, s.last)
	if count == 0 {
		return false
	}
	a.since, a.mark = now, a.lo.Load()-a.stride
	a.pacer.began(count)
	keep := a.pacer.reserve(count)
	if keep >= count {
		keep = 0
	}
	a.reveal(keep)
	a.old.set(a, s.born.Add(a.cfg.MaxAge).Sub(now), a.agedLocked)
	if keep == 0 {
		a.refillLocked(now, 0)
	}
	return true
}

// measureLocked tells the step rule what was used since the last time.
func (a *Allocator) measureLocked(now time.Time) {
	if a.since.IsZero() {
		return
	}
	if at := min(a.claimed(), a.last); at > a.mark {
		a.pacer.used((at-a.mark)/a.stride, now.Sub(a.since))
		a.since, a.mark = now, at
	}
}

// agedLocked drops what is left of the current segment: it is too old. Queued
// ones are looked at when their turn comes.
func (a *Allocator) agedLocked() {
	a.counts.dropped += a.park()
	a.since = time.Time{}
	a.pacer.forget()
}

// Close ends the Allocator: callers that wait get ErrClosed, refills under way
// are cancelled and waited for, and IDs that are left are dropped. It returns
// nil, and may be called again.
func (a *Allocator) Close() error {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.counts.dropped += a.left() + a.queuedLocked()
		a.queued = 0
		a.stop()
		a.old.stop(a)
		a.slow.stop(a)
		a.retry.stop(a)
		for _, f := range a.flights {
			if f != nil {
				f.cancel()
			}
		}
		a.wakeLocked()
	}
	a.mu.Unlock()
	a.work.Wait()
	return nil
}

// errNoAnswer is why a call gave up that had waited for WaitAtMost.
var errNoAnswer = errors.New("segment: no answer in time")
