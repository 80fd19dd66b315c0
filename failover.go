package oddeven

import (
	"context"
	"errors"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// A Generator is in one of these states:
//
//	               opened                 used up, and no server answers
//	not opened ─────────────> segments ────────────────────────────────> away
//	     │                       ^                                        │
//	     │                       └────────────────────────────────────────┘
//	     └ like away, until a server  a server has answered (ByItself), or FailBack
//	       has told of the sequence   and then a server has answered (WhenTold)
//
// While it is away the worker makes the IDs. A call looks first whether the
// Allocator has any, which also begins a refill when it is time for one; the
// Allocator spaces its attempts itself.

// draw fills vs with numbers of one plane: all or nothing.
func (g *Generator) draw(ctx context.Context, vs []int64) (Plane, error) {
	plane, err := g.try(ctx, vs)
	if err == nil {
		return plane, nil
	}
	clear(vs)
	if g.client.isClosed() || errors.Is(err, segment.ErrClosed) || errors.Is(err, ticket.ErrClosed) {
		err = ErrClosed
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.failed++
	return "", err
}

func (g *Generator) try(ctx context.Context, vs []int64) (Plane, error) {
	if err := g.client.refused(); err != nil {
		return "", err
	}
	a := g.opened.Load()
	if a == nil {
		return PlaneSnowflake, g.unopened(ctx, vs)
	}
	if g.away.Load() {
		plane, err := g.drawAway(ctx, a, vs)
		if err == nil || ctx.Err() != nil || g.held.Load() {
			return plane, err
		}
		// The worker has none either: nothing is left but to wait for a server.
	}
	var at int // how many were at hand
	if !g.away.Load() {
		at = a.TryNextN(vs)
	}
	if at == len(vs) {
		return PlaneSegment, nil
	}
	none := g.fromSegments(ctx, a, vs[at:])
	switch {
	case none == nil:
		g.back(a)
		return PlaneSegment, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case isFinal(none):
		return "", none
	case g.plan.Outage != FallBack:
		return "", &UnavailableError{Sequence: g.name, Servers: none}
	}
	if err := g.fromWorker(ctx, vs, none); err != nil {
		return "", err
	}
	g.leave(none)
	return PlaneSnowflake, nil
}

// isFinal reports whether an Allocator returned what a worker should not make up
// for: the servers did answer.
func isFinal(err error) bool {
	return (errors.Is(err, segment.ErrExhausted) || errors.Is(err, segment.ErrUnknownSequence) || errors.Is(err, segment.ErrClosed)) &&
		!errors.Is(err, ticket.ErrUnavailable)
}

// unopened is draw while no server has told of the sequence.
func (g *Generator) unopened(ctx context.Context, vs []int64) error {
	g.mu.Lock()
	refuse, why := g.refuse, g.err
	g.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	return g.fromWorker(ctx, vs, why)
}

// drawAway is draw while the Generator has fallen back.
func (g *Generator) drawAway(ctx context.Context, a *segment.Allocator, vs []int64) (Plane, error) {
	if !g.held.Load() {
		if v, ok := a.TryNext(); ok {
			vs[0] = v
			if len(vs) == 1 || g.fromSegments(ctx, a, vs[1:]) == nil {
				g.back(a)
				return PlaneSegment, nil
			}
		}
	}
	g.mu.Lock()
	why := g.err
	g.mu.Unlock()
	return PlaneSnowflake, g.fromWorker(ctx, vs, why)
}

// fromSegments fills vs from the Allocator. It waits as long as servers answer
// often enough, and gives up at once if all are known to be down; with Wait, it
// waits as long as ctx allows.
func (g *Generator) fromSegments(ctx context.Context, a *segment.Allocator, vs []int64) error {
	if g.plan.Outage == Wait {
		return a.NextN(ctx, vs)
	}
	watched, end := watch(ctx, a, g.plan.After)
	defer end()
	for {
		err := a.NextN(watched, vs)
		switch {
		case err == nil || isFinal(err) || ctx.Err() != nil:
			return err
		case watched.Err() != nil:
			return context.Cause(watched)
		case g.client.whyDown() != nil || !pause.For(watched, betweenTries):
			return err
		}
	}
}

// betweenTries is how long a call waits that an Allocator has sent away although
// a server may be up.
const betweenTries = 5 * time.Millisecond

// fromWorker fills vs from the leased worker. noServer is why the servers have
// none.
func (g *Generator) fromWorker(ctx context.Context, vs []int64, noServer error) error {
	err := g.client.reserve.nextN(ctx, vs)
	switch {
	case err == nil:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.counts.fromWorker += int64(len(vs))
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &UnavailableError{Sequence: g.name, Servers: noServer, Worker: err}
}

// leave makes the Generator fall back on the worker.
func (g *Generator) leave(why error) {
	g.mu.Lock()
	left := !g.away.Load()
	if left {
		g.leaveLocked()
		g.err = why
		g.counts.failovers++
	}
	g.mu.Unlock()
	if left {
		g.client.cfg.Logger.Warn("oddeven: no server answers in time; the leased worker makes the IDs", "sequence", g.name, "error", why)
	}
}

func (g *Generator) leaveLocked() {
	g.plain.Store(nil)
	g.fast.Store(nil)
	g.held.Store(g.plan.Return == WhenTold)
	g.away.Store(true)
	g.since = time.Now()
}

// back makes the Generator take from segments again, which have an ID.
func (g *Generator) back(a *segment.Allocator) {
	if !g.away.Load() {
		return
	}
	g.mu.Lock()
	returns, since := g.away.Load() && !g.held.Load(), g.since
	if returns {
		g.counts.returns++
		g.err = nil
		g.resumeLocked(a)
	}
	g.mu.Unlock()
	if returns {
		g.client.cfg.Logger.Info("oddeven: IDs come from segments again", "sequence", g.name, "after", time.Since(since))
	}
}

// end makes the Generator ask its Allocator, which has nothing more: that is what
// calls fail with from now on.
func (g *Generator) end(a *segment.Allocator) {
	g.mu.Lock()
	ends, why := g.away.Load() && !g.held.Load(), a.Stats().Err
	if ends {
		g.err = nil
		g.resumeLocked(a)
	}
	g.mu.Unlock()
	if ends {
		g.client.cfg.Logger.Error("oddeven: the sequence has no more IDs", "sequence", g.name, "error", why)
	}
}

func (g *Generator) resumeLocked(a *segment.Allocator) {
	g.since = time.Now()
	g.away.Store(false)
	g.fast.Store(a)
	if g.bits == 0 {
		g.plain.Store(a)
	}
}

// FailBack lets a Generator whose Failover.Return is WhenTold go back to
// segments, with the first call after a server has answered. It does not wait.
func (g *Generator) FailBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held.Store(false)
}
