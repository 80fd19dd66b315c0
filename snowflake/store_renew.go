package snowflake

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/ticket"
)

// errOver is returned for a renewal that comes too late: the server's time has
// passed the end of the lease.
var errOver = errors.New("snowflake: the lease had ended by the server's clock before it was renewed")

// lookAround bounds, together with a tenth of the lease, how long a renewal waits for
// the other servers.
const lookAround = time.Second

// beware sees to it that the lease's server is not one whose second copy another
// server has heard of: that one's fence kept the number back for as long as a lease
// lasts from then on, and whoever renews with the original afterwards holds on to it
// for longer. A server that has heard of a copy has raised its generation: then the
// client checks it, learns of the copy, and leaves the original alone before the
// renewal is sent. Who does not answer in time cannot tell.
func (s *fleetStore) beware(ctx context.Context, h hold) {
	length := time.Duration(h.terms.length*h.terms.layout.unit) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, min(lookAround, length/10))
	defer cancel()
	s.fleet.Each(ctx, func(ctx context.Context, c *ticket.Conn) error {
		if offset, _ := c.Class(); offset == h.offset {
			return nil // the renewal itself proves it
		}
		var gen int64
		if err := c.Get(ctx, &gen, queryGen); err != nil {
			return err
		}
		if gen != c.Gen() {
			return c.Changed()
		}
		return nil
	})
}

// renew makes the lease longer and returns it as it is then. lastTick is for
// people. Errors: the fleet's, after which nothing is known and it may be tried
// again; *LeaseLostError and errOver, after which it is of no use.
func (s *fleetStore) renew(ctx context.Context, h hold, lastTick int64) (hold, error) {
	s.beware(ctx, h)
	var final error
	err := s.fleet.DoOn(ctx, h.offset, func(ctx context.Context, c *ticket.Conn) error {
		final = nil
		sent := time.Now()
		epoch, unit := h.terms.layout.epoch, h.terms.layout.unit
		now, matched, err := execAgain(ctx, c, queryRenew, epoch, unit, h.terms.length, max(0, lastTick),
			h.number, h.nonce[:], epoch, unit, h.rect.until, c.Gen(), c.ID())
		if err != nil {
			return err
		}
		if matched == 0 {
			if _, final, err = look(ctx, c, h); final == nil && err == nil {
				err = c.Changed()
			}
			return err
		}
		// What the row says may be later, if it is parked; less is always ours.
		h.rect.until = max(h.rect.until, h.terms.end(h.terms.tick(now)+h.terms.length))
		h.time = serverTime{ms: now, read: sent}
		return nil
	})
	return h, errors.Join(final, err)
}

// look reads a row that was not renewed or released. final says that it is of
// no use to its holder any more; with neither error it ought to have matched.
func look(ctx context.Context, c *ticket.Conn, h hold) (row leaseRow, final, err error) {
	err = c.Get(ctx, &row, queryLease, h.number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return row, &LeaseLostError{Worker: h.number, Problem: "its row is gone"}, nil
	case err != nil:
		return row, nil, err
	case row.Gen != c.Gen():
		return row, nil, c.Changed()
	case row.Holder == nil:
		return row, &LeaseLostError{Worker: h.number, Problem: "the server says that nobody holds it"}, nil
	case !bytes.Equal(row.Holder, h.nonce[:]):
		return row, &LeaseLostError{Worker: h.number, Problem: "the server says that somebody else holds it"}, nil
	case h.terms.tick(row.Now) >= h.rect.until:
		return row, errOver, nil
	}
	return row, nil, nil
}

// release gives the number back from the first tick on that the holder has
// not used and never will. It is no error if the number is not ours any more, or
// parked.
func (s *fleetStore) release(ctx context.Context, h hold, firstUnused, lastTick int64) error {
	err := s.fleet.DoOn(ctx, h.offset, func(ctx context.Context, c *ticket.Conn) error {
		_, matched, err := execAgain(ctx, c, queryRelease, max(0, firstUnused), max(0, lastTick), h.number, h.nonce[:], c.Gen(), c.ID())
		if err != nil || matched == 1 {
			return err
		}
		row, final, err := look(ctx, c, h)
		if err == nil && final == nil && row.Until > row.ParkedUntil {
			err = c.Changed()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("release worker number %d, which is free when its lease has run out: %w", h.number, err)
	}
	return nil
}

// execAgain sends a statement again that the server undid because of another.
func execAgain(ctx context.Context, c *ticket.Conn, query string, args ...any) (id, matched int64, err error) {
	for range 3 {
		id, matched, err = c.Exec(ctx, query, args...)
		if !mysqlerr.IsRetryable(err) {
			break
		}
	}
	return id, matched, err
}
