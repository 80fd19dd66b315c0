package migrations

import (
	"errors"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// resolveLayout finds the layout that text names and checks that a fleet with
// that many shard bits can issue IDs with it from now on, above 2^53. A preset
// gives bits of its sequence up for the shard; a specification has to say so
// itself.
func resolveLayout(text string, shardBits int, now time.Time) (snowflake.Layout, error) {
	layout, err := snowflake.Default(), error(nil)
	preset := text == ""
	if !preset {
		_, presetErr := snowflake.Preset(text)
		preset = presetErr == nil
		layout, err = snowflake.ParseLayout(text)
	}
	if err == nil && preset {
		layout, err = layout.WithShardBits(shardBits)
	}
	if err == nil {
		err = errors.Join(layout.CheckShardBits(shardBits), layout.CheckIssue(), layout.CheckAbove(schema.Ceiling, now))
	}
	if err != nil {
		return layout, err
	}
	if layout.MaxWorker() >= schema.MaxWorkers {
		return layout, &ticket.ConfigError{Field: "Layout", Value: layout, Remedy: "has more worker numbers than the 65536 that a fleet keeps rows for; use at most 16 bits for datacenter and worker together"}
	}
	return layout, nil
}
