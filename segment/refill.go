package segment

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// reserveTimeout bounds one call of Reserve; a fleet with servers that do
	// not answer has a shorter one for each.
	reserveTimeout = 10 * time.Second
	minBackoff     = 20 * time.Millisecond
	maxBackoff     = time.Second
	// A refill is slow when it takes slowAfter times what it usually does; these
	// bound that.
	slowAfter    = 4
	shortestSlow = 10 * time.Millisecond
	longestSlow  = time.Second
)

// flight is one call of Reserve.
//
//	                 due                    landed
//	nothing ──────────────> one flight ────────────────> queue, nothing
//	   ^                     │      │
//	   │   retry, if needed  │      │ slow, and it matters; or callers wait
//	   └──── failed ─────────┘      v   and it will not last
//	                          two flights: what lands second is used as far as
//	                          it is above everything before
type flight struct {
	floor, count int64
	why          cause
	began        time.Time
	cancel       context.CancelFunc
	late         bool // another one that was begun later has landed
}

// underwayLocked is how many calls of Reserve are under way that are not late,
// and how many rounds they bring. free says whether there is room for one more:
// at most two that are not late, and one that is.
func (a *Allocator) underwayLocked() (n int, coming int64, free bool) {
	for _, f := range a.flights {
		switch {
		case f == nil:
			free = true
		case !f.late:
			n++
			coming += f.count
		}
	}
	return n, coming, free && n < 2
}

// refillLocked begins a refill if one is due: nothing is queued, a part of the
// current segment or all of it is used up, and there is none under way that would
// do. wanted is how many IDs a caller is about to wait for, 0 if none is.
func (a *Allocator) refillLocked(now time.Time, wanted int64) {
	if a.closed || a.queued > 0 || a.retry.isSet() {
		return
	}
	wanted = max(wanted, a.wanted)
	n, coming, free := a.underwayLocked()
	switch {
	case !free:
	case n == 0:
		a.err = nil // of a time long ago
		why := causePrefetch
		if a.left() == 0 {
			why = causeDemand
		}
		a.launchLocked(now, why, a.pacer.next(a.left(), wanted))
	case a.left() == 0:
		if count := a.pacer.enlarge(coming, wanted); count > 0 {
			a.counts.enlargements++
			a.launchLocked(now, causeEnlargement, count)
		}
	}
}

// launchLocked begins a call of Reserve.
func (a *Allocator) launchLocked(now time.Time, why cause, count int64) {
	ctx, cancel := context.WithTimeout(context.Background(), reserveTimeout) // ends with Close, not with a caller
	f := &flight{floor: a.floor, count: count, why: why, began: now, cancel: cancel}
	for i := range a.flights {
		if a.flights[i] == nil {
			a.flights[i] = f
			break
		}
	}
	a.slow.set(a, a.patience(), a.slowLocked)
	a.work.Go(func() {
		defer cancel()
		r, err := a.source.Reserve(ctx, f.floor, f.count)
		a.mu.Lock()
		say := a.landLocked(f, r, err)
		a.mu.Unlock()
		if say != nil {
			say() // a handler may block, or draw an ID itself
		}
	})
}

// patience is after how long a refill counts as slow.
func (a *Allocator) patience() time.Duration {
	return min(max(seconds(slowAfter*a.pacer.latency), shortestSlow), longestSlow)
}

// slowLocked is called when a refill takes long. If it matters by now another
// server is asked as well; else it is looked at again later.
func (a *Allocator) slowLocked() {
	n, coming, free := a.underwayLocked()
	if n != 1 || !free || a.queued > 0 {
		return
	}
	now := time.Now()
	a.measureLocked(now)
	spare := a.pacer.lasts(a.left()) - 2*a.patience()
	if a.waiting == 0 && a.left() > 0 && spare > 0 {
		a.slow.set(a, min(spare, longestSlow), a.slowLocked)
		return
	}
	a.counts.hedges++
	a.launchLocked(now, causeHedge, coming)
}

// landLocked takes what a call of Reserve returned. It returns what is to be logged
// without the lock, nil as a rule.
func (a *Allocator) landLocked(f *flight, r Range, err error) (say func()) {
	for i := range a.flights {
		if a.flights[i] == f {
			a.flights[i] = nil
		}
	}
	if err == nil {
		err = r.check(a.stride, f.floor, f.count)
	}
	now := time.Now()
	n, _, _ := a.underwayLocked()
	switch {
	case a.closed:
		a.counts.abandoned++ // nobody wants it any more
	case err != nil:
		say = a.failedLocked(err, n > 0)
	default:
		a.pacer.refilled(now.Sub(f.began))
		a.counts.refilled(f.why, now.Sub(f.began))
		for _, other := range a.flights {
			if other != nil && !f.late {
				other.late = other.late || other.began.Before(f.began) || other.count <= f.count
			}
		}
		say = a.acceptLocked(r, f.began)
		if n == 0 {
			a.slow.stop(a)
		}
	}
	return say
}

// acceptLocked puts a checked range at the end of the queue, as far as it is
// above everything before it. It returns what is to be logged, like landLocked.
func (a *Allocator) acceptLocked(r Range, began time.Time) (say func()) {
	a.err, a.backoff = nil, 0
	a.retry.stop(a)
	a.floor = max(a.floor, round(r.last(), r.Stride))
	a.counts.reserved += r.Count
	if a.ceiling.note(r, a.cfg.WarnBefore) {
		log, when := a.cfg.Logger, a.ceiling.when
		say = func() {
			log.Warn("segment: the sequence is going to reach its ceiling", "ceiling", r.Ceiling, "last", r.last(), "at", when)
		}
	}
	above := a.last
	if a.queued > 0 {
		above = max(above, a.queue[a.queued-1].last)
	}
	first := r.First
	if above >= first {
		first += (above - first + r.Stride) / r.Stride * r.Stride
	}
	usable := max(0, (r.last()-first)/r.Stride+1)
	if first > r.last() || a.queued == len(a.queue) {
		usable = 0
	}
	a.counts.dropped += r.Count - usable
	if usable > 0 {
		a.queue[a.queued] = segment{first: first, last: r.last(), born: began}
		a.queued++
	}
	a.wakeLocked()
	return say
}

// failedLocked counts a failed call of Reserve, what it may have reserved is
// a gap, and tries again by and by, unless another one is under way. It returns
// what is to be logged, like landLocked.
func (a *Allocator) failedLocked(err error, another bool) (say func()) {
	a.counts.failed++
	if _, ok := a.source.(gapCounter); !ok {
		a.counts.abandoned++
	}
	if another {
		return nil
	}
	if a.err == nil {
		say = func() { a.cfg.Logger.Warn("segment: refill failed", "error", err) }
	}
	a.err = err
	a.backoff = min(max(minBackoff, 2*a.backoff), maxBackoff)
	if isFinal(err) {
		a.backoff = maxBackoff
	}
	a.demand = a.claimed()
	a.retry.set(a, a.backoff/2+rand.N(a.backoff/2+1), a.retryLocked)
	a.wakeLocked()
	return say
}

// retryLocked tries again after a failure, as long as somebody is interested;
// if nobody is, the next call that finds nothing does.
func (a *Allocator) retryLocked() {
	if a.waiting == 0 && (a.since.IsZero() || a.claimed() == a.demand) {
		return
	}
	if n, _, free := a.underwayLocked(); n > 0 || !free || a.queued > 0 {
		return
	}
	now := time.Now()
	a.measureLocked(now)
	a.launchLocked(now, causeRetry, a.pacer.next(a.left(), a.wanted))
}

// queuedLocked is how many IDs are queued.
func (a *Allocator) queuedLocked() int64 {
	var n int64
	for _, s := range a.queue[:a.queued] {
		n += (s.last-s.first)/a.stride + 1
	}
	return n
}
