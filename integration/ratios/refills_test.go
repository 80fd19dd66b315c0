//go:build ratios

package ratios

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/recipes"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const (
	ordersName = "orders"
	refillStep = 1000
)

// refills are the claims about reserving a segment on servers of one flavour.
func refills(t *testing.T, flavor string) []claim {
	server := newFleet(t, 1, flavor).Servers[0]
	fleet := openFleet(t, ticket.Config{Servers: parse(t, []string{server.DirectDSN()}), Conns: 1})
	createOrders(t, fleet)
	return []claim{{
		name:  "refill, one connection, median latency against Leaf's transaction (" + string(server.Flavor()) + " " + server.Version() + ")",
		bound: 0.66, both: alone(reserve(newSource(t, fleet)), draws(newLeaf(t, server).Next)),
	}}
}

// newSource is what an Allocator of a fleet reserves from.
func newSource(t testing.TB, fleet *ticket.Fleet) segment.Source {
	t.Helper()
	source, err := segment.NewSource(fleet, ordersName)
	require.NoError(t, err)
	return source
}

func createOrders(t testing.TB, fleet *ticket.Fleet) {
	t.Helper()
	_, err := sequence.Create(t.Context(), fleet, sequence.Spec{Name: ordersName})
	require.NoError(t, err)
}

// reserve reserves a segment, above the one before.
func reserve(source segment.Source) func(context.Context) error {
	var floor int64
	return func(ctx context.Context) error {
		r, err := source.Reserve(ctx, floor, refillStep)
		if err == nil {
			floor = (r.First-1)/r.Stride + r.Count - 1
		}
		return err
	}
}

func newLeaf(t testing.TB, s *testfleet.Server) *recipes.Segments {
	t.Helper()
	require.NoError(t, recipes.SegmentTables(t.Context(), s.DB(), refillStep))
	conn, err := openPool(t, s, 1).Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return recipes.NewLeaf(conn)
}
