package demo

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

func TestCollectCountsEveryDuplicate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		ids  [][]int64
		want int
	}{
		{"None", [][]int64{{1, 3}, {2, 4}}, 0},
		{"NoCallers", nil, 0},
		{"NoTickets", [][]int64{{}, nil}, 0},
		{"AcrossCallers", [][]int64{{1, 3, 5}, {4, 3}}, 1},
		{"OfOneCaller", [][]int64{{7, 8, 7}}, 1},
		{"ThreeTimesIsTwoTooMany", [][]int64{{9}, {9}, {9}}, 2},
		{"TwoPairs", [][]int64{{1, 2}, {2, 1}}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			callers := make([]caller, len(tt.ids))
			total := 0
			for i, ids := range tt.ids {
				callers[i].ids = ids
				total += len(ids)
			}
			r := collect(callers, time.Second)
			require.Equal(t, tt.want, r.duplicates)
			require.Len(t, r.ids, total)
		})
	}
}

func TestCollectSorts(t *testing.T) {
	t.Parallel()
	callers := make([]caller, 2)
	callers[0].ids, callers[0].latencies = []int64{5, 1}, []time.Duration{30, 10}
	callers[1].ids, callers[1].latencies = []int64{2}, []time.Duration{20}
	r := collect(callers, 0)
	require.Equal(t, []int64{1, 2, 5}, r.ids)
	require.Equal(t, []time.Duration{10, 20, 30}, r.latencies)
}

func TestCollectKeepsTheFirstError(t *testing.T) {
	t.Parallel()
	first := errors.New("first")
	callers := make([]caller, 3)
	callers[1].failed, callers[1].firstErr = 2, first
	callers[2].failed, callers[2].firstErr = 1, errors.New("second")
	r := collect(callers, 0)
	require.Equal(t, 3, r.failed)
	require.Equal(t, first, r.firstErr)
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	require.Zero(t, (&result{}).quantile(0.5))
	one := &result{latencies: []time.Duration{time.Millisecond}}
	for _, q := range []float64{0, 0.5, 0.99, 1} {
		require.Equal(t, time.Millisecond, one.quantile(q))
	}
	hundred := &result{}
	for i := range 101 {
		hundred.latencies = append(hundred.latencies, time.Duration(i)*time.Millisecond)
	}
	require.Equal(t, 50*time.Millisecond, hundred.quantile(0.5))
	require.Equal(t, 99*time.Millisecond, hundred.quantile(0.99))
	require.Equal(t, 100*time.Millisecond, hundred.quantile(1))
	rounded := &result{latencies: []time.Duration{1_234_567}}
	require.Equal(t, 1_230*time.Microsecond, rounded.quantile(1))
}

func TestPrintEndsWithTheVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		r    result
		want string
		err  error
	}{
		{"OK", result{ids: []int64{1, 2, 3}}, "demo: ok ids=3 duplicates=0 failed=0", nil},
		{"Duplicate", result{ids: []int64{1, 1}, duplicates: 1}, "demo: FAILED ids=2 duplicates=1 failed=0", ErrFailed},
		{"Failed", result{ids: []int64{1}, failed: 4, firstErr: errors.New("some reason")}, "demo: FAILED ids=1 duplicates=0 failed=4", ErrFailed},
		{"NothingDrawn", result{}, "demo: FAILED ids=0 duplicates=0 failed=0", ErrFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.r.took = 2 * time.Second
			var out strings.Builder
			err := tt.r.print(&out, ticket.Stats{})
			require.ErrorIs(t, err, tt.err)
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			require.Equal(t, tt.want, lines[len(lines)-1])
			require.Equal(t, tt.r.firstErr != nil, strings.Contains(out.String(), "first error a caller got: some reason"))
		})
	}
}

func TestPrintShowsServersAndEvents(t *testing.T) {
	t.Parallel()
	r := result{ids: []int64{1, 2, 3, 4}, took: 2 * time.Second, latencies: []time.Duration{time.Millisecond}, events: []string{"  4.0s  server 1 killed"}}
	var out strings.Builder
	require.NoError(t, r.print(&out, ticket.Stats{Increment: 2, Servers: []ticket.ServerStats{
		{Server: "127.0.0.1:1/oddeven", Offset: 1, Issued: 1, Errors: ticket.ErrorCounts{Unreachable: 3, Timeout: 2}, Fences: 6, State: ticket.StateUp},
		{Server: "127.0.0.1:2/oddeven", Offset: 2, Issued: 3, State: ticket.StateDown},
	}}))
	for _, line := range []string{
		"4 tickets in 2.0 s: 2 a second",
		"127.0.0.1:1/oddeven, offset 1 of 2: 1 tickets (25 %), 5 failures, fenced 6 times, now up",
		"127.0.0.1:2/oddeven, offset 2 of 2: 3 tickets (75 %), 0 failures, fenced 0 times, now down",
		"a call took 1ms in the middle (p50), 1ms at p99, 1ms at most",
		"4.0s  server 1 killed",
	} {
		require.Contains(t, out.String(), line)
	}
}

func TestDirectorKeepsWhatItSays(t *testing.T) {
	t.Parallel()
	var progress strings.Builder
	d := director{progress: &progress, began: time.Now(), callers: make([]caller, 2)}
	d.callers[0].count.Store(3)
	d.callers[1].count.Store(4)
	d.say("server %d killed", 1)
	require.Len(t, d.events, 1)
	require.True(t, strings.HasSuffix(d.events[0], "server 1 killed"))
	require.Equal(t, d.events[0]+"\n", progress.String())
	d.report()
	require.Contains(t, progress.String(), "7 tickets\n")
}
