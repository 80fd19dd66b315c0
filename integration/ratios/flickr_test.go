//go:build ratios

package ratios

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/integration/recipes"
	"github.com/oddeven/oddeven/integration/testfleet"
)

// poolSizes are tried for the recipe: more connections save it round trips and
// commits, and cost it lock waits. (64 of them on InnoDB went from deadlock to
// deadlock for minutes without one ticket.)
var poolSizes = []int{1, 2, 4, 8, 16}

// usualPool is the number of connections that the claims are about: an
// application with 64 callers has a pool of about that size.
const usualPool = 16

// newFlickr makes the recipe's table with an engine, and returns the recipe with
// the usual number of connections and with the one that serves it best.
func newFlickr(t testing.TB, s *testfleet.Server, engine string) (usual, tuned *recipes.Flickr) {
	t.Helper()
	require.NoError(t, recipes.FlickrTable(t.Context(), s.DB(), engine))
	candidates, costs := make([]*recipes.Flickr, len(poolSizes)), make([][]float64, len(poolSizes))
	for range 3 {
		for i, size := range poolSizes {
			if candidates[i] == nil {
				candidates[i] = recipes.NewFlickr(openPool(t, s, size), engine)
			}
			cost, err := measure.PerOperation(t.Context(), callers, 400*time.Millisecond, draws(candidates[i].Next))
			if errors.Is(err, measure.ErrNothing) {
				cost, err = math.Inf(1), nil
			}
			require.NoError(t, err)
			costs[i] = append(costs[i], cost)
		}
	}
	best := 0
	for i := range poolSizes {
		if measure.Median(costs[i]) < measure.Median(costs[best]) {
			best = i
		}
	}
	fmt.Fprintf(os.Stderr, "the recipe on %s is best with %d connections: %s\n", engine, poolSizes[best], describe(measure.Median(costs[best])))
	return candidates[slices.Index(poolSizes, usualPool)], candidates[best]
}

// draws is what a recipe does, without its ID.
func draws(next func(context.Context) (int64, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := next(ctx)
		return err
	}
}
