package snowflake

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
)

const (
	// Of a lease's length: it is renewed when what is left has come down to
	// renewAt, and late when it has come down to lateAt.
	renewAt = 2.0 / 3
	lateAt  = 1.0 / 2
	// After a renewal, or one that failed for the fourth time or so, the next
	// begins after this part of the length, or an hour's; the first after a failure
	// much sooner.
	retryAt    = 1.0 / 12
	minBackoff = 20 * time.Millisecond
	maxBackoff = 5 * time.Minute
	// renewWithin bounds one renewal, askWithin that of a lease from the state file,
	// which Open waits for.
	renewWithin = 30 * time.Second
	askWithin   = 3 * time.Second
)

// store is where leases are kept: see fleetStore.
type store interface {
	grant(ctx context.Context) (hold, error)
	renew(ctx context.Context, h hold, lastTick int64) (hold, error)
	release(ctx context.Context, h hold, firstUnused, lastTick int64) error
}

// lease keeps the lease of one worker number and gives its ticks to a generator.
//
//	            renewed
//	         ┌───────────┐
//	         v           │
//	granted ─┴> held ────┴──> over: the server says that it came too late
//	              │ │
//	              │ └───────> lost: the server says that it is somebody else's
//	              └─────────> closed: the generator stops, the state file goes, the number is released
//
// Whatever happens to it, the generator stays inside the ticks that were
// confirmed; a lease that is lost revokes even these, and its state file goes.
type lease struct {
	store  store // nil if the lease came from the state file and there is no fleet
	cfg    Config
	g      *generator
	server string        // that granted it, for people
	length time.Duration // of a grant or a renewal
	wake   chan struct{} // tells markOn of a renewal, or that the worker has stopped; holds one

	ctx    context.Context // ends with close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex // guards all below; never held across I/O
	file     *stateFile // nil if there is none, or no more; what it points to is markOn's
	held     hold
	renewed  time.Time
	renewals int64
	failed   int64
	late     bool
	err      error // of the last renewal
	final    error // why the worker has stopped for good; nil while it has not
}

// newLease makes the lease of a number that is held, and a generator of it. run
// sets it going.
func newLease(s store, h hold, cfg Config, server string, file *stateFile) (*lease, error) {
	g, err := newGenerator(h.terms.layout, h.number, cfg.MaxAhead)
	if err != nil {
		return nil, err
	}
	l := &lease{
		store: s, cfg: cfg, g: g, server: server, length: time.Duration(h.terms.length) * h.terms.layout.Unit(),
		file: file, wake: make(chan struct{}, 1), held: h, renewed: h.time.read,
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, nil
}

// run gives the generator its ticks and keeps the lease from then on. renew says
// to renew it at once. The error is why the worker has stopped already; nothing
// has been started then.
func (l *lease) run(renew bool) error {
	if l.file == nil || !l.advance() {
		l.pass()
	}
	if err := l.stopped(); err != nil {
		return err
	}
	if l.store != nil {
		l.work.Go(func() { l.keep(renew) })
	}
	if l.file != nil {
		l.work.Go(l.markOn)
	}
	return nil
}

// pass gives the generator all that is confirmed, if there is no state file.
func (l *lease) pass() {
	l.mu.Lock()
	h, pass := l.held, l.file == nil && l.final == nil
	l.mu.Unlock()
	if pass {
		l.g.grant(h.rect, h.time)
	}
}

// keep renews until the lease is closed or of no use any more.
func (l *lease) keep(now bool) {
	backoff := time.Duration(0)
	for {
		l.mu.Lock()
		wait := l.dueLocked(time.Now())
		l.mu.Unlock()
		switch {
		case now:
			now, wait = false, 0
		case backoff > 0:
			wait = backoff/2 + rand.N(backoff/2+1)
		}
		if !pause.For(l.ctx, wait) || l.stopped() != nil {
			return
		}
		err := l.renew()
		switch {
		case l.ctx.Err() != nil || l.stopped() != nil:
			return
		case err == nil:
			backoff = 0
		default:
			backoff = min(max(minBackoff, 2*backoff), l.longestBackoff())
		}
	}
}

func (l *lease) longestBackoff() time.Duration {
	return min(part(l.length, retryAt), maxBackoff)
}

// part is a part of a duration.
func part(d time.Duration, of float64) time.Duration { return time.Duration(float64(d) * of) }

// leftLocked is how long it is until the lease ends, by the server's time and
// what has passed since.
func (l *lease) leftLocked(now time.Time) time.Duration {
	end := l.held.terms.layout.epoch + l.held.rect.until*l.held.terms.layout.unit
	return time.Duration(end-l.held.time.ms)*time.Millisecond - now.Sub(l.held.time.read)
}

// dueLocked is how long it is until the next renewal; many workers that were
// started together do not renew together.
func (l *lease) dueLocked(now time.Time) time.Duration {
	due := l.leftLocked(now) - part(l.length, renewAt)
	return max(due-rand.N(part(l.length, 1.0/20)+1), part(l.length, retryAt), time.Millisecond)
}

// stopped is why the worker has stopped for good, nil while it has not.
func (l *lease) stopped() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.final
}

// stopLocked stops the worker for good. markOn removes the state file.
func (l *lease) stopLocked(why error) {
	l.final = why
	l.g.revoke(why)
	l.tell()
}

// renew renews once.
func (l *lease) renew() error {
	ctx, cancel := context.WithTimeout(l.ctx, renewWithin)
	defer cancel()
	l.mu.Lock()
	h := l.held
	l.mu.Unlock()
	h, err := l.store.renew(ctx, h, l.g.lastTick())
	if l.ctx.Err() != nil {
		return l.ctx.Err() // closing: a longer lease is not wanted
	}
	if say := l.note(h, err); say != nil {
		say()
	}
	if err == nil {
		l.pass()
		l.tell()
	}
	return err
}

// note takes what came of a renewal, unless the worker has stopped meanwhile. It
// returns what is to be logged, nil as a rule.
func (l *lease) note(h hold, err error) (say func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.final != nil:
		return nil
	case err != nil:
		return l.failedLocked(err)
	}
	return l.confirmedLocked(h)
}

// tell has markOn look.
func (l *lease) tell() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// confirmedLocked takes a renewal that was confirmed. It returns what is to be
// logged, as failedLocked does.
func (l *lease) confirmedLocked(h hold) (say func()) {
	late := l.late
	l.held, l.renewed, l.err, l.late = h, time.Now(), nil, false
	l.renewals++
	if !late {
		return nil
	}
	return func() {
		l.cfg.Logger.Info("snowflake: lease renewed at last", "worker", h.number, "server", l.server)
	}
}

// failedLocked takes a renewal that failed or whose outcome is not known: the
// ticks stay what they were. It returns what is to be logged without the lock, nil
// as a rule.
func (l *lease) failedLocked(err error) (say func()) {
	l.failed++
	l.err = err
	left := l.leftLocked(time.Now())
	attrs := []any{"worker", l.held.number, "server", l.server, "left", left.Round(time.Millisecond), "error", err}
	switch {
	case errors.Is(err, ErrLeaseLost):
		l.stopLocked(err)
		return func() { l.cfg.Logger.Error("snowflake: lease lost", attrs...) }
	case errors.Is(err, errOver):
		l.stopLocked(&LeaseEndedError{Worker: l.held.number, Until: l.held.terms.layout.TimeOf(l.held.rect.until)})
		return func() { l.cfg.Logger.Error("snowflake: lease ended before it could be renewed", attrs...) }
	case !l.late && l.lateLocked(left):
		l.late = true
		return func() {
			l.cfg.Logger.Warn("snowflake: lease is overdue for renewal; the worker stops when it ends", attrs...)
		}
	}
	return nil
}

// lateLocked reports whether the lease should have been renewed long ago.
func (l *lease) lateLocked(left time.Duration) bool { return left < part(l.length, lateAt) }

// close ends the lease: it stops renewing, joins what it has started, and releases
// the number. The generator has been stopped; it is called once. The state file is
// removed before the number is released, or another process could take up ticks
// that are somebody else's by then.
func (l *lease) close(ctx context.Context) error {
	l.cancel()
	l.work.Wait()
	l.mu.Lock()
	h, file, over := l.held, l.file, l.final != nil || l.leftLocked(time.Now()) <= 0
	l.mu.Unlock()
	if file != nil {
		if l.store == nil {
			return file.keep()
		}
		if err := file.remove(); err != nil {
			return err
		}
	}
	if l.store == nil || over {
		return nil // there is nothing to give back
	}
	return l.store.release(ctx, h, l.g.firstUnused(), l.g.lastTick())
}

// stats fills in what is known of the lease.
func (l *lease) stats(st *Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.leftLocked(time.Now())
	st.Fleet, st.Server, st.Until = l.held.terms.fleet, l.server, l.held.terms.layout.TimeOf(l.held.rect.until)
	st.Renewed, st.Renewals, st.Failed, st.Err = l.renewed, l.renewals, l.failed, l.err
	if l.final != nil {
		st.Err = l.final
	}
	st.Overdue = !st.Closed && (l.final != nil || l.lateLocked(left))
	if !st.Closed && l.final == nil {
		st.Left = max(0, left)
	}
}
