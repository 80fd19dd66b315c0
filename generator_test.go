package oddeven

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllEndsWithItsContext(t *testing.T) {
	t.Parallel()
	g := newTestGenerator(t, newTestClient(t, Config{}, 0), &source{}, "orders", 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last ID
	n := 0
	for id, err := range g.All(ctx) {
		if n == 10 {
			require.ErrorIs(t, err, context.Canceled)
			require.Zero(t, id)
			n++
			continue
		}
		require.NoError(t, err)
		require.Greater(t, id, last)
		last = id
		if n++; n == 10 {
			cancel()
		}
	}
	require.Equal(t, 11, n)
	for _, err := range g.All(t.Context()) {
		require.NoError(t, err)
		break
	}
}

func TestSequenceNames(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	g := newTestGenerator(t, c, &source{}, "orders", 10)
	again, err := c.Sequence(t.Context(), "orders")
	require.NoError(t, err)
	require.Same(t, g, again)
	require.Equal(t, "orders", g.Name())
	for _, name := range []string{"", "a\nb"} {
		_, err := c.Sequence(t.Context(), name)
		require.Error(t, err)
	}
	_, err = c.Sequence(t.Context(), "users") // no server, and no worker
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorIs(t, err, errNoLease)
	_, err = c.Tickets()
	require.ErrorIs(t, err, ErrUnavailable)
}

// Two callers that open a sequence at the same time get one Generator.
func TestSequenceIsOpenedOnce(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, Config{}, 0)
	one := newTestGenerator(t, c, &source{}, "orders", 10)
	two := newTestGenerator(t, c, &source{}, "orders", 10)
	require.Same(t, one, two)
	_, err := one.Next(t.Context())
	require.NoError(t, err)
}
