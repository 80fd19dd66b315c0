package segment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/segment"
)

// hours are the columns that a refill keeps for people.
type hours struct {
	Hour, Refills, Reserved, HourRefills, HourReserved, PastRefills, PastReserved int64
}

func readHours(t testing.TB, s *testfleet.Server) (h hours) {
	t.Helper()
	row := s.DB().QueryRowContext(clienttest.Bounded(t), "SELECT CAST(hour AS SIGNED) - UNIX_TIMESTAMP() DIV 3600, refills, reserved, CAST(hour_refills AS SIGNED), CAST(hour_reserved AS SIGNED), "+
		"past_refills, past_reserved FROM sequences WHERE name = ?", orders)
	require.NoError(t, row.Scan(&h.Hour, &h.Refills, &h.Reserved, &h.HourRefills, &h.HourReserved, &h.PastRefills, &h.PastReserved))
	return h
}

// The row counts refills and rounds by the hour, and no value that these columns
// can have makes a refill fail.
func TestRefillsAreCountedByTheHour(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1)
	one := servers.Servers[0]
	source, err := segment.NewSource(clienttest.Open(t, clienttest.Config(t, servers.DSNs()...)), orders)
	require.NoError(t, err)
	now := func() int64 { return clienttest.Value(t, one, "SELECT UNIX_TIMESTAMP() DIV 3600") }
	tests := []struct {
		name string
		set  string // of the row, before refills of 10 and of 20
		want hours
	}{
		{
			"a new row", "refills = 0, reserved = 0, hour_refills = 0, hour_reserved = 0, past_refills = 0, past_reserved = 0, hour = 0",
			hours{Refills: 2, Reserved: 30},
		},
		{
			"the same hour", "refills = 7, reserved = 70, hour_refills = 5, hour_reserved = 50, past_refills = 3, past_reserved = 33, hour = @h",
			hours{Refills: 9, Reserved: 100, HourRefills: 5, HourReserved: 50, PastRefills: 3, PastReserved: 33},
		},
		{
			"the next hour", "refills = 7, reserved = 70, hour_refills = 5, hour_reserved = 50, past_refills = 3, past_reserved = 33, hour = @h - 1",
			hours{Refills: 9, Reserved: 100, HourRefills: 7, HourReserved: 70, PastRefills: 2, PastReserved: 20},
		},
		{
			"an hour without a refill between", "refills = 7, reserved = 70, hour_refills = 5, hour_reserved = 50, past_refills = 3, past_reserved = 33, hour = @h - 2",
			hours{Refills: 9, Reserved: 100, HourRefills: 7, HourReserved: 70},
		},
		{
			"the clock was set back", "refills = 7, reserved = 70, hour_refills = 5, hour_reserved = 50, past_refills = 3, past_reserved = 33, hour = @h + 5",
			hours{Refills: 9, Reserved: 100, HourRefills: 7, HourReserved: 70},
		},
		{
			"counts that went back", "refills = 7, reserved = 70, hour_refills = 9, hour_reserved = 90, past_refills = 3, past_reserved = 33, hour = @h - 1",
			hours{Refills: 9, Reserved: 100, HourRefills: 7, HourReserved: 70},
		},
		{
			"a damaged row", "refills = ~0, reserved = ~0, hour_refills = 0, hour_reserved = 0, past_refills = 0, past_reserved = 0, hour = ~0",
			hours{Refills: 1 << 61, Reserved: 1<<61 + 19, HourRefills: -1, HourReserved: -1},
		},
	}
	for _, tt := range tests {
		for { // again if an hour begins meanwhile
			hour := now()
			clienttest.Exec(t, one, "UPDATE sequences SET "+strings.ReplaceAll(tt.set, "@h", "UNIX_TIMESTAMP() DIV 3600"))
			for _, count := range []int64{10, 20} {
				_, err := source.Reserve(clienttest.Bounded(t), 0, count)
				require.NoError(t, err, tt.name)
			}
			if got := readHours(t, one); hour == now() {
				require.Equal(t, tt.want, got, tt.name)
				break
			}
		}
	}
}
