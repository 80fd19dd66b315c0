package snowflake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/snowflake"
)

func TestWithShardBits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		layout string
		bits   int
		want   string
	}{
		{"Default0", "oddeven", 0, defaultSpec},
		{"Default1", "oddeven", 1, "time:41,worker:10,sequence:11,shard:1;unit=1ms;epoch=2026-01-01T00:00:00Z"},
		{"Default10", "oddeven", 10, "time:41,worker:10,sequence:2,shard:10;unit=1ms;epoch=2026-01-01T00:00:00Z"},
		{"DefaultAll", "oddeven", 12, "time:41,worker:10,shard:12;unit=1ms;epoch=2026-01-01T00:00:00Z"},
		{"SequenceNotLowest", "sonyflake", 3, "time:39,sequence:5,worker:16,shard:3;unit=10ms;epoch=2014-09-01T00:00:00Z"},
		{"AlreadyThere", "time:41,worker:18,shard:4;unit=1ms;epoch=2026-01-01T00:00:00Z", 4, "time:41,worker:18,shard:4;unit=1ms;epoch=2026-01-01T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := snowflake.ParseLayout(tt.layout)
			require.NoError(t, err)
			got, err := l.WithShardBits(tt.bits)
			require.NoError(t, err)
			require.Equal(t, tt.want, got.String())
			require.Equal(t, l.Bits(), got.Bits())
			require.NoError(t, got.CheckShardBits(tt.bits))
			parsed, err := snowflake.ParseLayout(got.String())
			require.NoError(t, err)
			require.Equal(t, parsed, got, "a derived layout is the one its spec gives")
		})
	}
}

func TestWithShardBitsErrors(t *testing.T) {
	t.Parallel()
	_, err := snowflake.Default().WithShardBits(13)
	requireLayoutError(t, err, "shard", "13",
		"snowflake: layout: sequence 12 - shard 13 = -1 bits: take at most 12 shard bits, or a layout with a shard field of its own")
	_, err = snowflake.Default().WithShardBits(-1)
	requireLayoutError(t, err, "shard", "-1",
		"snowflake: layout: shard -1 bits; at least 0: give 0 for a fleet without shard bits")
	redis, err := snowflake.Preset("redis")
	require.NoError(t, err)
	_, err = redis.WithShardBits(12)
	require.Error(t, err)
}

func TestCheckShardBits(t *testing.T) {
	t.Parallel()
	const tail = ";unit=1ms;epoch=2026-01-01T00:00:00Z"
	tests := []struct {
		name   string
		layout string
		bits   int
		value  string
		want   string // "" if it fits
	}{
		{"None", "oddeven", 0, "", ""},
		{"Lowest", "time:41,worker:10,sequence:8,shard:4" + tail, 4, "", ""},
		{
			"NoField", "oddeven", 4, "0",
			"snowflake: layout: there is no shard field; the fleet has 4 shard bits: take them from the sequence (12 - 4 = 8 bits): time:41,worker:10,sequence:8,shard:4" + tail,
		},
		{
			"NoFieldAndNoSequence", "time:41,worker:10" + tail, 4, "0",
			"snowflake: layout: there is no shard field; the fleet has 4 shard bits: add shard:4 at the lowest end",
		},
		{
			"NotLowest", "redis", 12, "12",
			"snowflake: layout: shard 12 has 10 bits below it; the fleet's shard bits are the lowest: name the shard field last",
		},
		{
			"OtherWidth", "time:41,worker:10,sequence:8,shard:4" + tail, 5, "4",
			"snowflake: layout: shard 4 bits; the fleet has 5: make them 5, at the lowest end",
		},
		{
			"FleetWithout", "time:41,worker:10,sequence:8,shard:4" + tail, 0, "4",
			"snowflake: layout: shard 4 bits; the fleet has 0: leave the shard field out",
		},
		{
			"Negative", "oddeven", -2, "-2",
			"snowflake: layout: shard -2 bits; at least 0: give 0 for a fleet without shard bits",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := snowflake.ParseLayout(tt.layout)
			require.NoError(t, err)
			err = l.CheckShardBits(tt.bits)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			requireLayoutError(t, err, "shard", tt.value, tt.want)
		})
	}
}

func TestCheckAboveBoundary(t *testing.T) {
	t.Parallel()
	l := snowflake.Default()
	above := epoch2026.Add((1 << 31) * time.Millisecond)
	require.NoError(t, l.CheckAbove(1<<53, above))
	require.NoError(t, l.CheckAbove(1<<53, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)))
	require.NoError(t, l.CheckAbove(1<<53, l.Exhausted().Add(-1)))
	require.NoError(t, l.CheckAbove(0, epoch2026))
	require.NoError(t, l.CheckAbove(-1, epoch2026))

	requireLayoutError(t, l.CheckAbove(1<<53, above.Add(-1)), "epoch", "2026-01-01T00:00:00Z",
		"snowflake: layout: IDs reach the ceiling 9007199254740992 at tick 9007199254740992 / 2^22 = 2147483648, "+
			"and 2147483648 x 1ms is 24.9 days: the epoch 2026-01-01T00:00:00Z makes that 2026-01-25T20:31:23.648Z; "+
			"it is 2026-01-25T20:31:23.647Z: take an earlier epoch, at the latest 2025-12-31T23:59:59.999Z")
	requireLayoutError(t, l.CheckAbove(1<<22+1, epoch2026), "epoch", "2026-01-01T00:00:00Z",
		"snowflake: layout: IDs reach the ceiling 4194305 at tick 4194305 / 2^22 = 2 (rounded up), "+
			"and 2 x 1ms is 0.0 days: the epoch 2026-01-01T00:00:00Z makes that 2026-01-01T00:00:00.002Z; "+
			"it is 2026-01-01T00:00:00Z: take an earlier epoch, at the latest 2025-12-31T23:59:59.998Z")
	requireLayoutError(t, l.CheckAbove(1<<53, l.Exhausted()), "time", "41",
		"snowflake: layout: time 41 bits of 1ms are used up from 2095-09-07T15:47:35.552Z on; it is 2095-09-07T15:47:35.552Z: "+
			"take a later epoch, more time bits or a longer unit")
}

func TestCheckAboveLayoutsThatDoNotFit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	short, err := snowflake.ParseLayout("time:38,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z")
	require.NoError(t, err)
	requireLayoutError(t, short.CheckAbove(1<<53, now), "time", "38",
		"snowflake: layout: IDs never reach the ceiling 9007199254740992: with 10 bits below time that takes tick 8796093022208, "+
			"and the last of 38 bits is 274877906943: take more bits for time or below it")

	slow, err := snowflake.ParseLayout("time:50,worker:10;unit=1ms;epoch=1970-01-01T00:00:00Z")
	require.NoError(t, err)
	requireLayoutError(t, slow.CheckAbove(1<<53, now), "epoch", "1970-01-01T00:00:00Z",
		"snowflake: layout: IDs reach the ceiling 9007199254740992 at tick 9007199254740992 / 2^10 = 8796093022208, "+
			"and 8796093022208 x 1ms is 101806.6 days: the epoch 1970-01-01T00:00:00Z makes that 2248-09-26T15:10:22.208Z; "+
			"it is 2026-11-01T00:00:00Z: take more bits below time, or a shorter unit")
}

func TestPresetsAboveTheCeiling(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range snowflake.Presets() {
		err := p.Layout.CheckAbove(1<<53, now)
		if p.Name == "uid-generator" { // used up
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, p.Name)
		sharded, err := p.Layout.WithShardBits(p.Layout.Width(snowflake.KindShard))
		if err == nil {
			require.NoError(t, sharded.CheckAbove(1<<53, now), p.Name)
		}
	}
}

// TestCheckAboveIsAboutEveryID compares it with IDs composed from then on.
func TestCheckAboveIsAboutEveryID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		ceiling := rapid.Int64Min(0).Draw(t, "ceiling")
		first := rapid.Int64Range(0, l.MaxTick()).Draw(t, "first tick")
		err := l.CheckAbove(ceiling, l.TimeOf(first))
		if smallest, _ := l.Compose(snowflake.Parts{Tick: first}); (smallest >= ceiling) != (err == nil) {
			t.Fatalf("smallest ID %d, ceiling %d: %v", smallest, ceiling, err)
		}
		p := anyParts(t, l)
		p.Tick = rapid.Int64Range(first, l.MaxTick()).Draw(t, "tick")
		if id, _ := l.Compose(p); err == nil && id < ceiling {
			t.Fatalf("ID %d is below the ceiling %d in %s", id, ceiling, l)
		}
	})
}
