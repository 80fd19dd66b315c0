package snowflake_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/snowflake"
)

const defaultSpec = "time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z"

func TestStringAndParseLayoutAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		spec := l.String()
		if len(spec) > snowflake.MaxSpec {
			t.Fatalf("%q has %d bytes", spec, len(spec))
		}
		back, err := snowflake.ParseLayout(spec)
		if err != nil || back != l {
			t.Fatalf("ParseLayout(%q) = %v, %v", spec, back, err)
		}
	})
}

func TestLongestSpecIsFarBelowMaxSpec(t *testing.T) {
	t.Parallel()
	const spec = "time:23,datacenter:10,worker:10,shard:10,sequence:10;unit=922337203685ms;epoch=2026-01-01T00:00:00.001Z"
	_, err := snowflake.ParseLayout(spec)
	require.NoError(t, err)
	require.Less(t, len(spec), snowflake.MaxSpec*3/5)
}

func TestParseLayoutAcceptsPresets(t *testing.T) {
	t.Parallel()
	for _, p := range snowflake.Presets() {
		l, err := snowflake.ParseLayout(p.Name)
		require.NoError(t, err)
		require.Equal(t, p.Layout, l)
	}
}

func TestParseLayoutShowsTheCanonicalForm(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, spec, canonical string }{
		{"Unit", "time:41,worker:10;unit=1000ms;epoch=2026-01-01T00:00:00Z", "time:41,worker:10;unit=1s;epoch=2026-01-01T00:00:00Z"},
		{"Minutes", "time:30,worker:10;unit=1m0s;epoch=2026-01-01T00:00:00Z", "time:30,worker:10;unit=1m;epoch=2026-01-01T00:00:00Z"},
		{"Hours", "time:30,worker:10;unit=120m;epoch=2026-01-01T00:00:00Z", "time:30,worker:10;unit=2h;epoch=2026-01-01T00:00:00Z"},
		{"Zone", "time:41,worker:10;unit=1ms;epoch=2026-01-01T02:00:00+02:00", "time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z"},
		{"Decimals", "time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00.5Z", "time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00.500Z"},
		{"ZeroDecimals", "time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00.000Z", "time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z"},
		{"LeadingZero", "time:041,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z", "time:41,worker:10;unit=1ms;epoch=2026-01-01T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := snowflake.ParseLayout(tt.spec)
			requireLayoutError(t, err, "spec", tt.spec,
				`snowflake: layout: spec "`+tt.spec+`" is not in the one form that is stored and compared: write `+tt.canonical)
			_, err = snowflake.ParseLayout(tt.canonical)
			require.NoError(t, err)
		})
	}
}

func TestParseLayoutErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, spec, problem string }{
		{"FieldsOnly", "time:41,worker:10", "has 1 parts separated by semicolons, not 3"},
		{"FourParts", defaultSpec + ";", "has 4 parts separated by semicolons, not 3"},
		{"EmptyParts", ";;", `has "" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"UnknownField", strings.Replace(defaultSpec, "worker", "machine", 1), `has "machine:10" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"Capitals", strings.Replace(defaultSpec, "time", "Time", 1), `has "Time:41" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"Space", strings.Replace(defaultSpec, ",", ", ", 1), `has " worker:10" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"NoWidth", strings.Replace(defaultSpec, ":10", "", 1), `has "worker" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"Sign", strings.Replace(defaultSpec, "10", "+10", 1), `has "worker:+10" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"HugeWidth", strings.Replace(defaultSpec, "10", "99999", 1), `has "worker:99999" where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)`},
		{"NoUnit", strings.Replace(defaultSpec, "unit=1ms", "1ms", 1), `has "1ms" where unit=DURATION belongs`},
		{"BadUnit", strings.Replace(defaultSpec, "1ms", "1", 1), `has "unit=1" where unit=DURATION belongs`},
		{"NoEpoch", strings.Replace(defaultSpec, "epoch=", "", 1), `has "2026-01-01T00:00:00Z" where epoch=TIME belongs`},
		{"DateOnly", strings.Replace(defaultSpec, "T00:00:00Z", "", 1), `has "epoch=2026-01-01" where epoch=TIME belongs`},
		{"Swapped", "time:41;epoch=2026-01-01T00:00:00Z;unit=1ms", `has "epoch=2026-01-01T00:00:00Z" where unit=DURATION belongs`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := snowflake.ParseLayout(tt.spec)
			requireLayoutError(t, err, "spec", tt.spec, `snowflake: layout: spec "`+tt.spec+`" `+tt.problem+": write it like "+defaultSpec)
		})
	}
}

func TestParseLayoutLongText(t *testing.T) {
	t.Parallel()
	_, err := snowflake.ParseLayout(defaultSpec + strings.Repeat("x", 200))
	requireLayoutError(t, err, "spec", "time:41,worker:10,se...",
		`snowflake: layout: spec "time:41,worker:10,se..." has 265 bytes; at most 200: write it like `+defaultSpec)
}

func TestParseLayoutChecksTheLayout(t *testing.T) {
	t.Parallel()
	_, err := snowflake.ParseLayout("time:37,worker:20,sequence:16;unit=1ms;epoch=2026-01-01T00:00:00Z")
	requireLayoutError(t, err, "bits", "73",
		"snowflake: layout: time 37 + worker 20 + sequence 16 = 73 bits; at most 63: take 10 bits away")
	_, err = snowflake.ParseLayout("")
	require.Error(t, err)
}

func TestErrorsShowTheSpecOfTheDefault(t *testing.T) {
	t.Parallel()
	require.Equal(t, defaultSpec, snowflake.Default().String())
}

func FuzzParseLayout(f *testing.F) {
	for _, p := range snowflake.Presets() {
		f.Add(p.Name)
		f.Add(p.Layout.String())
	}
	f.Add("time:41,worker:10;unit=1000ms;epoch=2026-01-01T00:00:00.5+02:00")
	f.Add("time:62;unit=2562047h;epoch=9999-12-31T23:59:59.999Z")
	f.Add(";unit=;epoch=")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := snowflake.ParseLayout(text)
		if err != nil {
			var le *snowflake.LayoutError
			if !errors.As(err, &le) || le.Remedy == "" || !l.IsZero() {
				t.Fatalf("ParseLayout(%q) = %v, %v", text, l, err)
			}
			return
		}
		spec := l.String()
		if _, err := snowflake.Preset(text); err != nil && spec != text {
			t.Fatalf("%q was accepted and is written %q", text, spec)
		}
		if len(spec) > snowflake.MaxSpec {
			t.Fatalf("%q is too long", spec)
		}
		for _, b := range []byte(spec) {
			if b <= ' ' || b >= 0x7f {
				t.Fatalf("%q is not printable ASCII", spec)
			}
		}
		if l.TickOf(l.Exhausted()) != l.MaxTick()+1 {
			t.Fatalf("%q: Exhausted overflows", spec)
		}
	})
}
