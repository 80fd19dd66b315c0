package oddeven

import (
	"context"
	"fmt"

	"github.com/oddeven/oddeven/internal/schema"
)

// NextFor returns the next ID of a shard, 0 to 2^ShardBits - 1, which has the
// shard in its lowest bits whichever plane it is of. In a fleet without shard bits
// there is one shard, 0, and NextFor does what Next does. Errors: a *ShardError,
// and those of Next.
func (g *Generator) NextFor(ctx context.Context, shard int64) (ID, error) {
	if uint64(shard) >= g.shards {
		return 0, g.wrongShard(shard)
	}
	if a := g.fast.Load(); a != nil {
		if v, ok := a.TryNext(); ok && v <= g.limit {
			return ID(v<<(g.bits&63) | shard), nil
		}
	}
	return g.one(ctx, shard)
}

// NextNFor fills ids with IDs of a shard, like NextN. Errors: a *ShardError, and
// those of NextN.
func (g *Generator) NextNFor(ctx context.Context, shard int64, ids []ID) error {
	if uint64(shard) >= g.shards {
		return g.wrongShard(shard)
	}
	return g.many(ctx, shard, ids)
}

// one returns one ID of a shard, of whichever plane.
func (g *Generator) one(ctx context.Context, shard int64) (ID, error) {
	var v [1]int64
	plane, err := g.draw(ctx, v[:])
	if err != nil {
		return 0, err
	}
	return g.compose(v[0], plane, shard)
}

// many is one for all of ids, or none.
func (g *Generator) many(ctx context.Context, shard int64, ids []ID) error {
	if err := checkLen(len(ids)); err != nil {
		return err
	}
	vs := make([]int64, len(ids))
	plane, err := g.draw(ctx, vs)
	for i := 0; err == nil && i < len(ids); i++ {
		ids[i], err = g.compose(vs[i], plane, shard)
	}
	if err != nil {
		clear(ids)
	}
	return err
}

// compose puts the shard into the lowest bits: below the number of a segment, and
// into the field that the layout has for it, which is 0 in what a worker makes.
// What would leave its plane is refused.
func (g *Generator) compose(v int64, plane Plane, shard int64) (ID, error) {
	switch {
	case plane == PlaneSegment && v <= g.limit:
		return ID(v<<(g.bits&63) | shard), nil
	case plane == PlaneSnowflake && v >= schema.Ceiling:
		return ID(v | shard), nil
	}
	return 0, &PlaneError{
		Problem: fmt.Sprintf("sequence %q got %d for the plane %s, where numbers of segments with %d shard bits are at most %d, and those of workers at least %d",
			g.name, v, plane, g.bits, g.limit, schema.Ceiling),
		Remedy: "somebody changed the servers' rows by hand; `oddeven doctor` says which",
	}
}

// wrongShard is why a shard is refused.
func (g *Generator) wrongShard(shard int64) error {
	e := &ShardError{Bits: int(g.bits), Shard: shard, Remedy: "name one of these; the number of shard bits is set when the fleet is made"}
	if g.bits == 0 {
		e.Remedy = "call Next; a fleet with shards is made by `oddeven migrate up --shard-bits`"
	}
	return e
}

// needShard is why a call that names no shard is refused, nil if it is not.
func (g *Generator) needShard() error {
	if g.bits == 0 {
		return nil
	}
	return &ShardError{Bits: int(g.bits), Missing: true, Remedy: "call NextFor or NextNFor"}
}
