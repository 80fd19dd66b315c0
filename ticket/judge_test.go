package ticket

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

// The server of these tests is "u", started at 100, in generation 5.
func TestJudge(t *testing.T) {
	t.Parallel()
	type peer = record
	tests := []struct {
		name   string
		now    schema.Incarnation
		single bool
		newest *peer
		forced string
		fence  string
		out    string // why it stays out
	}{
		{"AsItWas", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, nil, "", "", ""},
		{"AsThePeersKnowIt", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 5, UUID: "u", StartedAt: 100}, "", "", ""},
		{"PeersAreBehind", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 4, UUID: "other", StartedAt: 900}, "", "", ""},
		{"PeersAreBehindAndKnowALaterStart", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 4, UUID: "u", StartedAt: 900}, "", "", "a later start"},
		{"PeersAreBehindAndKnowALaterStartOfASingleWriter", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, true, &peer{Gen: 4, UUID: "u", StartedAt: 900}, "", "a peer remembers generation 4", ""},
		{"Restarted", schema.Incarnation{ServerUUID: "u", StartedAt: 101}, false, nil, "", "restarted", ""},
		{"RestartedAndPeersAgree", schema.Incarnation{ServerUUID: "u", StartedAt: 101}, false, &peer{Gen: 5, UUID: "u", StartedAt: 100}, "", "restarted", ""},
		{"ForcedByUs", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, nil, "went back", "went back", ""},
		{"OwnReasonComesFirst", schema.Incarnation{ServerUUID: "u", StartedAt: 101}, false, nil, "went back", "restarted", ""},

		{"EarlierStart", schema.Incarnation{ServerUUID: "u", StartedAt: 99}, false, nil, "", "", "started at 1970-01-01T00:01:39Z, but a later start, at 1970-01-01T00:01:40Z, is known"},
		{"EarlierStartOfASingleWriter", schema.Incarnation{ServerUUID: "u", StartedAt: 99}, true, nil, "", "started earlier than its row says", ""},
		{"AnotherServer", schema.Incarnation{ServerUUID: "v", StartedAt: 100}, false, nil, "", "", "is another server (v) in the place of the one known (u)"},
		{"AnotherServerOfASingleWriter", schema.Incarnation{ServerUUID: "v", StartedAt: 1}, true, nil, "", "another server in its place", ""},
		{"ForcedDoesNotAcceptAStranger", schema.Incarnation{ServerUUID: "v", StartedAt: 100}, false, nil, "went back", "", "is another server (v)"},

		{"PeerKnowsANewerGeneration", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 6, UUID: "u", StartedAt: 100}, "", "a peer remembers generation 6", ""},
		{"PeerKnowsALaterStart", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 5, UUID: "u", StartedAt: 101}, "", "", "a later start, at 1970-01-01T00:01:41Z, is known"},
		{"PeerKnowsALaterStartOfASingleWriter", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, true, &peer{Gen: 5, UUID: "u", StartedAt: 101}, "", "a peer remembers generation 5", ""},
		{"PeerKnowsAnotherServer", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 6, UUID: "w", StartedAt: 1}, "", "", "is another server (u) in the place of the one known (w)"},
		{"RestoredAndStartedLater", schema.Incarnation{ServerUUID: "u", StartedAt: 200}, false, &peer{Gen: 9, UUID: "u", StartedAt: 150}, "", "restarted", ""},
		{"RestoredBesideALiveCopy", schema.Incarnation{ServerUUID: "u", StartedAt: 120}, false, &peer{Gen: 9, UUID: "u", StartedAt: 150}, "", "", "a later start"},
		{"Retired", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, false, &peer{Gen: 1, UUID: "u", StartedAt: 100, Retired: true}, "", "", "was declared dead for good"},
		{"RetiredSingleWriter", schema.Incarnation{ServerUUID: "u", StartedAt: 100}, true, &peer{Gen: 1, UUID: "u", StartedAt: 100, Retired: true}, "", "", "was declared dead for good"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			row := rowOf(1, 1, 1)
			row.Gen, row.ServerUUID, row.StartedAt = 5, "u", 100
			var newest record
			if tt.newest != nil {
				newest = *tt.newest
			}
			asked := func(single, trusted bool) {
				row.SingleWriter = single
				fence, err := judge(&survey{row: row, incarnation: tt.now}, newest, tt.newest != nil, tt.forced, trusted)
				require.Equal(t, tt.fence, fence)
				if tt.out == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, ErrNotAccepted)
				require.ErrorContains(t, err, tt.out)
			}
			asked(tt.single, false)
			if tt.single { // an operator's word counts as much
				asked(false, true)
			}
		})
	}
}

func TestAboutFindsTheNewestRecord(t *testing.T) {
	t.Parallel()
	id, other := schema.Identity{1}, schema.Identity{2}
	_, found := about(id, []*survey{{}, {records: []record{{Identity: other, Gen: 9}}}})
	require.False(t, found)
	newest, found := about(id, []*survey{
		{records: []record{{Identity: id, Gen: 3, StartedAt: 9}, {Identity: other, Gen: 9}}},
		{records: []record{{Identity: id, Gen: 4, StartedAt: 5}}},
		{records: []record{{Identity: id, Gen: 4, StartedAt: 7}}},
		{records: []record{{Identity: id, Gen: 4, StartedAt: 6}}},
	})
	require.True(t, found)
	require.Equal(t, record{Identity: id, Gen: 4, StartedAt: 7}, newest)
}

func TestNewestKeepsThatAServerIsDeadForGood(t *testing.T) {
	t.Parallel()
	id := schema.Identity{1}
	dead, alive := record{Identity: id, Gen: 3, Retired: true}, record{Identity: id, Gen: 4}
	for _, records := range [][]record{{dead, alive}, {alive, dead}} {
		require.Equal(t, record{Identity: id, Gen: 4, Retired: true}, newest([]*survey{{records: records}})[id])
	}
	require.False(t, newest([]*survey{{records: []record{alive}}})[id].Retired)
}
