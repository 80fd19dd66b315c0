package ledger

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Fleet is what IDs are held to.
type Fleet struct {
	// Increment of the fleet, at least 1. Needed.
	Increment int64

	// Offsets of the servers, each 1 to Increment, with a name for people. Needed.
	Offsets map[int64]string

	// Ceiling is the largest number of a sequence, by its name, and of tickets under
	// "". Where there is none it is that of the fleet, 2^(53-ShardBits) - 1.
	Ceiling map[string]int64

	// ShardBits of the fleet, 0 to 32.
	ShardBits int

	// Layout of Snowflake IDs. Needed, unless there is none in the logs.
	Layout snowflake.Layout

	// RecoverWithin is the longest that a recovery may take, LongestCall that a call
	// may. 0 means that they are not held to a time.
	RecoverWithin, LongestCall time.Duration
}

func (f Fleet) check() error {
	switch {
	case f.Increment < 1 || f.Increment > schema.MaxIncrement:
		return &ticket.ConfigError{Field: "Fleet.Increment", Value: f.Increment, Remedy: fmt.Sprintf("must be 1 to %d, that of the fleet", schema.MaxIncrement)}
	case len(f.Offsets) == 0:
		return &ticket.ConfigError{Field: "Fleet.Offsets", Remedy: "name every server with its offset"}
	case f.ShardBits < 0 || f.ShardBits > schema.MaxShardBits:
		return &ticket.ConfigError{Field: "Fleet.ShardBits", Value: f.ShardBits, Remedy: fmt.Sprintf("must be 0 to %d, those of the fleet", schema.MaxShardBits)}
	case f.RecoverWithin < 0:
		return &ticket.ConfigError{Field: "Fleet.RecoverWithin", Value: f.RecoverWithin, Remedy: "must not be negative"}
	case f.LongestCall < 0:
		return &ticket.ConfigError{Field: "Fleet.LongestCall", Value: f.LongestCall, Remedy: "must not be negative"}
	}
	for _, offset := range slices.Sorted(maps.Keys(f.Offsets)) {
		if offset < 1 || offset > f.Increment {
			return &ticket.ConfigError{Field: "Fleet.Offsets", Value: offset, Remedy: fmt.Sprintf("must be 1 to %d, the increment", f.Increment)}
		}
	}
	for name, ceiling := range f.Ceiling {
		if ceiling < 1 || ceiling > schema.CeilingFor(f.ShardBits) {
			return &ticket.ConfigError{Field: fmt.Sprintf("Fleet.Ceiling[%q]", name), Value: ceiling, Remedy: fmt.Sprintf("must be 1 to %d, that of the fleet", schema.CeilingFor(f.ShardBits))}
		}
	}
	if f.Layout.IsZero() {
		return nil
	}
	if err := f.Layout.CheckShardBits(f.ShardBits); err != nil {
		return fmt.Errorf("check Fleet.Layout: %w", err)
	}
	return nil
}

// ceiling is the largest number of a sequence.
func (f Fleet) ceiling(sequence string) int64 {
	if c, ok := f.Ceiling[sequence]; ok {
		return c
	}
	return schema.CeilingFor(f.ShardBits)
}
