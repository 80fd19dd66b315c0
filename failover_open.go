package oddeven

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// What a Client does that could not reach a server at once.

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = time.Second
)

// backoff is how long to wait after the failures so far.
type backoff time.Duration

// next is how long to wait after one more failure.
func (b *backoff) next(most time.Duration) time.Duration {
	d := min(max(minBackoff, 2*time.Duration(*b)), most)
	*b = backoff(d)
	return d/2 + rand.N(d/2+1)
}

// openWithout takes up the lease of the state file because no server answers, and
// goes on looking for one. How IDs are put together is known from the lease: its
// layout has the fleet's shard bits.
func (c *Client) openWithout(unreached error) error {
	if c.cfg.Worker.StateFile == "" || !c.cfg.needsWorker() {
		return &UnavailableError{Servers: unreached}
	}
	w, err := snowflake.Open(c.ctx, nil, c.cfg.worker())
	if err != nil {
		return &UnavailableError{Servers: unreached, Worker: err}
	}
	st := w.Stats()
	layout := st.Layout
	s := scheme{fleet: st.Fleet, bits: layout.Width(snowflake.KindShard), layout: layout}
	if err := layout.CheckShardBits(s.bits); err != nil {
		return errors.Join(&PlaneError{Problem: "the lease in the state file has a layout that no fleet can have", Err: err}, w.Close())
	}
	c.scheme, c.unreached = s, unreached
	c.reserve.set(w, false)
	c.cfg.Logger.Warn("oddeven: no server answers; going on with the lease of the state file", "error", unreached)
	c.background(c.connectLater)
	return nil
}

// connectLater looks for a server until there is one.
func (c *Client) connectLater() {
	for b := backoff(0); ; {
		fleet, s, err := c.connect(c.ctx)
		if err == nil {
			if err = c.agrees(s); err != nil {
				c.refuse(errors.Join(err, fleet.Close()))
				return
			}
			c.reach(fleet, s)
			c.cfg.Logger.Info("oddeven: a server answers")
			return
		}
		if c.notReached(err) && !isOutage(err) && c.ctx.Err() == nil {
			c.cfg.Logger.Error("oddeven: the fleet can't be used", "error", err)
		}
		if !pause.For(c.ctx, b.next(maxBackoff)) {
			return
		}
	}
}

// notReached notes why no server has been reached, and reports whether that is news.
func (c *Client) notReached(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := c.unreached == nil || c.unreached.Error() != err.Error()
	c.unreached = err
	return news
}

// agrees checks that the lease is the fleet's: numbers of another fleet's may be
// leased here to somebody else.
func (c *Client) agrees(s scheme) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.fleet == c.scheme.fleet && s.bits == c.scheme.bits && s.layout == c.scheme.layout {
		return nil
	}
	return &PlaneError{
		Problem: fmt.Sprintf("the lease in the state file %s is of fleet %s with the layout %s, and the servers are of fleet %s with %s",
			c.cfg.Worker.StateFile, c.scheme.fleet, c.scheme.layout, s.fleet, s.layout),
		Remedy: "give each fleet a state file of its own; what was issued with that lease may have been issued by somebody else as well",
	}
}

// refuse ends issuing for good.
func (c *Client) refuse(err error) {
	c.wrong.Store(&err)
	c.cfg.Logger.Error("oddeven: no more IDs", "error", err)
	_ = c.reserve.close() // there is no server to release a number on
	c.reserve.failed(err)
}

// whyUnreached is why there is no fleet yet.
func (c *Client) whyUnreached() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreached == nil {
		return ticket.ErrUnavailable
	}
	return c.unreached
}

// begin notes that the Generator has no Allocator yet. It counts as away.
func (g *Generator) begin(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaveLocked()
	g.err = why
}

// use gives the Generator its Allocator. With WhenTold it stays with the worker if
// it has begun with that.
func (g *Generator) use(a *segment.Allocator) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuse = nil
	g.opened.Store(a)
	if !g.held.Load() {
		g.err = nil
		g.resumeLocked(a)
	}
}

// openLater opens the Allocator as soon as there is a server that has the sequence.
func (g *Generator) openLater() {
	c := g.client
	select {
	case <-c.reached:
	case <-c.ctx.Done():
		return
	}
	for b := backoff(0); ; {
		a, err := c.allocator(c.ctx, g.name)
		if err == nil {
			g.use(a)
			c.cfg.Logger.Info("oddeven: sequence opened", "sequence", g.name)
			return
		}
		g.notOpened(err)
		if !pause.For(c.ctx, b.next(maxBackoff)) {
			return
		}
	}
}

// notOpened notes why the Allocator could not be opened. If that is no outage,
// calls fail with it, as Sequence would have: a misspelt name must not go unnoticed.
func (g *Generator) notOpened(err error) {
	g.mu.Lock()
	news := g.refuse == nil && !isOutage(err)
	g.err, g.refuse = err, nil
	if !isOutage(err) {
		g.refuse = err
	}
	g.mu.Unlock()
	if news && g.client.ctx.Err() == nil {
		g.client.cfg.Logger.Error("oddeven: sequence can't be opened", "sequence", g.name, "error", err)
	}
}

// isOutage reports whether err says no more than that servers do not answer: that
// those which do lack a sequence says little while others may have it.
func isOutage(err error) bool {
	if unknown, ok := errors.AsType[*segment.UnknownSequenceError](err); ok {
		return !everyOne(unknown.Err)
	}
	return errors.Is(err, ticket.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// everyOne reports whether every server said that it lacks the sequence. err has
// an error for each server.
func everyOne(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return errors.Is(err, segment.ErrUnknownSequence)
	}
	for _, e := range joined.Unwrap() {
		if !errors.Is(e, segment.ErrUnknownSequence) {
			return false
		}
	}
	return true
}
