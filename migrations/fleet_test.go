package migrations

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

// row of a fleet of three.
func rowOf(fleet, identity byte, offset int64) *schema.Server {
	return &schema.Server{Fleet: schema.Identity{fleet}, Identity: schema.Identity{identity}, Offset: offset, Increment: 3, Layout: "l", LongestLeaseMS: 1}
}

// crewOf has a server, named a, b, …, for each row; nil is a new one.
func crewOf(rows ...*schema.Server) *crew {
	c := &crew{}
	for i, row := range rows {
		c.members = append(c.members, &member{report: ServerReport{Server: string(rune('a' + i))}, session: &session{}, row: row})
	}
	return c
}

func TestCheckFleet(t *testing.T) {
	t.Parallel()
	resized := rowOf(1, 2, 2)
	resized.Increment = 4
	tests := []struct {
		name string
		crew *crew
		kind error
		says string
	}{
		{"InOrder", crewOf(rowOf(1, 1, 1), nil, rowOf(1, 2, 2)), nil, ""},
		{"AllNew", crewOf(nil, nil), nil, ""},
		{"TwoFleets", crewOf(nil, rowOf(1, 1, 1), rowOf(2, 2, 2)), ErrMixedFleets, "server c: belongs to fleet 02"},
		{"OtherIncrement", crewOf(rowOf(1, 1, 1), resized), ErrMixedFleets, "server b: its row says increment 4, not the 3 of a"},
		{"SameIdentity", crewOf(rowOf(1, 1, 1), rowOf(1, 1, 2)), ErrSameServer, "server b: has the same identity 0100"},
		{"SameOffset", crewOf(rowOf(1, 1, 1), rowOf(1, 2, 1)), ErrOffsets, "server b: has the same offset 1 as a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.crew.checkFleet()
			err := tt.crew.report().err()
			require.Equal(t, tt.kind != nil, tt.crew.halted)
			if tt.kind == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.kind)
			require.ErrorContains(t, err, tt.says)
			require.Equal(t, StateUntouched, tt.crew.members[0].report.State)
		})
	}
}

func TestCheckSettingsHaltsTheWholeFleet(t *testing.T) {
	t.Parallel()
	c := crewOf(nil, rowOf(1, 1, 1))
	c.cfg.Settings.Increment = 3
	c.checkSettings()
	require.False(t, c.halted)
	c.cfg.Settings.Increment = 5
	c.checkSettings()
	require.True(t, c.halted)
	require.ErrorIs(t, c.report().err(), ErrSettings)
	require.ErrorContains(t, c.report().err(), "increment is 3, asked for 5")
}

func TestReportNamesTheFleet(t *testing.T) {
	t.Parallel()
	r := crewOf(nil, rowOf(1, 1, 1)).report()
	require.Equal(t, schema.Identity{1}.String(), r.Fleet)
	require.Equal(t, int64(3), r.Increment)
	require.Equal(t, "l", r.Layout)
	require.Len(t, r.Servers, 2)
	require.Empty(t, crewOf(nil).report().Fleet)
}

func TestSequenceOfANewServerStartsAboveTheFleet(t *testing.T) {
	t.Parallel()
	class := schema.Class{Offset: 1, Increment: 2}
	p := &past{sequences: map[string]sequencePast{}}
	low := sequenceRow{Name: []byte("s"), Rounds: 10, Base: 0, Birth: someNow, Ceiling: 10_000, Description: "kept"}
	high := low
	high.Rounds = 3_000
	start := func() int64 { return p.sequences["s"].start(class, someNow) }
	p.addSequence(low, class, someNow)
	require.Equal(t, low.Rounds+1, start(), "an hour at the rate of the line")
	low.Peak = 70
	p.addSequence(high, class, someNow)
	p.addSequence(low, class, someNow)
	require.Equal(t, high.Rounds+low.Peak, start(), "the greatest of all rows")
	low.Peak = 0
	p.addSequence(low, class, someNow)
	require.Equal(t, high.Rounds+70, start(), "never lowered")
	require.Equal(t, "kept", p.sequences["s"].Description)
	p.addSequence(low, class, someNow+100*366*24*3600)
	require.Equal(t, class.LastRound(low.Ceiling), start(), "the clock line counts")
}

func TestPeersThatAreNotNamedLetNobodyJoin(t *testing.T) {
	t.Parallel()
	here, gone, retired := schema.Identity{1}, schema.Identity{2}, schema.Identity{3}
	p := &past{virgin: true}
	c := &crew{cfg: Config{Retired: []int64{3}}}
	known := map[schema.Identity]bool{here: true}
	p.addPeers(c, []peerRow{{Identity: here, Offset: 1}}, known)
	require.True(t, p.virgin)
	require.Empty(t, p.unnamed)
	p.addPeers(c, []peerRow{{Identity: gone, Offset: 2}, {Identity: retired, Offset: 3}}, known)
	require.False(t, p.virgin)
	p.addPeers(c, []peerRow{{Identity: gone, Offset: 2}}, known) // another server says so, too
	require.Equal(t, []string{"offset 2 belongs to server " + gone.String() + ", which is not named here"}, p.unnamed)
	p.template.Increment = 4
	err := p.assign(c, []*member{{}}, []int{1})
	require.ErrorIs(t, err, ErrOffsets)
	require.ErrorContains(t, err, gone.String())
}

func TestAssignSaysWhatToDoWhenNoOffsetIsFree(t *testing.T) {
	t.Parallel()
	p := &past{template: schema.Server{Increment: 1}, claims: []claim{{1, "a"}}}
	c := crewOf(nil)
	err := p.assign(c, c.members, []int{0})
	require.ErrorIs(t, err, ErrOffsets)
	require.ErrorContains(t, err, "--retired OFFSET")
	p.claims = nil
	require.NoError(t, p.assign(c, c.members, []int{0}))
	require.Equal(t, int64(1), p.offsets[c.members[0]])
}

func TestNewFleet(t *testing.T) {
	t.Parallel()
	r, err := Settings{ShardBits: new(2)}.resolve(2, newYear2027)
	require.NoError(t, err)
	a, b := newFleet(r), newFleet(r)
	require.NotEqual(t, a.Fleet, b.Fleet, "random")
	require.Equal(t, schema.CeilingFor(2), a.TicketCeiling)
	require.Equal(t, 4*3600*1000, int(a.LongestLeaseMS))
	require.LessOrEqual(t, a.MinClient, schema.Client, "this build can use what it makes")
	require.Empty(t, differences(a, b))
}
