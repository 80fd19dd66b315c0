package migrations

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestCounterOf(t *testing.T) {
	t.Parallel()
	const columns = "CREATE TABLE `t` (\n  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,\n  `stub` char(1) NOT NULL,\n  PRIMARY KEY (`id`)\n"
	tests := []struct {
		name, definition string
		want             int64
	}{
		{"NeverUsed", columns + ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", 0},
		{"MySQL", columns + ") ENGINE=InnoDB AUTO_INCREMENT=72157623227190424 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin", 72157623227190424},
		{"MyISAM", columns + ") ENGINE=MyISAM AUTO_INCREMENT=3 DEFAULT CHARSET=latin1", 3},
		{"Last", columns + ") ENGINE=InnoDB AUTO_INCREMENT=9223372036854775807", 1<<63 - 1},
		{"Nothing", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := counterOf(tt.definition)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestCounterBeyondInt64IsAnError(t *testing.T) {
	t.Parallel()
	_, err := counterOf(") ENGINE=InnoDB AUTO_INCREMENT=18446744073709551615")
	require.ErrorContains(t, err, "AUTO_INCREMENT=18446744073709551615")
}

func TestWorkerNumbers(t *testing.T) {
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
			require.Equal(t, tt.want, workerNumbers(tt.class, tt.total))
		})
	}
}

func TestWorkerNumbersOfAFleetAreAPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		increment := rapid.Int64Range(1, 40).Draw(t, "increment")
		total := rapid.Int64Range(0, 2000).Draw(t, "total")
		owner := make([]int64, total)
		for k := int64(1); k <= increment; k++ {
			for _, n := range workerNumbers(schema.Class{Offset: k, Increment: increment}, total) {
				if owner[n] != 0 {
					t.Fatalf("number %d belongs to %d and %d", n, owner[n], k)
				}
				owner[n] = k
			}
		}
		for n, k := range owner {
			if k == 0 {
				t.Fatalf("number %d of %d belongs to no server of %d", n, total, increment)
			}
		}
	})
}
