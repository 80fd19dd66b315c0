package snowflake

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

func TestServerWithAnotherIdeaOfASecondIsRefused(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(ms int64, sent, received time.Duration) reading {
		return reading{ms: ms, sent: start.Add(sent), received: start.Add(received)}
	}
	const ms = time.Millisecond
	tests := []struct {
		name          string
		first, second reading
		ok            bool
	}{
		{"Alike", at(1000, 0, ms), at(1100, 100*ms, 101*ms), true},
		{"SlowReplies", at(1000, 0, 900*ms), at(1100, 1000*ms, 5000*ms), true},
		{"SlowRepliesOfAFastServer", at(1000, 0, 900*ms), at(6800, 1000*ms, 5000*ms), true},
		{"ALittleFast", at(1000, 0, ms), at(1200, 100*ms, 101*ms), true},
		{"ThreeTimesAsFast", at(1000, 0, ms), at(1300, 100*ms, 101*ms), false},
		{"StandsStill", at(1000, 0, ms), at(1000, 200*ms, 201*ms), false},
		{"SetBack", at(1000, 0, ms), at(500, 100*ms, 101*ms), false},
		{"SetAhead", at(1000, 0, ms), at(61000, 100*ms, 101*ms), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := checkPace(tt.first, tt.second)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			var refused *ticket.ServerError
			require.ErrorAs(t, err, &refused)
			require.Contains(t, refused.Remedy, "check the clocks")
		})
	}
}

func TestTermsOfALease(t *testing.T) {
	t.Parallel()
	other, err := ParseLayout("time:41,worker:8,sequence:14;unit=1ms;epoch=2020-01-01T00:00:00Z")
	require.NoError(t, err)
	sonyflake, err := Preset("sonyflake")
	require.NoError(t, err)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	row := func(l Layout, longest time.Duration) settingsRow {
		return settingsRow{Layout: l.String(), TickMS: l.unit, EpochMS: l.epoch, Longest: longest.Milliseconds(), Now: now}
	}
	edited := row(Default(), time.Hour)
	edited.TickMS = 10
	tests := []struct {
		name  string
		row   settingsRow
		cfg   Config
		ticks int64
		want  string
	}{
		{"Default", row(Default(), 4*time.Hour), Config{}, 3_600_000, ""},
		{"DefaultOfAShortFleet", row(Default(), time.Minute), Config{}, 60_000, ""},
		{"LongTicks", row(sonyflake, time.Hour), Config{Lease: time.Minute}, 6000, ""},
		{"SameLayout", row(other, time.Hour), Config{Layout: other, Lease: time.Second}, 1000, ""},
		{"OtherLayout", row(Default(), time.Hour), Config{Layout: other},
			0, "Layout = " + other.String() + ": the fleet has " + Default().String()},
		{"TooLong", row(Default(), time.Hour), Config{Lease: 61 * time.Minute}, 0, "Lease = 1h1m0s: the fleet allows at most 1h0m0s"},
		{"TooShort", row(sonyflake, time.Hour), Config{Lease: 19 * time.Millisecond}, 0, "Lease = 19ms: must be at least 2 ticks of 10ms"},
		{"Negative", row(Default(), time.Hour), Config{Lease: -1}, 0, "Lease = -1ns: must be at least"},
		{"RowEdited", edited, Config{}, 0, "changed it by hand"},
		{"BelowTheCeiling", row(Default(), time.Hour), Config{Ceiling: 1 << 62}, 0, "ceiling"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			terms, err := agree(tt.row, tt.cfg)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.ticks, terms.length)
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	next := time.Date(2030, 1, 2, 3, 4, 5, 6e6, time.UTC)
	require.EqualError(t, &NoNumberError{Next: next, In: 90 * time.Second},
		"snowflake: no worker number is free: all are leased; the next may be at 2030-01-02T03:04:05.006Z, in 1m30s. "+
			"Wait, close workers that are not needed, take shorter leases, or a layout with more worker bits")
	require.ErrorContains(t, &NoNumberError{Next: next, Parked: true}, "parked because a server was restarted")
	require.ErrorContains(t, &NoNumberError{}, "oddeven migrate up")
	require.ErrorIs(t, &NoNumberError{}, ErrNoNumber)
	require.ErrorIs(t, &LeaseLostError{}, ErrLeaseLost)
	require.ErrorIs(t, &StateFileError{Err: errDown}, errDown)
	require.EqualError(t, &StateFileError{Path: "p", Problem: "is bad", Err: errDown, Remedy: "Mend it."},
		"snowflake: state file p: is bad: server is down. Mend it.")
}
