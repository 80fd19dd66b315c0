package oddeven

import (
	"context"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// querySettings reads what a server's row says for the whole fleet, which package
// ticket has compared with what the other servers say. It locks nothing.
const querySettings = "SELECT `increment`, `shard_bits`, `layout`, `longest_lease_ms`, UNIX_TIMESTAMP() AS `now` FROM `server` WHERE `id` = 1"

// settings is what querySettings reads.
type settings struct {
	Increment int64  `db:"increment"`
	ShardBits int    `db:"shard_bits"`
	Layout    string `db:"layout"`
	LongestMS int64  `db:"longest_lease_ms"`
	Now       int64  `db:"now"` // the server's time, Unix seconds
}

// readSettings asks the next server that is up. Errors: the fleet's, ctx's own.
func readSettings(ctx context.Context, fleet *ticket.Fleet) (settings, error) {
	var row settings
	err := fleet.Do(ctx, func(ctx context.Context, c *ticket.Conn) error {
		return c.Get(ctx, &row, querySettings)
	})
	if err != nil {
		return row, fmt.Errorf("read settings of the fleet: %w", err)
	}
	return row, nil
}

// scheme is how the fleet's IDs are put together, the same on all its servers.
type scheme struct {
	fleet     string // its identity
	increment int64  // 0 before a server was reached
	bits      int    // of the shard, the lowest of every ID
	layout    snowflake.Layout
}

// scheme checks that no ID of a segment can be one of a worker: the first are
// below 2^53, and the others are not.
func (row settings) scheme(fleet string, cfg snowflake.Config) (scheme, error) {
	layout, err := snowflake.ParseLayout(row.Layout)
	if err != nil {
		return scheme{}, fmt.Errorf("read layout of the fleet: %w", err)
	}
	s := scheme{fleet: fleet, increment: row.Increment, bits: row.ShardBits, layout: layout}
	if err := s.check(time.Unix(row.Now, 0)); err != nil {
		return s, err
	}
	if !cfg.Layout.IsZero() && cfg.Layout != layout {
		return s, &snowflake.LayoutConflictError{Config: cfg.Layout, Fleet: layout}
	}
	if longest := time.Duration(row.LongestMS) * time.Millisecond; cfg.Lease > longest {
		return s, &ticket.ConfigError{Field: "Worker.Lease", Value: cfg.Lease,
			Remedy: fmt.Sprintf("the fleet allows at most %s, which is set when it is made; take that or less", longest)}
	}
	return s, nil
}

// check checks the layout against the shard bits and the ceiling.
func (s scheme) check(now time.Time) error {
	if s.bits < 0 || s.bits > schema.MaxShardBits {
		return &PlaneError{Problem: fmt.Sprintf("%d shard bits; 0 to %d", s.bits, schema.MaxShardBits), Remedy: "somebody changed the servers' rows by hand; restore them"}
	}
	err := s.layout.CheckShardBits(s.bits)
	if err == nil {
		err = s.layout.CheckIssue()
	}
	if err == nil {
		err = s.layout.CheckAbove(schema.Ceiling, now)
	}
	if err != nil {
		return &PlaneError{Problem: "IDs of workers could meet those of segments, which are below 2^53", Err: err}
	}
	return nil
}

// limit is the largest number of a sequence that can be composed with a shard and
// stay below 2^53.
func (s scheme) limit() int64 { return schema.CeilingFor(s.bits) }

// checkCeiling checks how far a sequence goes; 0 means that it is not known.
func (s scheme) checkCeiling(sequence string, ceiling int64) error {
	if ceiling <= s.limit() {
		return nil
	}
	return &PlaneError{
		Problem: fmt.Sprintf("sequence %q goes up to %d, and with %d shard bits below it an ID stays below 2^53 = %d up to %d / 2^%d - 1 = %d only",
			sequence, ceiling, s.bits, schema.Ceiling, schema.Ceiling, s.bits, s.limit()),
		Remedy: "somebody changed its row by hand; restore the ceiling",
	}
}
