package measure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	values := []float64{9, 1, 5}
	require.Equal(t, 5.0, Median(values))
	require.Equal(t, []float64{9, 1, 5}, values, "the order of the rounds stays")
	require.Equal(t, 3.0, Median([]float64{1, 5}))
	require.Equal(t, 2.0, Median([]float64{2}))
	require.Zero(t, Median(nil))
}
