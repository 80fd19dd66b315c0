package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/integration/rivals/products"
	"github.com/oddeven/oddeven/segment"
)

const (
	pacedRate     = 1_000_000 // IDs a second, from all callers
	pacedCallers  = 2
	pacedTick     = 10 * time.Millisecond
	pacedInterval = 500 * time.Millisecond // of a segment, so that there are many
	pacedWarmUp   = 4                      // segments, in which the step finds the rate
)

// reserved draws from a sequence of its own at a steady rate, and notes how many
// IDs were reserved for one that was issued. A segment more or less at the ends of
// the time is in the figure.
func (o Options) reserved(t testing.TB, servers []*mysql.Config, l *line) {
	fmt.Fprintf(o.Progress, "  %s at %d IDs/s\n", l.name, pacedRate)
	g := openGenerator(t, servers, "paced", segment.Config{Create: true, Interval: pacedInterval})
	pace := func(window time.Duration) int64 {
		n, err := measure.Pace(t.Context(), pacedCallers, pacedRate/pacedCallers, window, pacedTick, func(ctx context.Context, _ int) error {
			_, err := g.Next(ctx)
			return err
		})
		require.NoError(t, err)
		return int64(n)
	}
	pace(min(o.Paced, pacedWarmUp*pacedInterval))
	before := g.Stats().Segment.Reserved
	issued := pace(o.Paced)
	l.reserve = float64(g.Stats().Segment.Reserved-before) / float64(issued)
}

// duplicates looks at many IDs of each product, in the same memory.
func (o Options) duplicates(t testing.TB, g *group, all []products.Product) {
	ids := make([]products.Key, o.IDs)
	for _, p := range all {
		fmt.Fprintf(o.Progress, "  %s: duplicates in %d IDs of %d callers\n", p.Name, o.IDs, products.Callers)
		n, err := products.Duplicates(t.Context(), p, ids)
		require.NoError(t, err)
		l := g.line(p.Name)
		l.found, l.looked = findings{ids: int64(o.IDs), duplicates: int64(n)}, true
	}
}
