package ticket

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

// rowOf is a row of a fleet of three, known by one byte as the server is.
func rowOf(fleet, identity byte, offset int64) schema.Server {
	return schema.Server{
		Fleet: schema.Identity{fleet}, Identity: schema.Identity{identity}, Offset: offset, Increment: 3,
		Layout: "oddeven", LongestLeaseMS: 1000, TicketCeiling: schema.CeilingFor(0),
	}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	type arrival struct {
		dsn  string
		row  schema.Server
		says string // "": admitted
	}
	with := func(row schema.Server, change func(*schema.Server)) schema.Server { change(&row); return row }
	tests := []struct {
		name     string
		arrivals []arrival
	}{
		{"WholeFleet", []arrival{{"a", rowOf(1, 1, 1), ""}, {"b", rowOf(1, 2, 2), ""}, {"c", rowOf(1, 3, 3), ""}}},
		{"SameServerAgain", []arrival{{"a", rowOf(1, 1, 1), ""}, {"a", rowOf(1, 1, 1), ""}}},
		{"TwoDSNsForOneServer", []arrival{{"a", rowOf(1, 1, 1), ""}, {"b", rowOf(1, 1, 1), "is the same server as a"}}},
		{"TwoDSNsForOneServerOfAnotherOffset", []arrival{{"a", rowOf(1, 1, 1), ""}, {"b", rowOf(1, 1, 2), "is the same server as a"}}},
		{"OffsetTaken", []arrival{{"a", rowOf(1, 1, 1), ""}, {"b", rowOf(1, 2, 1), "has offset 1, which a has too"}}},
		{"OtherFleet", []arrival{{"a", rowOf(1, 1, 1), ""}, {"b", rowOf(2, 2, 2), "belongs to fleet 02000000000000000000000000000000, not to 01"}}},
		{"OtherIncrement", []arrival{
			{"a", rowOf(1, 1, 1), ""},
			{"b", with(rowOf(1, 2, 2), func(s *schema.Server) { s.Increment = 4 }), "has increment 4, the fleet has 3"},
		}},
		{"RefusedIsNotRemembered", []arrival{{"a", rowOf(1, 1, 1), ""}, {"b", rowOf(2, 2, 2), "belongs to fleet"}, {"c", rowOf(1, 3, 2), ""}}},
		{"AnotherServerBehindTheDSN", []arrival{{"a", rowOf(1, 1, 1), ""}, {"a", rowOf(1, 2, 1), ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &Fleet{admitted: map[int64]*admitted{}}
			servers := map[string]*server{}
			for _, arrival := range tt.arrivals {
				if servers[arrival.dsn] == nil {
					servers[arrival.dsn] = &server{label: arrival.dsn}
				}
				err := f.admit(servers[arrival.dsn], arrival.row)
				if arrival.says == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, ErrForeign)
				require.ErrorContains(t, err, arrival.says)
				var e *ServerError
				require.ErrorAs(t, err, &e)
				require.NotEmpty(t, e.Remedy)
			}
		})
	}
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*schema.Server)
		want   string
	}{
		{"Same", func(*schema.Server) {}, ""},
		{"WhatIsItsOwn", func(s *schema.Server) {
			s.Identity, s.Offset, s.Gen, s.ServerUUID, s.StartedAt, s.TicketBase, s.FenceReason = schema.Identity{9}, 2, 7, "u", 5, 3, "r"
		}, ""},
		{"Fleet", func(s *schema.Server) { s.Fleet = schema.Identity{0xff} }, "belongs to fleet ff000000000000000000000000000000, not to 01000000000000000000000000000000"},
		{"Increment", func(s *schema.Server) { s.Increment = 2 }, "has increment 2, the fleet has 3"},
		{"ShardBits", func(s *schema.Server) { s.ShardBits = 4 }, "has 4 shard bits, the fleet has 0"},
		{"Layout", func(s *schema.Server) { s.Layout = "twitter" }, "has layout twitter, the fleet has oddeven"},
		{"LongestLease", func(s *schema.Server) { s.LongestLeaseMS = 60_000 }, "has a longest lease of 1m0s, the fleet has 1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fleet := rowOf(1, 1, 1)
			row := fleet
			tt.change(&row)
			require.Equal(t, tt.want, differs(fleet, row))
		})
	}
}

func TestCheckRow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		row     schema.Server
		version int64
		says    string
	}{
		{"InOrder", schema.Server{Offset: 1, Increment: 2, MinClient: schema.Client}, schema.Required, ""},
		{"NewerButCompatible", schema.Server{Offset: 2, Increment: 2, MinClient: schema.Client}, schema.Required + 100, ""},
		{"OneServer", schema.Server{Offset: 1, Increment: 1}, schema.Required, ""},
		{"OlderSchema", schema.Server{Offset: 1, Increment: 2}, schema.Required - 1, "is older than the"},
		{"AsksForANewerClient", schema.Server{Offset: 1, Increment: 2, MinClient: schema.Client + 1}, schema.Required + 1, "asks for client protocol"},
		{"NoOffset", schema.Server{Offset: 0, Increment: 2}, schema.Required, "its row says offset 0 of increment 2"},
		{"OffsetTooLarge", schema.Server{Offset: 3, Increment: 2}, schema.Required, "its row says offset 3 of increment 2"},
		{"NoIncrement", schema.Server{}, schema.Required, "its row says offset 0 of increment 0"},
		{"NegativeIncrement", schema.Server{Offset: 1, Increment: -2}, schema.Required, "its row says offset 1 of increment -2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := checkRow(tt.row, tt.version)
			if tt.says == "" {
				require.NoError(t, err)
				return
			}
			var e *ServerError
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Problem, tt.says)
			require.NotEmpty(t, e.Remedy)
		})
	}
}
