package snowflake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/snowflake"
)

func TestPresets(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, spec, exhausted string }{
		{"oddeven", "time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z", "2095-09-07T15:47:35.552Z"},
		{"twitter", "time:41,datacenter:5,worker:5,sequence:12;unit=1ms;epoch=2010-11-04T01:42:54.657Z", "2080-07-10T17:30:30.209Z"},
		{"redis", "time:41,shard:12,sequence:10;unit=1ms;epoch=1970-01-01T00:00:00Z", "2039-09-07T15:47:35.552Z"},
		{"instagram", "time:40,shard:13,sequence:10;unit=1ms;epoch=2011-08-24T21:07:01.721Z", "2046-06-27T17:00:49.497Z"},
		{"discord", "time:41,worker:5,datacenter:5,sequence:12;unit=1ms;epoch=2015-01-01T00:00:00Z", "2084-09-06T15:47:35.552Z"},
		{"sonyflake", "time:39,sequence:8,worker:16;unit=10ms;epoch=2014-09-01T00:00:00Z", "2188-11-16T03:28:58.88Z"},
		{"uid-generator", "time:28,worker:22,sequence:13;unit=1s;epoch=2016-05-19T16:00:00Z", "2024-11-20T13:24:16Z"},
	}
	presets := snowflake.Presets()
	require.Len(t, presets, len(tests))
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info := presets[i]
			require.Equal(t, tt.name, info.Name)
			require.NotEmpty(t, info.About)
			require.NotEmpty(t, info.Source)
			require.Equal(t, tt.spec, info.Layout.String())
			require.Equal(t, 63, info.Layout.Bits())
			require.Equal(t, tt.exhausted, info.Layout.Exhausted().Format(time.RFC3339Nano))

			// The checks of NewLayout hold for presets too.
			parsed, err := snowflake.ParseLayout(tt.spec)
			require.NoError(t, err)
			require.Equal(t, info.Layout, parsed)
			byName, err := snowflake.Preset(tt.name)
			require.NoError(t, err)
			require.Equal(t, info.Layout, byName)
		})
	}
	require.Equal(t, snowflake.Default(), presets[0].Layout)
}

// TestPublishedIDs takes IDs apart that others published together with their parts.
func TestPublishedIDs(t *testing.T) {
	t.Parallel()
	// The README of uid-generator uses other widths and another epoch than its defaults: 29, 21
	// and 13 bits since 2016-09-20 00:00 in China, where it was 12:15:46.
	const readme = "time:29,worker:21,sequence:13;unit=1s;epoch=2016-09-19T16:00:00Z"
	tests := []struct {
		name   string
		layout string
		id     int64
		parts  snowflake.Parts
		time   string
	}{
		{"WikipediaTweet", "twitter", 1541815603606036480, snowflake.Parts{Tick: 367597485448, Datacenter: 11, Worker: 26}, "2022-06-28T16:07:40.105Z"},
		{"DiscordAPIReference", "discord", 175928847299117063, snowflake.Parts{Tick: 41944705796, Worker: 1, Sequence: 7}, "2016-04-30T11:18:25.796Z"},
		{"DiscordProcess", "discord", 90339695967350784, snowflake.Parts{Tick: 21538661949, Datacenter: 3}, "2015-09-07T06:57:41.949Z"},
		{"DiscordTime", "discord", 105484726235607040, snowflake.Parts{Tick: 25149518546, Datacenter: 11}, "2015-10-19T01:58:38.546Z"},
		{"InstagramMedia", "instagram", 2384288897814875714, snowflake.Parts{Tick: 284229385592, Shard: 2675, Sequence: 578}, "2020-08-26T13:43:27.313Z"},
		{"InstagramProse", "instagram", 1387263000<<23 | 1341<<10 | 5001%1024, snowflake.Parts{Tick: 1387263000, Shard: 1341, Sequence: 905}, "2011-09-09T22:28:04.721Z"},
		{"RedisREADME", "redis", 5981966696448054276, snowflake.Parts{Tick: 1426212000000, Shard: 53, Sequence: 4}, "2015-03-13T02:00:00Z"},
		{"SonyflakeFormula", "sonyflake", 123456789<<24 | 200<<16 | 54321, snowflake.Parts{Tick: 123456789, Worker: 54321, Sequence: 200}, "2014-09-15T06:56:07.89Z"},
		{"UIDGeneratorREADME", readme, 180363646902239241, snowflake.Parts{Tick: 10498546, Worker: 4, Sequence: 9}, "2017-01-19T04:15:46Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := snowflake.ParseLayout(tt.layout)
			require.NoError(t, err)
			parts, err := l.Decompose(tt.id)
			require.NoError(t, err)
			require.Equal(t, tt.parts, parts)
			require.Equal(t, tt.time, l.TimeOf(parts.Tick).Format(time.RFC3339Nano))
			id, err := l.Compose(tt.parts)
			require.NoError(t, err)
			require.Equal(t, tt.id, id)
		})
	}
}

func TestPresetUnknown(t *testing.T) {
	t.Parallel()
	_, err := snowflake.Preset("Twitter")
	requireLayoutError(t, err, "preset", "Twitter",
		`snowflake: layout: there is no preset "Twitter": take one of oddeven, twitter, redis, instagram, discord, sonyflake, uid-generator, `+
			"or a spec like time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z")
}

func TestPresetsIsTheCallers(t *testing.T) {
	t.Parallel()
	snowflake.Presets()[0].Name = "changed"
	require.Equal(t, "oddeven", snowflake.Presets()[0].Name)
}

func TestCheckIssue(t *testing.T) {
	t.Parallel()
	for _, p := range snowflake.Presets() {
		err := p.Layout.CheckIssue()
		if p.Name != "redis" && p.Name != "instagram" {
			require.NoError(t, err, p.Name)
			continue
		}
		requireLayoutError(t, err, "worker", "0",
			"snowflake: layout: there is no worker field, so two workers would issue the same IDs; this layout is for decoding only: "+
				"take a layout with a worker field, such as time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z")
	}
}
