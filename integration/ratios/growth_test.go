//go:build ratios

package ratios

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// Growth is measured with so many allocators in one process, which draw at the
// same rate each.
const (
	growthRate     = 2000 // IDs per second
	growthInterval = 500 * time.Millisecond
	growthWarmUp   = 2 * time.Second
	growthWindow   = 10 * time.Second
	coarseTick     = 20 * time.Millisecond
)

// growth shows how the load on a fleet grows with the allocators of a sequence.
func growth(t *testing.T, flavor string) []claim {
	fleet := openTickets(t, newFleet(t, 2, flavor).Servers...)
	createOrders(t, fleet)
	var claims []claim
	for _, n := range []int{1, 10, 100} {
		c := &crowd{fleet: fleet, n: n}
		what := fmt.Sprintf("allocators of one sequence with %d IDs/s each, interval %s: %d: ", growthRate, growthInterval, n)
		claims = append(claims,
			claim{name: what + "refills/s", once: c.find(func(c *crowd) float64 { return float64(c.refills) / growthWindow.Seconds() })},
			claim{name: what + "reserved against issued", once: c.find(func(c *crowd) float64 { return float64(c.reserved) / float64(c.issued) })},
		)
	}
	return claims
}

// crowd is what n allocators together did; they run when the first of its
// claims is measured.
type crowd struct {
	fleet *ticket.Fleet
	n     int

	once                      sync.Once
	err                       error
	refills, reserved, issued int64
}

func (c *crowd) find(value func(*crowd) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		c.once.Do(func() { c.err = c.run(ctx) })
		return value(c), c.err
	}
}

func (c *crowd) run(ctx context.Context) error {
	all := make([]*segment.Allocator, c.n)
	for i := range all {
		a, err := segment.Open(ctx, c.fleet, ordersName, segment.Config{Interval: growthInterval})
		if err != nil {
			return err
		}
		defer a.Close() //nolint:errcheck // always nil
		all[i] = a
	}
	draw := func(ctx context.Context, caller int) error {
		_, err := all[caller].Next(ctx)
		return err
	}
	if _, err := measure.Pace(ctx, c.n, growthRate, growthWarmUp, coarseTick, draw); err != nil {
		return err
	}
	before := sum(all)
	issued, err := measure.Pace(ctx, c.n, growthRate, growthWindow, coarseTick, draw)
	after := sum(all)
	c.refills, c.reserved, c.issued = after.Refills-before.Refills, after.Reserved-before.Reserved, int64(issued)
	return err
}

func sum(all []*segment.Allocator) (total segment.Stats) {
	for _, a := range all {
		st := a.Stats()
		total.Refills += st.Refills
		total.Reserved += st.Reserved
	}
	return total
}
