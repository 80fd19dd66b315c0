package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
)

const (
	// atHand is for how long segments last here, so that they are used up soon after
	// the cut. An application has IDs at hand for many seconds.
	atHand = 50 * time.Millisecond
	// drawsPerSecond is how often all callers together draw.
	drawsPerSecond = 10_000
	slowestPace    = time.Millisecond
	// settling is how long the callers draw before the cut.
	settling = 300 * time.Millisecond
	// longestOutage is longer than a statement's timeout, so that also servers that
	// went silent are known to be down.
	longestOutage = 3 * time.Second
	awaitWorker   = 15 * time.Second
	awaitSegments = 30 * time.Second
)

// outageOf is how long the client is cut off: no longer than a lease surely lasts.
func outageOf(duration, lease time.Duration) time.Duration {
	return min(duration, longestOutage, lease/2)
}

// failOver cuts a client off from all servers, in both ways.
func (r *runner) failOver(ctx context.Context) error {
	var errs []error
	for _, v := range []struct {
		variant string
		passage passage
	}{{Refused, refused}, {Silent, silent}} {
		if !r.begin(ctx, "failing over, this client's connections %s", v.variant) {
			break
		}
		out, err := r.cutOff(ctx, v.variant, v.passage)
		errs = append(errs, err)
		if out != nil && ctx.Err() == nil {
			r.report.Failovers = append(r.report.Failovers, *out)
		}
	}
	return errors.Join(errs...)
}

// cutOff measures one way. The error is that of closing.
func (r *runner) cutOff(ctx context.Context, variant string, p passage) (*Failover, error) {
	g := newGate()
	generator, closeClient, err := r.generator(ctx, oddeven.Config{
		Servers: g.through(r.cfg.Servers),
		Segment: segment.Config{Interval: atHand, MinStep: 10, MaxStep: drawsPerSecond},
		Worker:  snowflake.Config{Lease: r.lease()},
	})
	if err != nil {
		r.refuse(ctx, "failing over, connections "+variant, err)
		return nil, nil
	}
	w := newWatch(slices.Max(r.cfg.Callers), r.facts.shardBits, r.ids)
	drawing, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range w.out.Callers {
		all.Go(func() { w.draw(drawing, generator) })
	}
	err = w.direct(ctx, g, p, outageOf(r.cfg.Duration, r.lease()))
	g.set(open) // whatever has happened: closing needs the servers
	stop()
	all.Wait()
	closing := closeClient()
	r.report.Used.Rounds += generator.Stats().Segment.Reserved
	w.out.Variant = variant
	if err == nil && w.out.Failed > 0 {
		err = w.err
	}
	if err != nil && ctx.Err() == nil {
		w.out.Error = err.Error()
		if r.failed == nil {
			r.failed = err
		}
	}
	return &w.out, closing
}

// watch is callers of one Generator at a steady pace, and what they notice.
type watch struct {
	pace time.Duration
	bits int
	set  *seen

	mu      sync.Mutex // guards all below; never held across I/O
	out     Failover
	err     error         // first one
	cut     time.Time     // zero before
	restore time.Time     // zero before
	worker  chan struct{} // closed with the first ID of the worker after the cut
	back    chan struct{} // closed with the first ID of a segment after restore
}

func newWatch(callers, bits int, set *seen) *watch {
	return &watch{
		pace: max(slowestPace, time.Duration(callers)*time.Second/drawsPerSecond), bits: bits, set: set,
		out: Failover{Callers: callers}, worker: make(chan struct{}), back: make(chan struct{}),
	}
}

// draw is one caller.
func (w *watch) draw(ctx context.Context, g *oddeven.Generator) {
	ids := &tape{set: w.set}
	defer ids.flush()
	tick := time.NewTicker(w.pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var id oddeven.ID
		var err error
		began := time.Now()
		if w.bits > 0 {
			id, err = g.NextFor(ctx, 0)
		} else {
			id, err = g.Next(ctx)
		}
		if ctx.Err() != nil {
			return // cut short, or not: it is none of the outage's any more
		}
		w.note(began, time.Now(), id, err)
		switch {
		case err != nil:
		case id < oddeven.ID(schema.Ceiling):
			ids.note(int64(id) >> w.bits)
		default:
			ids.note(int64(id))
		}
	}
}

// note notes a call. Only those count that had not ended at the cut.
func (w *watch) note(began, ended time.Time, id oddeven.ID, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut.IsZero() || ended.Before(w.cut) {
		return
	}
	w.out.Longest = max(w.out.Longest, ended.Sub(began).Nanoseconds())
	if err != nil {
		w.out.Failed++
		if w.err == nil {
			w.err = err
		}
		return
	}
	w.out.Count++
	fromWorker := id >= oddeven.ID(schema.Ceiling)
	if fromWorker && w.out.Worker == 0 {
		w.out.Worker = ended.Sub(w.cut).Nanoseconds()
		close(w.worker)
	}
	if !fromWorker && w.out.Back == 0 && !w.restore.IsZero() && began.After(w.restore) {
		w.out.Back = ended.Sub(w.restore).Nanoseconds()
		close(w.back)
	}
}

// direct cuts off and restores. The error says what did not come.
func (w *watch) direct(ctx context.Context, g *gate, p passage, outage time.Duration) error {
	if !pause.For(ctx, settling) {
		return ctx.Err()
	}
	w.mu.Lock()
	w.cut = time.Now()
	cut := w.cut
	w.mu.Unlock()
	g.set(p)
	if err := await(ctx, w.worker, awaitWorker); err != nil {
		return fmt.Errorf("no ID of the worker after the servers were cut off: %w", err)
	}
	if !pause.For(ctx, outage-time.Since(cut)) {
		return ctx.Err()
	}
	w.mu.Lock()
	w.restore = time.Now()
	w.out.Outage = w.restore.Sub(cut).Nanoseconds()
	w.mu.Unlock()
	g.set(open)
	if err := await(ctx, w.back, awaitSegments); err != nil {
		return fmt.Errorf("no ID of a segment after the servers could be reached again: %w", err)
	}
	return nil
}

// errLate is why a wait was given up.
var errLate = errors.New("waited in vain")

// await waits for a channel to be closed.
func await(ctx context.Context, what <-chan struct{}, atMost time.Duration) error {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-what:
		return nil
	case <-timer.C:
		return fmt.Errorf("%w for %s", errLate, atMost)
	case <-ctx.Done():
		return ctx.Err()
	}
}
