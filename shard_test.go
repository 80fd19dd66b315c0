package oddeven

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

func TestNextForPutsTheShardIntoBothPlanes(t *testing.T) {
	t.Parallel()
	const bits = 3
	c := newTestClient(t, Config{}, bits)
	useWorker(t, c)
	s := &source{}
	s.Ceiling = schema.CeilingFor(bits)
	g := newTestGenerator(t, c, s, "orders", 10)
	seen := map[ID]bool{}
	check := func(id ID, shard int64) {
		t.Helper()
		require.Equal(t, shard, id.Shard(bits))
		origin, err := c.Decode(id)
		require.NoError(t, err)
		require.Equal(t, shard, origin.Shard)
		require.False(t, seen[id])
		seen[id] = true
	}
	last := ID(0)
	for upper := false; !upper; {
		for shard := range int64(1 << bits) {
			id, err := g.NextFor(bounded(t), shard)
			require.NoError(t, err)
			check(id, shard)
			last, upper = id, id >= ID(schema.Ceiling)
		}
		if len(seen) > 100 {
			s.Fail(errDown)
		}
	}
	require.Positive(t, last)
	ids := make([]ID, 100)
	require.NoError(t, g.NextNFor(bounded(t), 5, ids))
	for _, id := range ids {
		check(id, 5)
	}
}

func TestShardsOutOfRange(t *testing.T) {
	t.Parallel()
	sharded := newTestGenerator(t, newTestClient(t, Config{}, 3), &source{}, "orders", 10)
	whole := newTestGenerator(t, newTestClient(t, Config{}, 0), &source{}, "orders", 10)
	for _, tt := range []struct {
		g     *Generator
		shard int64
	}{{sharded, -1}, {sharded, 8}, {whole, -1}, {whole, 1}} {
		_, err := tt.g.NextFor(t.Context(), tt.shard)
		var wrong *ShardError
		require.ErrorAs(t, err, &wrong)
		require.ErrorIs(t, err, ErrShard)
		require.Equal(t, ShardError{Bits: int(tt.g.bits), Shard: tt.shard, Remedy: wrong.Remedy}, *wrong)
		require.ErrorIs(t, tt.g.NextNFor(t.Context(), tt.shard, make([]ID, 1)), ErrShard)
	}
	id, err := whole.NextFor(t.Context(), 0)
	require.NoError(t, err)
	next, err := whole.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, id+1, next)
}

func TestNextNeedsAShard(t *testing.T) {
	t.Parallel()
	g := newTestGenerator(t, newTestClient(t, Config{}, 3), &source{}, "orders", 10)
	_, err := g.Next(t.Context())
	require.EqualError(t, err, "oddeven: wrong shard: the fleet has 3 shard bits, so an ID needs a shard, 0 to 7: call NextFor or NextNFor")
	require.ErrorIs(t, g.NextN(t.Context(), make([]ID, 1)), ErrShard)
	for id, err := range g.All(t.Context()) {
		require.Zero(t, id)
		require.ErrorIs(t, err, ErrShard)
	}
}

// A row that somebody has damaged does not lead to an ID of the other plane.
func TestWhatLeavesItsPlaneIsRefused(t *testing.T) {
	t.Parallel()
	const bits = 3
	c := newTestClient(t, Config{}, bits)
	s := &source{}
	s.Ceiling = schema.CeilingFor(bits) + 1000
	_, err := s.Reserve(t.Context(), schema.CeilingFor(bits)-10, 5) // close to the end
	require.NoError(t, err)
	g := newTestGenerator(t, c, s, "orders", 10)
	for err == nil {
		var id ID
		id, err = g.NextFor(bounded(t), 7)
		require.Less(t, id, ID(schema.Ceiling))
	}
	require.ErrorIs(t, err, ErrPlane)

	low, err := snowflake.ParseLayout("time:42,worker:3,shard:3;unit=1s;epoch=1970-01-01T00:00:00Z")
	require.NoError(t, err)
	w, err := snowflake.New(1, snowflake.Config{Layout: low, Ceiling: -1})
	require.NoError(t, err)
	c.reserve.set(w, true)
	s.Fail(errDown)
	for err = nil; err == nil || !errors.Is(err, ErrPlane); {
		_, err = g.NextFor(bounded(t), 1)
	}
	ids := make([]ID, 3)
	require.ErrorIs(t, g.NextNFor(bounded(t), 1, ids), ErrPlane)
	require.Equal(t, []ID{0, 0, 0}, ids)
}

func TestSchemeShowsTheArithmetic(t *testing.T) {
	t.Parallel()
	row := func(bits int, layout string) settings {
		return settings{Increment: 2, ShardBits: bits, Layout: layout, LongestMS: 4 * 3_600_000, Now: 1_795_219_200} // 2026-11-21
	}
	for _, tt := range []struct {
		name string
		row  settings
		want string
	}{
		{"Default", row(0, snowflake.Default().String()), ""},
		{"Sharded", row(4, "time:41,worker:10,sequence:8,shard:4;unit=1ms;epoch=2026-01-01T00:00:00Z"), ""},
		{"TooEarly", row(0, "time:41,worker:10,sequence:12;unit=1ms;epoch=2026-11-20T00:00:00Z"), "2^22 = 2147483648, and 2147483648 x 1ms is 24.9 days"},
		{"TooSmall", row(0, "time:30,worker:10,sequence:12;unit=1s;epoch=2026-01-01T00:00:00Z"), "IDs never reach the ceiling 9007199254740992"},
		{"NoShardField", row(4, snowflake.Default().String()), "take them from the sequence (12 - 4 = 8 bits)"},
		{"OtherShardField", row(3, "time:41,worker:10,sequence:8,shard:4;unit=1ms;epoch=2026-01-01T00:00:00Z"), "shard 4 bits; the fleet has 3"},
		{"ShardFieldNotLowest", row(4, "time:41,worker:10,shard:4,sequence:8;unit=1ms;epoch=2026-01-01T00:00:00Z"), "has 8 bits below it"},
		{"NoWorker", row(0, "time:41,sequence:22;unit=1ms;epoch=2026-01-01T00:00:00Z"), "no worker field"},
		{"NegativeBits", row(-1, snowflake.Default().String()), "-1 shard bits"},
		{"TooManyBits", row(33, snowflake.Default().String()), "33 shard bits"},
	} {
		s, err := tt.row.scheme("f", snowflake.Config{})
		if tt.want == "" {
			require.NoError(t, err, tt.name)
			require.Equal(t, tt.row.ShardBits, s.bits)
			continue
		}
		require.ErrorIs(t, err, ErrPlane, tt.name)
		require.ErrorContains(t, err, tt.want, tt.name)
	}
}

func TestSchemeComparesTheConfiguration(t *testing.T) {
	t.Parallel()
	row := settings{Increment: 2, Layout: snowflake.Default().String(), LongestMS: 60_000, Now: 1_795_219_200}
	other, err := snowflake.Preset("twitter")
	require.NoError(t, err)
	_, err = row.scheme("f", snowflake.Config{Layout: other})
	var conflict *snowflake.LayoutConflictError
	require.ErrorAs(t, err, &conflict)
	_, err = row.scheme("f", snowflake.Config{Lease: 61_000_000_000})
	require.ErrorContains(t, err, "Worker.Lease = 1m1s: the fleet allows at most 1m0s")
	_, err = row.scheme("f", snowflake.Config{Layout: snowflake.Default(), Lease: 60_000_000_000})
	require.NoError(t, err)
}

func TestSequenceCeilings(t *testing.T) {
	t.Parallel()
	s := scheme{bits: 10}
	require.NoError(t, s.checkCeiling("orders", 0))
	require.NoError(t, s.checkCeiling("orders", 1<<43-1))
	err := s.checkCeiling("orders", 1<<43)
	require.ErrorIs(t, err, ErrPlane)
	require.ErrorContains(t, err, "9007199254740992 / 2^10 - 1 = 8796093022207")
}
