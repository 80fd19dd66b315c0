package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/pause"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		require.True(t, pause.For(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(begun))
		require.True(t, pause.For(t.Context(), -time.Minute), "what is over is not waited for")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.False(t, pause.For(ctx, time.Minute))
		require.Equal(t, time.Minute+time.Second, time.Since(begun))
		require.False(t, pause.For(ctx, 0), "it has ended")
	})
}
