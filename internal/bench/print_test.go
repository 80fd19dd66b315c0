package bench

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

func TestReportFitsATerminal(t *testing.T) {
	t.Parallel()
	slow := &Latency{P50: 123_400_000, P90: 123_400_000, P99: 123_400_000, P999: 123_400_000, Max: 123_400_000}
	r := &Report{
		Client:  Client{Version: "v1.2.3", Go: "go1.26.8", OS: "linux", Arch: "amd64", GOMAXPROCS: 16, Conns: 8, Seconds: 3},
		Servers: []Server{{Server: "db1.internal:3306/oddeven", Offset: 1, Version: "10.11.19-MariaDB-0+deb12u1", State: "checking"}},
		Measurements: []Measurement{
			{Name: RoundTrip, Offset: 16, Callers: 1000, Count: 1, PerSecond: 999_999, Latency: slow},
			{Name: Ticket, Callers: 1000, Count: 1, PerSecond: 999_999, Latency: slow},
			{Name: WorkerBurst, Callers: 1, Count: 1, PerSecond: 999_999_999, NsPerID: 1000},
			{Name: WorkerNext, Callers: 16, Count: 1, PerSecond: 999_999_999, NsPerID: 1000},
		},
		Failovers: []Failover{{Variant: Refused, Callers: 1000, Longest: 1e8, Worker: 1e8, Back: 1e8}},
		OK:        true,
	}
	var out strings.Builder
	require.NoError(t, r.Print(&out))
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
	require.True(t, strings.HasSuffix(out.String(), "\nbench: ok tickets=0 rounds=0 checked=0 duplicates=0 failed=0\n"))
	for _, want := range []string{"round trip, offset 16", "999,999", "123ms", "Worker.TryNext, bursts", "connections refused"} {
		require.Contains(t, out.String(), want)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		r    Report
		want string
	}{
		{Report{OK: true}, "bench: ok "},
		{Report{Interrupted: true}, "bench: INTERRUPTED "},
		{Report{Duplicates: 1}, "bench: FAILED "},
		{Report{Interrupted: true, Duplicates: 1}, "bench: FAILED "},
		{Report{Measurements: []Measurement{{Name: Ticket, Failed: 1}}}, "bench: FAILED "},
	} {
		var out strings.Builder
		require.NoError(t, tt.r.Print(&out))
		require.Contains(t, out.String(), tt.want)
	}
}

func TestADuplicateFailsTheRun(t *testing.T) {
	t.Parallel()
	r := &runner{tickets: newSeen(), ids: newSeen(), report: &Report{}}
	r.tickets.add([]int64{1, 2, 3})
	r.ids.add([]int64{1, 2})
	require.NoError(t, r.verdict(t.Context()))
	require.True(t, r.report.OK)
	r.ids.add([]int64{2})
	err := r.verdict(t.Context())
	require.ErrorIs(t, err, ErrDuplicate)
	require.ErrorContains(t, err, "the first was 2")
	require.False(t, r.report.OK)
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		require.Equal(t, want, Grouped(n))
	}
	for ns, want := range map[int64]string{
		0: "-", 1: "1ns", 999: "999ns", 1000: "1.00µs", 9_994: "9.99µs", 9_996: "10.0µs", 99_949: "99.9µs", 99_951: "100µs",
		999_499: "999µs", 999_600: "1.00ms", 1_500_000_000: "1.50s",
	} {
		require.Equal(t, want, short(ns), ns)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]Config{
		"Duration": {Duration: time.Millisecond},
		"Callers":  {Callers: []int{1, 0}},
	} {
		_, err := cfg.withDefaults()
		var config *ticket.ConfigError
		require.ErrorAs(t, err, &config)
		require.Equal(t, field, config.Field)
	}
	cfg, err := Config{Callers: []int{8, 1, 8}}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, []int{1, 8}, cfg.Callers)
	require.Equal(t, 3*time.Second, cfg.Duration)
	require.Equal(t, []int{1, 4}, atMost([]int{1, 8, 64}, 4))
}

func TestSmallSequencesAreNotUsedUp(t *testing.T) {
	t.Parallel()
	err := &SpaceError{Sequence: "users", Need: 5, Left: 10}
	require.ErrorContains(t, err, "sequence users has 10 rounds left")
}
