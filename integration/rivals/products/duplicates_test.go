package products

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// counting makes period different IDs, again and again.
func counting(period int64) Product {
	var n atomic.Int64
	return Product{Name: "counting", Next: func(context.Context) (Key, error) { return Number(n.Add(1) % period), nil }}
}

func TestDuplicatesAreFound(t *testing.T) {
	t.Parallel()
	for period, want := range map[int64]int{1: 999, 2: 998, 500: 500, 999: 1, 1000: 0, 5000: 0} {
		n, err := Duplicates(t.Context(), counting(period), make([]Key, 1000))
		require.NoError(t, err)
		require.Equal(t, want, n, "of %d", period)
	}
}

func TestErrorsOfAProductEndTheRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	p := Product{Name: "broken", Next: func(context.Context) (Key, error) { return Key{}, broken }}
	_, err := Duplicates(t.Context(), p, make([]Key, 10))
	require.ErrorIs(t, err, broken)
}

// Two IDs of a product must be told apart by whatever byte they differ in.
func TestKeysKeepEveryByte(t *testing.T) {
	t.Parallel()
	seen := map[Key]bool{Long([16]byte{}): true}
	for i := range 16 {
		var id [16]byte
		id[i] = 1
		require.False(t, seen[Long(id)], "byte %d", i)
		seen[Long(id)] = true
	}
	seen = map[Key]bool{Short([12]byte{}): true}
	for i := range 12 {
		var id [12]byte
		id[i] = 1
		require.False(t, seen[Short(id)], "byte %d", i)
		seen[Short(id)] = true
	}
}
