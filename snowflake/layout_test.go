package snowflake_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/snowflake"
)

// epoch2026 is the epoch of the default layout.
var epoch2026 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// field shortens a snowflake.Field.
func field(k snowflake.Kind, bits int) snowflake.Field {
	return snowflake.Field{Kind: k, Bits: bits}
}

func TestNewLayout(t *testing.T) {
	t.Parallel()
	l, err := snowflake.NewLayout(10*time.Millisecond, epoch2026,
		field(snowflake.KindTime, 39), field(snowflake.KindSequence, 8), field(snowflake.KindWorker, 16))
	require.NoError(t, err)
	require.False(t, l.IsZero())
	require.Equal(t, 63, l.Bits())
	require.Equal(t, 39, l.Width(snowflake.KindTime))
	require.Equal(t, 16, l.Width(snowflake.KindWorker))
	require.Equal(t, 8, l.Width(snowflake.KindSequence))
	require.Zero(t, l.Width(snowflake.KindShard))
	require.Zero(t, l.Width(snowflake.Kind(200)))
	require.Equal(t, 16, l.WorkerBits())
	require.Equal(t, int64(65535), l.MaxWorker())
	require.Equal(t, 10*time.Millisecond, l.Unit())
	require.Equal(t, epoch2026, l.Epoch())
	require.Equal(t, []snowflake.Field{
		field(snowflake.KindTime, 39), field(snowflake.KindSequence, 8), field(snowflake.KindWorker, 16),
	}, l.Fields())
}

func TestNewLayoutErrors(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	timeField := field(snowflake.KindTime, 41)
	tests := []struct {
		name   string
		unit   time.Duration
		epoch  time.Time
		fields []snowflake.Field
		field  string
		value  string
		want   string
	}{
		{
			"SumOfAPublishedGameServerLayout", ms, epoch2026,
			[]snowflake.Field{field(snowflake.KindTime, 37), field(snowflake.KindWorker, 20), field(snowflake.KindSequence, 16)},
			"bits", "73",
			"snowflake: layout: time 37 + worker 20 + sequence 16 = 73 bits; at most 63: take 10 bits away",
		},
		{
			"SumOf64AsPublished", ms, epoch2026,
			[]snowflake.Field{timeField, field(snowflake.KindShard, 13), field(snowflake.KindSequence, 10)},
			"bits", "64",
			"snowflake: layout: time 41 + shard 13 + sequence 10 = 64 bits; at most 63: take 1 bit away; of a layout published with 64 bits drop the top bit of time",
		},
		{
			"NoFields", ms, epoch2026, nil, "time", "0",
			"snowflake: layout: there is no time field: add one, such as time:41",
		},
		{
			"NoTime", ms, epoch2026, []snowflake.Field{field(snowflake.KindWorker, 10)}, "time", "0",
			"snowflake: layout: there is no time field: add one, such as time:41",
		},
		{
			"Twice", ms, epoch2026, []snowflake.Field{timeField, timeField}, "time", "41",
			"snowflake: layout: time occurs twice: name each field once",
		},
		{
			"UnknownKind", ms, epoch2026, []snowflake.Field{timeField, field(9, 3)}, "kind 9", "3",
			"snowflake: layout: kind 9 is not a field: take time, datacenter, worker, shard or sequence",
		},
		{
			"KindZero", ms, epoch2026, []snowflake.Field{timeField, {}}, "kind 0", "0",
			"snowflake: layout: kind 0 is not a field: take time, datacenter, worker, shard or sequence",
		},
		{
			"NoBits", ms, epoch2026, []snowflake.Field{timeField, field(snowflake.KindShard, 0)}, "shard", "0",
			"snowflake: layout: shard 0 bits; at least 1: leave a field without bits out",
		},
		{
			"NegativeBits", ms, epoch2026, []snowflake.Field{timeField, field(snowflake.KindShard, -5)}, "shard", "-5",
			"snowflake: layout: shard -5 bits; at least 1: leave a field without bits out",
		},
		{
			"TooWide", ms, epoch2026, []snowflake.Field{timeField, field(snowflake.KindWorker, 64)}, "worker", "64",
			"snowflake: layout: worker 64 bits; at most 63: take fewer bits",
		},
		{
			"WidthThatWouldOverflowTheSum", ms, epoch2026, []snowflake.Field{timeField, field(snowflake.KindWorker, math.MaxInt)}, "worker", "9223372036854775807",
			"snowflake: layout: worker 9223372036854775807 bits; at most 63: take fewer bits",
		},
		{
			"UnitZero", 0, epoch2026, []snowflake.Field{timeField}, "unit", "0s",
			"snowflake: layout: unit 0s is not a positive whole number of milliseconds: take 1ms, 10ms or 1s",
		},
		{
			"UnitNegative", -ms, epoch2026, []snowflake.Field{timeField}, "unit", "-1ms",
			"snowflake: layout: unit -1ms is not a positive whole number of milliseconds: take 1ms, 10ms or 1s",
		},
		{
			"UnitWithFraction", 1500 * time.Microsecond, epoch2026, []snowflake.Field{timeField}, "unit", "1.5ms",
			"snowflake: layout: unit 1.5ms is not a positive whole number of milliseconds: take 1ms, 10ms or 1s",
		},
		{
			"EpochWithFraction", ms, epoch2026.Add(time.Microsecond), []snowflake.Field{timeField}, "epoch", "2026-01-01T00:00:00.000001Z",
			"snowflake: layout: epoch 2026-01-01T00:00:00.000001Z is not a whole millisecond between the years 1970 and 9999: take one, such as 2026-01-01T00:00:00Z",
		},
		{
			"EpochBefore1970", ms, time.Unix(-1, 0), []snowflake.Field{timeField}, "epoch", "1969-12-31T23:59:59Z",
			"snowflake: layout: epoch 1969-12-31T23:59:59Z is not a whole millisecond between the years 1970 and 9999: take one, such as 2026-01-01T00:00:00Z",
		},
		{
			"EpochAfter9999", ms, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), []snowflake.Field{timeField}, "epoch", "10000-01-01T00:00:00Z",
			"snowflake: layout: epoch 10000-01-01T00:00:00Z is not a whole millisecond between the years 1970 and 9999: take one, such as 2026-01-01T00:00:00Z",
		},
		{
			"TimeBeyond63BitsOfMilliseconds", ms, epoch2026, []snowflake.Field{field(snowflake.KindTime, 63)}, "time", "63",
			"snowflake: layout: 2^63 ticks of 1ms after the epoch exceed 2^63 milliseconds of Unix time: take fewer time bits or a shorter unit",
		},
		{
			"UnitTimesTicksBeyond64Bits", 1000 * time.Hour, epoch2026, []snowflake.Field{field(snowflake.KindTime, 62)}, "time", "62",
			"snowflake: layout: 2^62 ticks of 1000h after the epoch exceed 2^63 milliseconds of Unix time: take fewer time bits or a shorter unit",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := snowflake.NewLayout(tt.unit, tt.epoch, tt.fields...)
			requireLayoutError(t, err, tt.field, tt.value, tt.want)
			require.True(t, l.IsZero())
		})
	}
}

func TestLayoutIsComparable(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("elsewhere", 7*3600)
	a, err := snowflake.NewLayout(time.Millisecond, epoch2026, field(snowflake.KindTime, 41), field(snowflake.KindWorker, 10), field(snowflake.KindSequence, 12))
	require.NoError(t, err)
	b, err := snowflake.NewLayout(time.Millisecond, epoch2026.In(zone), a.Fields()...)
	require.NoError(t, err)
	require.True(t, a == b && a == snowflake.Default())
	other, err := snowflake.NewLayout(time.Millisecond, epoch2026, field(snowflake.KindTime, 41), field(snowflake.KindSequence, 12), field(snowflake.KindWorker, 10))
	require.NoError(t, err)
	require.False(t, a == other, "the order of fields counts")
}

func TestLayoutFieldsIsTheCallers(t *testing.T) {
	t.Parallel()
	l := snowflake.Default()
	l.Fields()[0].Bits = 1
	require.Equal(t, 41, l.Fields()[0].Bits)
}

func TestZeroLayoutDoesNotPanic(t *testing.T) {
	t.Parallel()
	var l snowflake.Layout
	require.True(t, l.IsZero())
	require.Empty(t, l.String())
	require.Empty(t, l.Fields())
	require.Zero(t, l.Bits())
	require.Zero(t, l.TickOf(epoch2026))
	require.Equal(t, time.Unix(0, 0).UTC(), l.TimeOf(5))
	require.Equal(t, time.Unix(0, 0).UTC(), l.Exhausted())
	const want = "snowflake: layout: the zero Layout has no fields: take Default, Preset, ParseLayout or NewLayout"
	_, err := l.Compose(snowflake.Parts{})
	requireLayoutError(t, err, "bits", "0", want)
	_, err = l.Decompose(0)
	requireLayoutError(t, err, "bits", "0", want)
	require.Error(t, l.CheckIssue())
	require.Error(t, l.CheckAbove(1<<53, epoch2026))
	_, err = l.WithShardBits(3)
	require.Error(t, err)
}

// requireLayoutError checks type, fields and message of an error.
func requireLayoutError(t *testing.T, err error, field, value, message string) {
	t.Helper()
	var le *snowflake.LayoutError
	require.ErrorAs(t, err, &le)
	require.Equal(t, message, err.Error())
	require.Equal(t, field, le.Field)
	require.Equal(t, value, le.Value)
	require.NotEmpty(t, le.Problem)
	require.NotEmpty(t, le.Remedy)
}

// anyLayout draws a random layout: any fields in any order, any widths that fit.
func anyLayout(t *rapid.T) snowflake.Layout {
	kinds := rapid.Permutation([]snowflake.Kind{
		snowflake.KindTime, snowflake.KindDatacenter, snowflake.KindWorker, snowflake.KindShard, snowflake.KindSequence,
	}).Draw(t, "kinds")
	timeBits := rapid.IntRange(1, 41).Draw(t, "time bits") // 2^41 hours still fit
	left := snowflake.MaxBits - timeBits
	var fields []snowflake.Field
	for _, k := range kinds {
		if k == snowflake.KindTime {
			fields = append(fields, field(k, timeBits))
			continue
		}
		if bits := rapid.IntRange(0, left).Draw(t, k.String()+" bits"); bits > 0 {
			fields = append(fields, field(k, bits))
			left -= bits
		}
	}
	unit := rapid.SampledFrom([]time.Duration{
		time.Millisecond, 10 * time.Millisecond, 256 * time.Millisecond, time.Second, time.Minute, time.Hour,
	}).Draw(t, "unit")
	epoch := time.UnixMilli(rapid.Int64Range(0, 253402300799999).Draw(t, "epoch"))
	l, err := snowflake.NewLayout(unit, epoch, fields...)
	if err != nil {
		t.Fatalf("NewLayout: %v", err)
	}
	return l
}

// anyPresetOrLayout draws a preset half of the time.
func anyPresetOrLayout(t *rapid.T) snowflake.Layout {
	if rapid.Bool().Draw(t, "preset") {
		return rapid.SampledFrom(snowflake.Presets()).Draw(t, "preset").Layout
	}
	return anyLayout(t)
}
