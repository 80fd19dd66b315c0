package ratios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// histogram counts durations by the nanosecond; the last one stands for all
// that are as long or longer. Not safe for concurrent use.
type histogram [200_000]uint32

func (h *histogram) add(d time.Duration) { h[max(0, min(int(d), len(h)-1))]++ }

// quantile is the shortest duration that a share of all durations in several
// histograms do not exceed.
func quantile(share float64, of ...*histogram) time.Duration {
	var total, below float64
	for _, h := range of {
		for _, n := range h {
			total += float64(n)
		}
	}
	for d := range time.Duration(len(histogram{})) {
		for _, h := range of {
			below += float64(h[d])
		}
		if below >= share*total {
			return d
		}
	}
	return time.Duration(len(histogram{}))
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var a, b histogram
	for d := range time.Duration(5000) {
		a.add(2 * d)
		b.add(2*d + 1)
	}
	require.Equal(t, time.Duration(4999), quantile(0.5, &a, &b))
	require.Equal(t, time.Duration(9998), quantile(0.9999, &a, &b))
	a.add(time.Hour)
	a.add(-1)
	require.Equal(t, time.Duration(len(a)-1), quantile(1, &a, &b))
}
