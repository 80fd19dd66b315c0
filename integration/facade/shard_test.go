package facade_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
)

// Every ID has its shard in the lowest bits, in both planes.
func TestShards(t *testing.T) {
	const bits = 4
	var l ledger
	servers := newFleet(t, 2, lastsLong, bits)
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	draw := func(of oddeven.Plane) {
		t.Helper()
		ctx := clienttest.Bounded(t)
		var plane oddeven.Plane
		for i := int64(0); i < 1000 || plane != of; i++ { // what is at hand is used up first
			shard := i % (1 << bits)
			id, err := g.NextFor(ctx, shard)
			require.NoError(t, err)
			l.add(id)
			origin, err := c.Decode(id)
			require.NoError(t, err)
			require.Equal(t, shard, origin.Shard)
			require.Equal(t, shard, id.Shard(bits))
			plane = origin.Plane
		}
		ids := make([]oddeven.ID, 100)
		require.NoError(t, g.NextNFor(clienttest.Bounded(t), 5, ids))
		l.add(ids...)
	}
	draw(oddeven.PlaneSegment)
	for _, s := range servers.Servers {
		s.Cut()
	}
	draw(oddeven.PlaneSnowflake)
	l.requireUnique(t)
	for _, shard := range []int64{-1, 1 << bits} {
		_, err := g.NextFor(t.Context(), shard)
		require.ErrorIs(t, err, oddeven.ErrShard)
	}
	_, err := g.Next(t.Context())
	require.ErrorContains(t, err, "call NextFor")
}

// set changes the row of every server by hand.
func set(t testing.TB, servers *testfleet.Fleet, what string, args ...any) {
	t.Helper()
	for _, s := range servers.Servers {
		clienttest.Exec(t, s, "UPDATE server SET "+what, args...)
	}
}

// A layout whose IDs are below 2^53 is refused, with the arithmetic.
func TestOpenRefusesALayoutBelowTheCeiling(t *testing.T) {
	servers := newFleet(t, 2, lastsLong, 0)
	epoch := time.Now().UTC().Truncate(24 * time.Hour)
	set(t, servers, "layout = ?, epoch_ms = ?", "time:41,worker:10,sequence:12;unit=1ms;epoch="+epoch.Format(time.RFC3339), epoch.UnixMilli())
	_, err := oddeven.Open(clienttest.Bounded(t), config(servers))
	require.ErrorIs(t, err, oddeven.ErrPlane)
	require.ErrorContains(t, err, "9007199254740992 / 2^22 = 2147483648, and 2147483648 x 1ms is 24.9 days")
}

// Shard bits that the layout has no field for are refused.
func TestOpenRefusesShardBitsThatTheLayoutLacks(t *testing.T) {
	servers := newFleet(t, 2, lastsLong, 0)
	set(t, servers, "shard_bits = 4")
	_, err := oddeven.Open(clienttest.Bounded(t), config(servers))
	require.ErrorIs(t, err, oddeven.ErrPlane)
	require.ErrorContains(t, err, "the fleet has 4 shard bits")
}

// A sequence that goes on above what can be composed with a shard is refused.
func TestSequenceAboveItsPlaneIsRefused(t *testing.T) {
	servers := newFleet(t, 2, lastsLong, 4)
	for _, s := range servers.Servers {
		clienttest.Exec(t, s, "UPDATE sequences SET ceiling = ? WHERE name = ?", int64(1)<<53-1, orders)
	}
	c := openReady(t, config(servers))
	_, err := c.Sequence(clienttest.Bounded(t), orders)
	require.ErrorIs(t, err, oddeven.ErrPlane)
	require.ErrorContains(t, err, "9007199254740992 / 2^4 - 1 = 562949953421311")
}
