package ticket

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestHistogramBuckets(t *testing.T) {
	t.Parallel()
	for d, bucket := range map[time.Duration]int{
		-time.Second: 0, 0: 0, 16*time.Microsecond - 1: 0, 16 * time.Microsecond: 1, 32*time.Microsecond - 1: 1,
		32 * time.Microsecond: 2, time.Millisecond: 6, time.Second: 16, time.Hour: 23,
	} {
		var h Histogram
		h.Add(d)
		require.Equal(t, int64(1), h[bucket], "%s", d)
		require.Equal(t, int64(1), h.Count())
		if bucket < len(h)-1 {
			require.Less(t, d, h.Bound(bucket))
		}
	}
}

func TestHistogramQuantile(t *testing.T) {
	t.Parallel()
	var h Histogram
	require.Zero(t, h.Quantile(0.5))
	for range 90 {
		h.Add(20 * time.Microsecond)
	}
	for range 10 {
		h.Add(time.Millisecond)
	}
	require.Equal(t, 32*time.Microsecond, h.Quantile(0))
	require.Equal(t, 32*time.Microsecond, h.Quantile(0.5))
	require.Equal(t, 1024*time.Microsecond, h.Quantile(0.95))
	require.Equal(t, 1024*time.Microsecond, h.Quantile(0.99))
}

func TestErrorsAreCountedByCause(t *testing.T) {
	t.Parallel()
	number := func(n uint16) error { return NewServerError("a", &mysql.MySQLError{Number: n}) }
	tests := []struct {
		name string
		err  error
		want ErrorCounts
	}{
		{"Broken", NewServerError("a", mysql.ErrInvalidConn), ErrorCounts{Unreachable: 1}},
		{"Timeout", NewServerError("a", context.DeadlineExceeded), ErrorCounts{Timeout: 1}},
		{"Password", number(1045), ErrorCounts{Denied: 1}},
		{"Privilege", number(1142), ErrorCounts{Denied: 1}},
		{"Database", number(1049), ErrorCounts{Denied: 1}},
		{"ReadOnly", number(1290), ErrorCounts{ReadOnly: 1}},
		{"FoundReadOnly", errReadOnly(), ErrorCounts{ReadOnly: 1}},
		{"Changed", errChanged, ErrorCounts{Changed: 1}},
		{"SchemeRefusedByTheServer", number(1690), ErrorCounts{Changed: 1}},
		{"Scheme", &ServerError{Kind: ErrScheme}, ErrorCounts{Scheme: 1}},
		{"Other", errors.New("other"), ErrorCounts{Other: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var c counts
			c.fail(tt.err)
			require.Equal(t, tt.want, c.errors)
			require.Equal(t, int64(1), c.errors.Total())
		})
	}
}

// Whatever judge can say is counted, once, by its own reason.
func TestFencesAreCountedByReason(t *testing.T) {
	t.Parallel()
	row := rowOf(1, 1, 1)
	row.Gen, row.ServerUUID, row.StartedAt, row.SingleWriter = 5, "u", 100, true
	for _, tt := range []struct {
		name   string
		now    schema.Incarnation
		newest record
		forced string
		want   FenceCounts
	}{
		{"Restarted", schema.Incarnation{ServerUUID: "u", StartedAt: 101}, record{}, "", FenceCounts{Restarted: 1}},
		{"AnotherServer", schema.Incarnation{ServerUUID: "v", StartedAt: 100}, record{}, "", FenceCounts{Replaced: 1}},
		{"EarlierStart", schema.Incarnation{ServerUUID: "u", StartedAt: 99}, record{}, "", FenceCounts{Replaced: 1}},
		{"Peer", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, record{Gen: 6, UUID: "u", StartedAt: 100}, "", FenceCounts{Peer: 1}},
		{"Scheme", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, record{}, "went back", FenceCounts{Scheme: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reason, err := judge(&survey{row: row, incarnation: tt.now}, tt.newest, tt.newest.Gen > 0, tt.forced, false)
			require.NoError(t, err)
			var c FenceCounts
			c.count(reason)
			require.Equal(t, tt.want, c)
			require.Equal(t, int64(1), c.Total())
		})
	}
}

// Line and Ceiling are those of the row; before there is one they are zero.
func TestStatsOfAServerRow(t *testing.T) {
	t.Parallel()
	s := &server{}
	require.Zero(t, s.stats().Line)
	require.Zero(t, s.stats().Ceiling)
	row := rowOf(1, 1, 1)
	row.TicketBase, row.TicketCeiling = 700, 1<<53-1
	s = &server{row: row, clock: serverClock{unix: row.TicketBirth + 1, read: time.Now()}}
	st := s.stats()
	require.Equal(t, int64(1<<53-1), st.Ceiling)
	require.Greater(t, st.Line, row.Class().ID(700))
	require.Less(t, st.Line, st.Ceiling)
}

func TestStateString(t *testing.T) {
	t.Parallel()
	require.Equal(t, "checking", StateChecking.String())
	require.Equal(t, "up", StateUp.String())
	require.Equal(t, "down", StateDown.String())
}
