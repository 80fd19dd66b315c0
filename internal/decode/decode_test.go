package decode_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

// someDay is what the clock shows in these tests.
var someDay = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func preset(t testing.TB, name string) snowflake.Layout {
	t.Helper()
	l, err := snowflake.Preset(name)
	require.NoError(t, err)
	return l
}

func sharded(t require.TestingT, bits int) snowflake.Layout {
	l, err := snowflake.Default().WithShardBits(bits)
	require.NoError(t, err)
	return l
}

// The JSON of IDs that others have published with their parts, and of ours.
func TestDecode(t *testing.T) {
	t.Parallel()
	fleet := decode.Config{Increment: 4}
	withShards := decode.Config{Layout: sharded(t, 4), Increment: 3, ShardBits: 4}
	tests := []struct {
		name string
		cfg  decode.Config
		text string
		want string
	}{
		{"Ticket", decode.Config{}, "7", `{"id":"7","plane":"segment"}`},
		{"LastOfItsPlane", decode.Config{}, "9007199254740991", `{"id":"9007199254740991","plane":"segment"}`},
		{"FirstServer", fleet, "1", `{"id":"1","plane":"segment","server":1}`},
		{"LastServer", fleet, "4", `{"id":"4","plane":"segment","server":4}`},
		{"FirstServerAgain", fleet, "10000000005", `{"id":"10000000005","plane":"segment","server":1}`},
		{"Shard", withShards, "95", `{"id":"95","plane":"segment","shard":15,"server":2}`},
		{"ShardZero", withShards, "96", `{"id":"96","plane":"segment","shard":0,"server":3}`},
		{
			"Ours", fleet, "54760833024000005",
			`{"id":"54760833024000005","plane":"snowflake","layout":"oddeven","time":"2026-06-01T02:40:00.000Z","unix_ms":1780281600000,"worker":0,"node":0,"sequence":5}`,
		},
		{
			"OursWithShard", withShards, "54760833024000005",
			`{"id":"54760833024000005","plane":"snowflake","layout":"time:41,worker:10,sequence:8,shard:4;unit=1ms;epoch=2026-01-01T00:00:00Z",` +
				`"time":"2026-06-01T02:40:00.000Z","unix_ms":1780281600000,"worker":0,"node":0,"shard":5,"sequence":0}`,
		},
		{
			"LastOfAll", decode.Config{}, "9223372036854775807",
			`{"id":"9223372036854775807","plane":"snowflake","layout":"oddeven","time":"2095-09-07T15:47:35.551Z","unix_ms":3966248855551,"worker":1023,"node":1023,"sequence":4095,"future":true}`,
		},
		{ // the example of the Wikipedia article
			"Twitter", decode.Config{Layout: preset(t, "twitter"), Foreign: true}, "1541815603606036480",
			`{"id":"1541815603606036480","plane":"snowflake","layout":"twitter","time":"2022-06-28T16:07:40.105Z","unix_ms":1656432460105,"datacenter":11,"worker":26,"node":378,"sequence":0}`,
		},
		{ // the example of Discord's documentation
			"Discord", decode.Config{Layout: preset(t, "discord"), Foreign: true}, "175928847299117063",
			`{"id":"175928847299117063","plane":"snowflake","layout":"discord","time":"2016-04-30T11:18:25.796Z","unix_ms":1462015105796,"datacenter":0,"worker":1,"node":1,"sequence":7}`,
		},
		{
			"SmallNumberOfAForeignLayout", decode.Config{Layout: preset(t, "redis"), Foreign: true}, "1025",
			`{"id":"1025","plane":"snowflake","layout":"redis","time":"1970-01-01T00:00:00.000Z","unix_ms":0,"shard":1,"sequence":1}`,
		},
		{
			"Base32", decode.Config{Base: 32}, "7ZZZZZZZZZZZZ",
			`{"id":"9223372036854775807","plane":"snowflake","layout":"oddeven","time":"2095-09-07T15:47:35.551Z","unix_ms":3966248855551,"worker":1023,"node":1023,"sequence":4095,"future":true}`,
		},
		{"Base32OfDigits", decode.Config{Base: 32}, "0000000000010", `{"id":"32","plane":"segment"}`},
		{ // the examples of RFC 9562
			"UUIDv1", decode.Config{}, "C232AB00-9414-11EC-B3C8-9F6BDECED846",
			`{"id":"c232ab00-9414-11ec-b3c8-9f6bdeced846","plane":"uuid","layout":"uuidv1","time":"2022-02-22T19:22:22.000Z","unix_ms":1645557742000,"node":175285648414790,"sequence":13256}`,
		},
		{
			"UUIDv6", decode.Config{}, "1ec9414c232a6b00b3c89f6bdeced846",
			`{"id":"1ec9414c-232a-6b00-b3c8-9f6bdeced846","plane":"uuid","layout":"uuidv6","time":"2022-02-22T19:22:22.000Z","unix_ms":1645557742000,"node":175285648414790,"sequence":13256}`,
		},
		{
			"UUIDv7", decode.Config{Base: 32}, "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
			`{"id":"017f22e2-79b0-7cc3-98c4-dc0c0c07398f","plane":"uuid","layout":"uuidv7","time":"2022-02-22T19:22:22.000Z","unix_ms":1645557742000}`,
		},
		{
			"UUIDBefore1970", decode.Config{}, "00000000-0000-1000-8000-000000000000",
			`{"id":"00000000-0000-1000-8000-000000000000","plane":"uuid","layout":"uuidv1","time":"1582-10-15T00:00:00.000Z","unix_ms":-12219292800000,"node":0,"sequence":0}`,
		},
		{
			"UUIDAfterTheYear9999", decode.Config{}, "ffffffff-ffff-7fff-bfff-ffffffffffff",
			`{"id":"ffffffff-ffff-7fff-bfff-ffffffffffff","plane":"uuid","layout":"uuidv7","unix_ms":281474976710655,"future":true}`,
		},
		{ // the example of MongoDB's documentation
			"ObjectID", decode.Config{}, "507f1f77bcf86cd799439011",
			`{"id":"507f1f77bcf86cd799439011","plane":"objectid","layout":"objectid","time":"2012-10-17T21:13:27.000Z","unix_ms":1350508407000,"node":811621734297,"sequence":4427793}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.Now = at(someDay)
			r, err := decode.New(tt.cfg).Decode(tt.text)
			require.NoError(t, err)
			got := string(r.AppendJSON(nil))
			require.True(t, json.Valid([]byte(got)), got)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	short, err := snowflake.ParseLayout("time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z")
	require.NoError(t, err)
	withShards := decode.Config{Layout: sharded(t, 4), Increment: 3, ShardBits: 4}
	tests := []struct {
		name string
		cfg  decode.Config
		text string
		says string
	}{
		{"Empty", decode.Config{}, "", `"" is empty`},
		{"Word", decode.Config{}, "abc", `"abc" has 'a' where a digit belongs`},
		{"Sign", decode.Config{}, "-5", `"-5" has '-' where a digit belongs`},
		{"Plus", decode.Config{}, "+5", `has '+' where`},
		{"Blank", decode.Config{}, " 5", `has ' ' where`},
		{"Quotes", decode.Config{}, `"5"`, `"\"5\"" has '"' where`},
		{"LeadingZero", decode.Config{}, "05", "has a leading zero"},
		{"TooLarge", decode.Config{}, "9223372036854775808", "is above 9223372036854775807, the largest ID"},
		{"Zero", decode.Config{}, "0", "the first number of a fleet is 1: "},
		{"ShardAlone", withShards, "15", "the first number of a fleet is 1, above 4 shard bits: "},
		{"Control", decode.Config{}, "5\x1b[2J", `"5\x1b[2J" has '\x1b' where`},
		{"Base32InBase10", decode.Config{}, "7ZZZZZZZZZZZZ", "is not a number in base 10: give --base 32 if it is one in base 32, 9223372036854775807 then"},
		{"Base10InBase32", decode.Config{Base: 32}, "12345", "is 5 bytes long, not 13"},
		{"SmallLetters", decode.Config{Base: 32}, "7zzzzzzzzzzzz", "where the capital Z belongs"},
		{"Alias", decode.Config{Base: 32}, "000000000000O", "has 'O' where"},
		{"Base32TooLarge", decode.Config{Base: 32}, "8000000000000", "is above 7ZZZZZZZZZZZZ"},
		{"NotOfTheLayout", decode.Config{Layout: short, Foreign: true}, "2251799813685248", "cannot be of the layout time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z, which has 51 bits"},
		{"UUIDv4", decode.Config{}, "919108f7-52d1-4320-9bac-f847db4148a8", "is a UUID of version 4, which holds no time"},
		{"NilUUID", decode.Config{}, "00000000-0000-0000-0000-000000000000", "is a UUID of another variant"},
		{"DashMoved", decode.Config{}, "919108f-752d1-1320-9bac-f847db4148a8", "is not a UUID"},
		{"DashMissing", decode.Config{}, "919108f7-52d1-1320-9bacf847db4148a8f", "is not a UUID"},
		{"NotHexadecimal", decode.Config{}, "919108g7-52d1-1320-9bac-f847db4148a8", "is not a UUID"},
		{"NotAnObjectID", decode.Config{}, "507f1f77bcf86cd79943901x", "is not an ObjectID"},
		{"Long", decode.Config{}, string(make([]byte, 65)), `a text of 65 bytes has`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := decode.New(tt.cfg).Decode(tt.text)
			require.Zero(t, r)
			var why *decode.Error
			require.ErrorAs(t, err, &why)
			require.Equal(t, tt.text, why.Value)
			require.NotEmpty(t, why.Remedy)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// The clock is read again only when a time seems to be in the future.
func TestFutureIsThatOfTheClock(t *testing.T) {
	t.Parallel()
	now, readings := time.UnixMilli(1000), 0
	d := decode.New(decode.Config{Layout: preset(t, "redis"), Foreign: true, Now: func() time.Time { readings++; return now }})
	future := func(milli int64) bool {
		r, err := d.Decode(oddeven.ID(milli << 22).String())
		require.NoError(t, err)
		return r.Future
	}
	require.True(t, future(1001))
	require.False(t, future(1000), "now is not the future")
	require.Equal(t, 1, readings)
	now = time.UnixMilli(1001)
	require.False(t, future(1001))
	require.True(t, future(1002))
	require.Equal(t, 3, readings)
}

// Whatever a layout composes is taken apart again, in both bases.
func TestDecodeIsTheInverseOfCompose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(snowflake.Presets()).Draw(rt, "preset")
		l := p.Layout
		draw := func(k snowflake.Kind) int64 { return rapid.Int64Range(0, int64(1)<<l.Width(k)-1).Draw(rt, k.String()) }
		parts := snowflake.Parts{
			Tick: draw(snowflake.KindTime), Datacenter: draw(snowflake.KindDatacenter), Worker: draw(snowflake.KindWorker),
			Shard: draw(snowflake.KindShard), Sequence: draw(snowflake.KindSequence),
		}
		id, err := l.Compose(parts)
		require.NoError(rt, err)
		base10, err := decode.New(decode.Config{Layout: l, Foreign: true}).Decode(oddeven.ID(id).String())
		require.NoError(rt, err)
		base32, err := decode.New(decode.Config{Layout: l, Foreign: true, Base: 32}).Decode(oddeven.ID(id).Base32())
		require.NoError(rt, err)
		require.Equal(rt, base10, base32)
		require.Equal(rt, p.Name, base10.Layout)
		require.Equal(rt, l.TimeOf(parts.Tick).UnixMilli(), base10.Milli)
		for part, want := range map[decode.Part]int64{
			decode.Datacenter: parts.Datacenter, decode.Worker: parts.Worker, decode.Shard: parts.Shard, decode.Sequence: parts.Sequence,
		} {
			got, _ := base10.Part(part)
			require.Equal(rt, want, got, part)
		}
	})
}

// The server that is read from an ID is the one that issues it.
func TestServerIsTheResidueClass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		class := schema.Class{Increment: rapid.Int64Range(1, schema.MaxIncrement).Draw(rt, "increment")}
		class.Offset = rapid.Int64Range(1, class.Increment).Draw(rt, "offset")
		bits := rapid.IntRange(0, 12).Draw(rt, "shard bits")
		number := class.ID(rapid.Int64Range(0, class.LastRound(schema.CeilingFor(bits))).Draw(rt, "round"))
		shard := rapid.Int64Range(0, int64(1)<<bits-1).Draw(rt, "shard")
		d := decode.New(decode.Config{Layout: sharded(rt, bits), Increment: class.Increment, ShardBits: bits})
		r, err := d.Decode(oddeven.ID(number<<bits | shard).String())
		require.NoError(rt, err)
		require.Equal(rt, decode.PlaneSegment, r.Plane)
		server, _ := r.Part(decode.Server)
		require.Equal(rt, class.Offset, server)
		got, has := r.Part(decode.Shard)
		require.Equal(rt, shard, got)
		require.Equal(rt, bits > 0, has)
	})
}

func TestPartNames(t *testing.T) {
	t.Parallel()
	require.Len(t, decode.Parts(), 6)
	require.Equal(t, "server", decode.Server.String())
	require.Equal(t, "part 9", decode.Part(9).String())
}

// A million lines are to be read in seconds: what a line allocates counts.
func TestDecodeAllocatesLittle(t *testing.T) {
	d := decode.New(decode.Config{})
	line := make([]byte, 0, 512)
	got := testing.AllocsPerRun(100, func() {
		r, err := d.Decode("54760833024000005")
		if err != nil {
			t.Error(err)
		}
		line = r.AppendJSON(line[:0])
	})
	require.Zero(t, got)
}
