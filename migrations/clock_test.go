package migrations

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestClocksAreCarriedOn(t *testing.T) {
	t.Parallel()
	at := time.Now()
	c := crewOf(nil, nil, nil, nil)
	first, last := c.clocks(at)
	require.Zero(t, first)
	require.Zero(t, last, "nobody was met")
	for i, read := range []struct {
		now int64
		ago time.Duration
	}{{someNow, 10 * time.Second}, {someNow - 50, 70*time.Second + time.Millisecond}, {someNow - 5, 0}} {
		c.members[i].inc, c.members[i].met = schema.Incarnation{Now: read.now}, at.Add(-read.ago)
	}
	first, last = c.clocks(at)
	require.Equal(t, someNow-5, first)
	require.Equal(t, someNow+21, last, "rounded up")
}

func TestFarApart(t *testing.T) {
	t.Parallel()
	require.False(t, farApart(1800))
	require.True(t, farApart(1801))
}
