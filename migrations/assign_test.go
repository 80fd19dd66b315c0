package migrations

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAssignOffsets(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		positions []int
		increment int64
		claims    []claim
		want      []int64
	}{
		{"NewFleetInTheOrderGiven", []int{0, 1, 2}, 3, nil, []int64{1, 2, 3}},
		{"NoServers", nil, 2, nil, []int64{}},
		{"RoomToSpare", []int{0, 1}, 8, nil, []int64{1, 2}},
		{"ThirdServerJoins", []int{2}, 4, []claim{{1, "a"}, {2, "b"}}, []int64{3}},
		{"NamedFirstButOthersAreTaken", []int{0}, 4, []claim{{1, "a"}, {2, "b"}}, []int64{3}},
		{"GapIsFilled", []int{0}, 3, []claim{{1, "a"}, {3, "c"}}, []int64{2}},
		{"PositionBeyondTheIncrement", []int{5}, 2, []claim{{2, "b"}}, []int64{1}},
		{"PositionsComeBeforeLowestFree", []int{0, 2}, 4, []claim{{1, "a"}}, []int64{2, 3}},
		{"LowestFreeIsNotAPositionOfALaterOne", []int{5, 0}, 2, nil, []int64{2, 1}},
		{"ClaimOutsideTheFleetTakesNothing", []int{0}, 1, []claim{{7, "stray"}}, []int64{1}},
		{"OneServer", []int{0}, 1, nil, []int64{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := assignOffsets(tt.positions, tt.increment, tt.claims)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestAssignOffsetsSaysWhoHasThem(t *testing.T) {
	t.Parallel()
	_, err := assignOffsets([]int{0}, 2, []claim{{2, "db2:3306/oddeven"}, {1, "db1:3306/oddeven"}})
	require.EqualError(t, err, "2 offsets, 1 new servers, too few free: 1 is taken by db1:3306/oddeven, 2 is taken by db2:3306/oddeven")
}

func TestAssignedOffsetsAreFreeAndDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		increment := rapid.Int64Range(1, 20).Draw(t, "increment")
		taken := rapid.SliceOfDistinct(rapid.Int64Range(1, increment), rapid.ID[int64]).Draw(t, "taken")
		positions := rapid.SliceOfDistinct(rapid.IntRange(0, 24), rapid.ID[int]).Draw(t, "positions")
		claims := make([]claim, len(taken))
		for i, k := range taken {
			claims[i] = claim{k, fmt.Sprintf("server %d", i)}
		}
		offsets, err := assignOffsets(positions, increment, claims)
		if room := int(increment) - len(taken); len(positions) > room {
			if err == nil {
				t.Fatalf("%d servers got offsets where %d are free: %v", len(positions), room, offsets)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		seen := slices.Clone(taken)
		for i, k := range offsets {
			if k < 1 || k > increment || slices.Contains(seen, k) {
				t.Fatalf("offset %d of %v is not free: taken %v of %d", k, offsets, taken, increment)
			}
			if own := int64(positions[i]) + 1; own <= increment && !slices.Contains(taken, own) && k != own {
				t.Fatalf("server at position %d got %d although %d was free", positions[i], k, own)
			}
			seen = append(seen, k)
		}
	})
}
