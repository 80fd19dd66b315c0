//go:build ratios

package ratios

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
)

// manySteps makes segments that last for a whole round, so that no refill is
// measured.
var manySteps = segment.Config{MinStep: 100_000_000, MaxStep: 1 << 40}

// facade is the claim about a Generator that has IDs at hand, on servers of one
// flavour, which hardly matter. Both sides have the same shape of loop.
func facade(t *testing.T, flavor string) []claim {
	server := newFleet(t, 1, flavor).Servers[0]
	fleet := openTickets(t, server)
	createOrders(t, fleet)
	a, err := segment.Open(t.Context(), fleet, ordersName, manySteps)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	client, err := oddeven.Open(t.Context(), oddeven.Config{DSNs: []string{server.DirectDSN()}, Segment: manySteps, Failover: oddeven.Failover{Outage: oddeven.Wait}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	g, err := client.Sequence(t.Context(), ordersName)
	require.NoError(t, err)
	next := func(int) func(int) error { return generatorNexts(g) }
	base := func(int) func(int) error { return nexts(a) }
	return []claim{memoryClaim("Generator.Next, one caller, against Allocator.Next", 1.2, 1, 0, next, base)}
}

func generatorNexts(g *oddeven.Generator) func(n int) error {
	return func(n int) error { return generatorNextAll(context.Background(), g, n) }
}

func generatorNextAll(ctx context.Context, g *oddeven.Generator, n int) error {
	for range n {
		if _, err := g.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// TestFacadeRatio measures this claim alone.
func TestFacadeRatio(t *testing.T) {
	var r report
	r.measure(t, facade(t, flavors()[0]))
	require.NoError(t, r.print(os.Stdout))
	require.True(t, r.ok())
}
