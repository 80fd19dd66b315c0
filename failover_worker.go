package oddeven

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/oddeven/oddeven/snowflake"
)

const (
	// workerLook is how often it is looked at whether the worker still has a lease.
	workerLook = time.Second
	// maxLeaseBackoff bounds how long it takes until the next attempt to get one.
	maxLeaseBackoff = 2 * time.Second
	// leaseWithin bounds one attempt.
	leaseWithin = 30 * time.Second
)

var (
	// errNoLease is why there is no worker right after Open.
	errNoLease = errors.New("oddeven: no worker leased yet; Ready waits for one")
	// errNotNeeded is why there never is one.
	errNotNeeded = errors.New("oddeven: no Generator falls back on a worker, so none is leased")
)

// reserve is the worker of a Client. There is one at most; another one takes its
// place when its lease is lost, or when it was taken up without servers and these
// are back: that one can't be renewed.
type reserve struct {
	nudge chan struct{} // says that the worker is of no use any more; holds one

	mu       sync.Mutex // guards all below; never held across I/O
	worker   *snowflake.Worker
	renews   bool          // it has servers to renew its lease on
	err      error         // why there is none
	changing chan struct{} // closed when the worker in place has been exchanged; nil as a rule
}

func newReserve(needed bool) *reserve {
	r := &reserve{nudge: make(chan struct{}, 1), err: errNoLease}
	if !needed {
		r.err = errNotNeeded
	}
	return r
}

// nextN fills ids from the worker, and waits only while it is being exchanged, or
// has borrowed all it may. The error is why there is no ID.
func (r *reserve) nextN(ctx context.Context, ids []int64) error {
	for {
		r.mu.Lock()
		w, err, changing := r.worker, r.err, r.changing
		r.mu.Unlock()
		if w == nil && changing == nil {
			return err
		}
		if w == nil {
			select {
			case <-changing:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err = w.NextN(ctx, ids)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, snowflake.ErrClosed) && r.replaced(w):
			continue
		case ctx.Err() == nil:
			r.report()
		}
		return err
	}
}

// replaced reports whether w is not the worker any more.
func (r *reserve) replaced(w *snowflake.Worker) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.worker != w
}

// report has the worker looked at.
func (r *reserve) report() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// missing is why there is no worker, nil if there is one.
func (r *reserve) missing() error { return r.stats().Err }

// stats is a snapshot, but for Needed. A worker that is being exchanged counts as
// leased.
func (r *reserve) stats() WorkerStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	var st WorkerStats
	switch {
	case r.worker != nil:
		st.Worker = r.worker.Stats()
		st.Err = ended(st.Worker)
	case r.changing == nil:
		st.Err = r.err
	}
	st.Leased = st.Err == nil
	return st
}

// ended is why a worker makes no IDs any more, nil if it does. One whose lease is
// not overdue goes on: at most its state file is late.
func ended(st snowflake.Stats) error {
	if !st.Overdue {
		return nil
	}
	return st.Ended
}

// set puts a worker in place.
func (r *reserve) set(w *snowflake.Worker, renews bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.worker, r.renews, r.err = w, renews, nil
}

// take takes the worker out of its place if it is of no use: its lease is lost, or
// can't be renewed although there are servers now. due says that another one is
// needed.
func (r *reserve) take() (w *snowflake.Worker, lost, due bool) {
	r.mu.Lock()
	w, renews := r.worker, r.renews
	r.mu.Unlock()
	if w == nil {
		return nil, false, true
	}
	why := ended(w.Stats())
	if why == nil && renews {
		return nil, false, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.worker, r.err = nil, why
	if why == nil {
		r.changing = make(chan struct{})
	}
	return w, why != nil, true
}

// failed notes why there is no other worker, and reports whether that is news. Why
// the last one ended stays known: it has the time.
func (r *reserve) failed(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lease, ok := errors.AsType[*snowflake.LeaseEndedError](r.err); ok {
		err = errors.Join(lease, err)
	}
	news := r.err == nil || r.err.Error() != err.Error()
	r.err = err
	return news
}

// settled lets calls go on that wait for an exchange.
func (r *reserve) settled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changing != nil {
		close(r.changing)
		r.changing = nil
	}
}

// close ends the worker, and releases its number. It may be called again.
func (r *reserve) close() error {
	r.mu.Lock()
	w := r.worker
	r.worker, r.err = nil, ErrClosed
	r.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.Close()
}

// keepWorker leases a worker when there are servers, and another one when it has
// lost its lease.
func (c *Client) keepWorker() {
	select {
	case <-c.reached:
	case <-c.ctx.Done():
		return
	}
	for b := backoff(0); ; {
		wait := workerLook
		if err := c.renewReserve(); err != nil {
			wait = b.next(maxLeaseBackoff)
		} else {
			b = 0
		}
		c.bringBack()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.reserve.nudge:
		case <-c.ctx.Done():
		}
		timer.Stop()
		if c.ctx.Err() != nil {
			return
		}
	}
}

// renewReserve sees to it that there is a worker with a lease. One that was taken
// up from the state file is closed first, which leaves the lease to the next one.
func (c *Client) renewReserve() error {
	old, lost, due := c.reserve.take()
	if !due {
		return nil
	}
	defer c.reserve.settled()
	if old != nil {
		if err := old.Close(); err != nil {
			c.cfg.Logger.Warn("oddeven: worker closed", "error", err)
		}
	}
	ctx, cancel := context.WithTimeout(c.ctx, leaseWithin)
	defer cancel()
	w, err := snowflake.Open(ctx, c.fleet.Load(), c.cfg.worker())
	if err != nil {
		if c.reserve.failed(err) && c.ctx.Err() == nil {
			c.cfg.Logger.Warn("oddeven: no worker to fall back on", "error", err)
		}
		return err
	}
	c.reserve.set(w, true)
	st := w.Stats()
	if old != nil && !lost && old.Stats().Number != st.Number {
		c.cfg.Logger.Error("oddeven: the lease that Open took up was released meanwhile, or its state file is gone: if it was released, somebody else may have issued the same IDs",
			"file", c.cfg.Worker.StateFile, "worker", old.Stats().Number)
	}
	c.cfg.Logger.Info("oddeven: worker leased", "worker", st.Number, "server", st.Server, "until", st.Until)
	return nil
}

// bringBack has Generators that are away see that their sequence has reached its
// ceiling, or was deleted: that is an error, and no reason to go on with the worker.
// They do not count as having returned.
func (c *Client) bringBack() {
	for _, g := range c.all() {
		a := g.opened.Load()
		if a != nil && g.away.Load() && isFinal(a.Stats().Err) {
			g.end(a)
		}
	}
}
