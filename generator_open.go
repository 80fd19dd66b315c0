package oddeven

import (
	"context"
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
)

// Sequence returns the Generator of a sequence, the same one for every call with
// that name. It reserves a first segment; ctx bounds that. If no server answers
// and there is a worker to fall back on, the Generator begins with that, and the
// sequence is opened in the background: then it is not known yet whether there is
// such a sequence.
//
// Errors: ErrClosed; a *ticket.ConfigError for a bad name; a
// *segment.UnknownSequenceError if no server that answers has it;
// segment.ErrExhausted; segment.ErrScheme; a *PlaneError; an *UnavailableError; ctx's
// own; with Config.Segment.Create also what segment.Open says.
func (c *Client) Sequence(ctx context.Context, name string) (*Generator, error) {
	if err := sequence.CheckName(name); err != nil {
		return nil, err
	}
	if g, err := c.known(name); g != nil || err != nil {
		return g, err
	}
	if err := c.refused(); err != nil {
		return nil, err
	}
	a, err := c.allocator(ctx, name)
	if err == nil {
		return c.add(name, a, nil)
	}
	switch plan := c.cfg.of(name); {
	case c.isClosed():
		return nil, ErrClosed
	case ctx.Err() != nil || !isOutage(err):
		return nil, err
	case plan.Outage != FallBack:
		return nil, &UnavailableError{Sequence: name, Servers: err}
	}
	if why := c.reserve.missing(); why != nil {
		return nil, &UnavailableError{Sequence: name, Servers: err, Worker: why}
	}
	return c.add(name, nil, err)
}

// known is the Generator of a sequence if there is one already.
func (c *Client) known(name string) (*Generator, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	return c.generators[name], nil
}

// add makes the Generator of a sequence, unless somebody else was faster. It has
// an Allocator, or opens one in the background because of why.
func (c *Client) add(name string, a *segment.Allocator, why error) (*Generator, error) {
	c.mu.Lock()
	g, closed := c.generators[name], c.closed
	if g == nil && !closed {
		g = newGenerator(c, name, c.scheme)
		if a != nil {
			g.use(a)
			a = nil
		} else {
			g.begin(why)
			c.backgroundLocked(g.openLater)
		}
		c.generators[name] = g
	}
	c.mu.Unlock()
	if a != nil {
		_ = a.Close() // always nil
	}
	if closed {
		return nil, ErrClosed
	}
	return g, nil
}

// allocator opens the Allocator of a sequence.
func (c *Client) allocator(ctx context.Context, name string) (*segment.Allocator, error) {
	fleet := c.fleet.Load()
	if fleet == nil {
		return nil, c.whyUnreached()
	}
	a, err := segment.Open(ctx, fleet, name, c.cfg.segments(c.cfg.of(name)))
	if err != nil {
		return nil, fmt.Errorf("open sequence %q: %w", name, err)
	}
	c.mu.Lock()
	s := c.scheme
	c.mu.Unlock()
	if err := s.checkCeiling(name, a.Stats().Ceiling); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}
