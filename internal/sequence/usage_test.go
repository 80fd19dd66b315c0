package sequence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

// anHour is an hour since 1970 in which these tests take place.
const anHour = 480_000

func TestWindows(t *testing.T) {
	t.Parallel()
	row := func(at int64) *Row {
		return &Row{Refills: 9, Reserved: 100, Usage: Usage{Hour: at, HourRefills: 5, HourReserved: 60, PastRefills: 3, PastReserved: 33}}
	}
	tests := []struct {
		name       string
		row        *Row
		this, last Window
	}{
		{"no row", nil, Window{}, Window{}},
		{"a refill in this hour", row(anHour), Window{4, 40}, Window{3, 33}},
		{"the last refill was in the hour before", row(anHour - 1), Window{}, Window{4, 40}},
		{"the last refill was two hours ago", row(anHour - 2), Window{}, Window{}},
		{"the clock was set back", row(anHour + 1), Window{}, Window{}},
		{"a damaged row", &Row{Usage: Usage{Hour: anHour, HourRefills: 5, HourReserved: 60}}, Window{}, Window{}},
	}
	for _, tt := range tests {
		this, last := OnServer{Now: anHour*3600 + 1800, Row: tt.row}.Windows()
		require.Equal(t, tt.this, this, tt.name)
		require.Equal(t, tt.last, last, tt.name)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	const now = anHour*3600 + 1800 // 90 minutes after the last full hour began
	rate := func(created int64) float64 {
		return OnServer{Now: now, Row: &Row{
			Reserved: 5400, CreatedAt: time.Unix(created, 0), Usage: Usage{Hour: anHour, HourReserved: 2700, PastReserved: 2700},
		}}.Rate()
	}
	require.InDelta(t, 1, rate(0), 1e-9, "made long ago")
	require.InDelta(t, 9, rate(now-600), 1e-9, "made ten minutes ago")
	require.InDelta(t, 90, rate(now), 1e-9, "made just now: over a minute")
	require.InDelta(t, 90, rate(now+5), 1e-9, "made in the future")
	require.Zero(t, OnServer{Now: now}.Rate())
}

func TestPassedOver(t *testing.T) {
	t.Parallel()
	require.Equal(t, int64(50), OnServer{Row: &Row{Rounds: 1100, Start: 1000, Reserved: 50}}.PassedOver())
	require.Zero(t, OnServer{Row: &Row{Rounds: 10, Reserved: 50}}.PassedOver(), "a row put back by hand")
	require.Zero(t, OnServer{}.PassedOver())
}

func TestLineAndLast(t *testing.T) {
	t.Parallel()
	class := schema.Class{Offset: 1, Increment: 2}
	state := State{Base: 5, Birth: anHour * 3600, Ceiling: 1<<31 - 1}
	on := OnServer{Class: class, Now: anHour * 3600, Row: &Row{State: state}}
	require.Equal(t, schema.ClockLine{Base: 5, Birth: anHour * 3600, Last: 1<<30 - 2}.At(anHour*3600), on.Line())
	require.Equal(t, int64(1<<30-2), Sequence{State: state, Servers: []OnServer{on}}.Last())
	require.Zero(t, OnServer{}.Line())
	require.Zero(t, Sequence{}.Last())
}
