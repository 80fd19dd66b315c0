//go:build ratios

package ratios

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRatios prints every claim, and fails if one is over its bound or could
// not be measured. Progress goes to stderr.
func TestRatios(t *testing.T) {
	var r report
	t.Run("memory", func(t *testing.T) { r.measure(t, segments(t)) })
	t.Run("workers", func(t *testing.T) { r.measure(t, workers(t)) })
	once := false // on one kind of servers, as they hardly matter
	for _, flavor := range flavors() {
		measured := false
		t.Run(flavor, func(t *testing.T) {
			r.measure(t, tickets(t, flavor))
			r.measure(t, refills(t, flavor))
			if !once {
				r.measure(t, stalls(t, flavor))
				r.measure(t, growth(t, flavor))
				r.measure(t, facade(t, flavor))
			}
			measured, once = true, true
		})
		if !measured {
			r.missing = append(r.missing, flavor+"; "+flavorsEnv+" says what to measure on")
		}
	}
	require.NoError(t, r.print(os.Stdout))
	if !r.ok() {
		t.Fail()
	}
}

// measure measures claims one after the other.
func (r *report) measure(t *testing.T, claims []claim) {
	for _, c := range claims {
		res, err := run(t.Context(), os.Stderr, c)
		require.NoError(t, err)
		r.results = append(r.results, res)
	}
}
