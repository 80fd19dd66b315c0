package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestWorkers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		class schema.Class
		total int64
		want  []int64
	}{
		{"Odd", schema.Class{Offset: 1, Increment: 2}, 8, []int64{1, 3, 5, 7}},
		{"EvenStartsAtZero", schema.Class{Offset: 2, Increment: 2}, 8, []int64{0, 2, 4, 6}},
		{"OneServerHasAll", schema.Class{Offset: 1, Increment: 1}, 3, []int64{0, 1, 2}},
		{"NoneLeft", schema.Class{Offset: 5, Increment: 8}, 5, nil},
		{"JustOne", schema.Class{Offset: 5, Increment: 8}, 6, []int64{5}},
		{"NoWorkers", schema.Class{Offset: 1, Increment: 2}, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.class.Workers(tt.total))
		})
	}
}

func TestWorkersOfAFleetAreAPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		increment := rapid.Int64Range(1, 40).Draw(t, "increment")
		total := rapid.Int64Range(0, 2000).Draw(t, "total")
		owner := make([]int64, total)
		for k := int64(1); k <= increment; k++ {
			class, next := schema.Class{Offset: k, Increment: increment}, schema.Class{Offset: k%increment + 1, Increment: increment}
			for _, n := range class.Workers(total) {
				if owner[n] != 0 {
					t.Fatalf("number %d belongs to %d and %d", n, owner[n], k)
				}
				owner[n] = k
				if !class.OwnsWorker(n) || next.OwnsWorker(n) && increment > 1 {
					t.Fatalf("number %d: OwnsWorker disagrees", n)
				}
			}
		}
		for n, k := range owner {
			if k == 0 {
				t.Fatalf("number %d of %d belongs to no server of %d", n, total, increment)
			}
		}
	})
}
