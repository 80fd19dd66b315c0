package snowflake

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// closeWithin bounds how long Close waits for a lease to be released.
const closeWithin = 5 * time.Second

// Worker makes IDs with one worker number. All methods are safe for concurrent
// use. While it is not used it has neither goroutine nor timer, but for those of
// its lease. Close ends it.
type Worker struct {
	g     *generator
	lease *lease // nil for a number assigned by hand
	once  sync.Once
	err   error // of Close
}

// New makes a Worker with a number that was assigned by hand: 0 to
// Layout.MaxWorker, and no two processes may have the same at a time. Open leases
// one instead, which is safer.
//
// The host's clock is read once, here; from then on time is what has passed
// since. The first ID is of a tick that begins later than MaxAhead from now, which
// no earlier process with this number has used: it is there after one tick at
// most, until which TryNext reports false. So a process may be restarted with its
// number at once, as long as the host's clock is not set back meanwhile, a new
// host's clock is not behind the old one's, and MaxAhead is not made shorter.
//
// Numbers are not derived from the MAC address, the host name or the process ID,
// because such numbers are random ones: of k processes with one of N numbers each,
// two share one with probability 1 - e^(-k(k-1)/2N). With the 1,024 numbers of the
// default layout that is 4 % for 10 processes, 17 % for 20, 70 % for 50 and
// 99.2 % for 100; with 65,536 numbers 7 % for 100. Two that share a number make
// the same IDs from the first millisecond in which both are busy. Containers
// make it worse: there every process ID is 1, MAC addresses follow IP addresses,
// and host names are generated.
//
// Errors: a *ticket.ConfigError or *LayoutError with what is wrong and what to do;
// an *ExhaustedError.
func New(number int64, cfg Config) (*Worker, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Layout.IsZero() {
		cfg.Layout = Default()
	}
	now := time.Now()
	g, err := newGenerator(cfg.Layout, number, cfg.MaxAhead)
	if err != nil {
		return nil, err
	}
	if err := checkStart(cfg, now); err != nil {
		return nil, err
	}
	g.strict = true
	from := g.tickAt(now.UnixMilli()+g.ahead) + 1
	w := newWorker(g, cfg)
	g.grant(rectangle{from: from, until: cfg.Layout.MaxTick() + 1}, serverTime{ms: now.UnixMilli(), read: now})
	return w, nil
}

// checkStart checks that the host's clock is at a time that can be put into IDs
// of the right plane.
func checkStart(cfg Config, now time.Time) error {
	l := cfg.Layout
	if l.TickOf(now) > l.MaxTick() {
		return &ExhaustedError{Layout: l, At: l.Exhausted()}
	}
	if cfg.Ceiling > 0 {
		return l.CheckAbove(cfg.Ceiling, now)
	}
	if l.TickOf(now) < 0 {
		return &LayoutError{Field: "epoch", Value: formatEpoch(l.epoch),
			Problem: fmt.Sprintf("epoch %s has not come yet; it is %s", formatEpoch(l.epoch), formatTime(now)),
			Remedy:  "set the host's clock, or take an earlier epoch"}
	}
	return nil
}

// newWorker makes a Worker of a generator. cfg has its defaults.
func newWorker(g *generator, cfg Config) *Worker {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.warning.before, g.warning.logger = cfg.WarnBefore, cfg.Logger
	return &Worker{g: g}
}

// Next returns the next ID, greater than every one that this Worker returned
// before if time is the highest field of the layout and the sequence comes next.
// As long as there are IDs at hand, which is the rule, it neither waits nor
// locks, and does not look at ctx. When a burst has borrowed MaxAhead it waits for
// time to pass: as long as ctx allows. Errors: ErrClosed, ctx's own,
// *LeaseEndedError, *LeaseLostError, *StateFileError, *ExhaustedError.
func (w *Worker) Next(ctx context.Context) (int64, error) { return w.g.next(ctx) }

// TryNext is Next without waiting: it reports false where Next would have to wait
// or return an error.
func (w *Worker) TryNext() (int64, bool) { return w.g.tryNext() }

// NextN fills ids with IDs in the order that Next would return them in: all or
// nothing. They are not always consecutive. len(ids) must be 1 to MaxN, or a
// *ticket.ConfigError is returned. It waits and fails like Next; what it had
// claimed by then is a gap, and ids are 0.
func (w *Worker) NextN(ctx context.Context, ids []int64) error {
	if len(ids) < 1 || len(ids) > MaxN {
		return &ticket.ConfigError{Field: "len(ids)", Value: len(ids), Remedy: fmt.Sprintf("must be 1 to %d", MaxN)}
	}
	return w.g.nextN(ctx, ids)
}

// Stats returns a snapshot. It works after Close.
func (w *Worker) Stats() Stats {
	st := w.g.stats()
	if w.lease != nil {
		w.lease.stats(&st)
	}
	return st
}

// Close ends the Worker: callers that wait get ErrClosed, and a leased number is
// released, for which it waits 5 seconds at most; if that fails, the error says
// so and the number stays taken until its lease ends. It may be called again, and
// returns the same.
func (w *Worker) Close() error {
	w.once.Do(func() {
		w.g.stop()
		if w.lease == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		w.err = w.lease.close(ctx)
	})
	return w.err
}
