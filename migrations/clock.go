package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

// Servers do not have one clock. What a server that is not here has issued and
// leased goes by its own, so a new row goes by the latest of all that are.

const queryServerTime = "SELECT UNIX_TIMESTAMP()"

func (m *member) serverTime(ctx context.Context) (int64, error) {
	var now int64
	if err := m.session.db.GetContext(ctx, &now, queryServerTime); err != nil {
		return 0, fmt.Errorf("read server time: %w", err)
	}
	return now, nil
}

// now is the latest time of all servers, in Unix seconds: m's is read, the
// others' are carried on from when they were met.
func (c *crew) now(ctx context.Context, m *member) (int64, error) {
	own, err := m.serverTime(ctx)
	_, last := c.clocks(time.Now())
	return max(own, last), err
}

// apart is by how many seconds the clocks of the servers differ.
func (c *crew) apart() int64 {
	first, last := c.clocks(time.Now())
	return last - first
}

// farApart reports whether clock lines cannot bear how the clocks differ.
func farApart(seconds int64) bool { return seconds > schema.ClockMargin/2 }

// clocks are the earliest and the latest time of the servers, carried on to at,
// rounded up; 0 and 0 if no server has answered.
func (c *crew) clocks(at time.Time) (first, last int64) {
	for _, m := range c.members {
		if m.met.IsZero() {
			continue
		}
		now := m.inc.Now + int64((at.Sub(m.met)+time.Second-1)/time.Second)
		if last == 0 {
			first = now
		}
		first, last = min(first, now), max(last, now)
	}
	return first, last
}
