package measure

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPaceNeverDoesMoreThanIsDue(t *testing.T) {
	t.Parallel()
	var n [2]int
	done, err := Pace(t.Context(), 2, 10_000, 50*time.Millisecond, time.Millisecond, func(_ context.Context, caller int) error {
		n[caller]++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, done, n[0]+n[1])
	for caller := range n {
		require.Positive(t, n[caller])
		require.LessOrEqual(t, n[caller], 500)
	}
	_, err = Pace(t.Context(), 1, 1000, time.Hour, time.Millisecond, func(context.Context, int) error { return ErrNothing })
	require.ErrorIs(t, err, ErrNothing)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Pace(ctx, 1, 1000, time.Hour, time.Millisecond, func(context.Context, int) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
}
