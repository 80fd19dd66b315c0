package snowflake

import (
	"fmt"
	"strings"
	"time"
)

// defaultEpoch is 2026-01-01T00:00:00Z in milliseconds of Unix time.
const defaultEpoch = 1_767_225_600_000

// PresetInfo describes a layout known by name.
type PresetInfo struct {
	// Name is what Preset and ParseLayout accept.
	Name string

	// Layout is the layout itself.
	Layout Layout

	// About is a sentence for a list of presets.
	About string

	// Source says where the layout is published.
	Source string
}

// Default returns the layout "oddeven": 41 bits of time in milliseconds since
// 2026-01-01T00:00:00Z, 10 bits of worker, 12 bits of sequence.
//
// It holds 1,024 workers with 4,096 IDs each per millisecond. 22 bits are below the time, so IDs
// are at or above 2^53 from tick 2^53 / 2^22 = 2^31 on, which is 24.9 days after the epoch:
// 2026-01-25T20:31:23.648Z (see CheckAbove). 2^41 milliseconds are 25,451.7 days or 69.7 years:
// it is used up on 2095-09-07T15:47:35.552Z.
func Default() Layout {
	return assemble(time.Millisecond, defaultEpoch,
		Field{KindTime, 41}, Field{KindWorker, 10}, Field{KindSequence, 12})
}

// Preset returns the layout with that name; Presets lists them. The error is a *LayoutError that
// lists the names.
func Preset(name string) (Layout, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p.Layout, nil
		}
		names = append(names, p.Name)
	}
	return Layout{}, &LayoutError{Field: "preset", Value: name,
		Problem: fmt.Sprintf("there is no preset %q", name),
		Remedy:  "take one of " + strings.Join(names, ", ") + ", or a spec like " + specForm}
}

// Presets returns all presets, the default first. The slice is the caller's.
//
// Presets without a worker field (redis, instagram) are for decoding only. Layouts published with
// 64 bits (instagram, discord) lack their top bit of time here: an ID is a non-negative int64, and
// the bit stays 0 until the year 2046 (instagram) or 2084 (discord).
//
//   - oddeven: see Default.
//   - twitter: 41 time, 5 datacenter, 5 worker, 12 sequence; 1 ms since 1288834974657
//     (2010-11-04T01:42:54.657Z). Source: twitter-archive/snowflake, tag snowflake-2010,
//     IdWorker.scala.
//   - redis: 41 time, 12 shard, 10 sequence; 1 ms since 1970, used up in 2039. Source:
//     hengyunabc/redis-id-generator, README.
//   - instagram: 41 time, 13 shard, 10 sequence; 1 ms since 1314220021721
//     (2011-08-24T21:07:01.721Z). Published with 64 bits: time is 40 bits here. Source:
//     "Sharding & IDs at Instagram", Instagram Engineering, whose PL/pgSQL function has this epoch
//     (its worked example in prose counts from 2011-01-01 instead).
//   - discord: 42 time, 5 worker, 5 process, 12 increment; 1 ms since 1420070400000
//     (2015-01-01T00:00:00Z). Published with 64 bits: time is 41 bits here. The process is in the
//     field named datacenter. Source: Discord API reference, "Snowflakes".
//   - sonyflake: 39 time, 8 sequence, 16 machine, sequence before machine; 10 ms since
//     2014-09-01T00:00:00Z. Source: sony/sonyflake (version 1), README; the epoch is the default of
//     Settings.StartTime.
//   - uid-generator: 28 time, 22 worker, 13 sequence; 1 s since 1463673600000, which is
//     2016-05-20 00:00 in China (2016-05-19T16:00:00Z). Used up on 2024-11-20; the original turned
//     negative then. Source: baidu/uid-generator, DefaultUidGenerator.
func Presets() []PresetInfo {
	return []PresetInfo{
		{
			Name:   "oddeven",
			Layout: Default(),
			About:  "1,024 workers, 4,096 IDs per millisecond each, above 2^53, until 2095.",
			Source: "this package",
		},
		{
			Name: "twitter",
			Layout: assemble(time.Millisecond, 1_288_834_974_657,
				Field{KindTime, 41}, Field{KindDatacenter, 5}, Field{KindWorker, 5}, Field{KindSequence, 12}),
			About:  "The original: 32 datacenters of 32 workers, until 2080.",
			Source: "https://github.com/twitter-archive/snowflake/tree/snowflake-2010",
		},
		{
			Name: "redis",
			Layout: assemble(time.Millisecond, 0,
				Field{KindTime, 41}, Field{KindShard, 12}, Field{KindSequence, 10}),
			About:  "IDs made by a Lua script inside Redis, until 2039. For decoding only.",
			Source: "https://github.com/hengyunabc/redis-id-generator",
		},
		{
			Name: "instagram",
			Layout: assemble(time.Millisecond, 1_314_220_021_721,
				Field{KindTime, 40}, Field{KindShard, 13}, Field{KindSequence, 10}),
			About:  "IDs made inside PostgreSQL shards; published with 41 bits of time, of which the top one is dropped. For decoding only.",
			Source: "https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c",
		},
		{
			Name: "discord",
			Layout: assemble(time.Millisecond, 1_420_070_400_000,
				Field{KindTime, 41}, Field{KindWorker, 5}, Field{KindDatacenter, 5}, Field{KindSequence, 12}),
			About:  "Worker, then process (here: datacenter); published with 42 bits of time, of which the top one is dropped.",
			Source: "https://discord.com/developers/docs/reference#snowflakes",
		},
		{
			Name: "sonyflake",
			Layout: assemble(10*time.Millisecond, 1_409_529_600_000,
				Field{KindTime, 39}, Field{KindSequence, 8}, Field{KindWorker, 16}),
			About:  "65,536 workers, 256 IDs per 10 ms each, sequence before worker, until 2188.",
			Source: "https://github.com/sony/sonyflake",
		},
		{
			Name: "uid-generator",
			Layout: assemble(time.Second, 1_463_673_600_000,
				Field{KindTime, 28}, Field{KindWorker, 22}, Field{KindSequence, 13}),
			About:  "4,194,304 workers, 8,192 IDs per second each; used up since 2024-11-20.",
			Source: "https://github.com/baidu/uid-generator",
		},
	}
}
