package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/integration/rivals/products"
)

const (
	window = 300 * time.Millisecond // of a round
	rounds = 7
	// batch and baseBatch are how many IDs a product and its base make before the
	// other has its turn. The base's turn is short: a product that waits for the
	// clock catches up afterwards by as long as that took.
	batch     = 50_000
	baseBatch = 10_000
)

// cost is the median, over several rounds, of what an ID of a product costs one
// caller against one of base.
func cost(ctx context.Context, progress io.Writer, p products.Product, base func(context.Context) (products.Key, error)) (float64, error) {
	fmt.Fprintf(progress, "%s\n", p.Name)
	var ratios []float64
	for i := range rounds + 1 {
		its, ours, err := round(ctx, p.Next, base)
		if err != nil {
			return 0, fmt.Errorf("measure %s: %w", p.Name, err)
		}
		if i == 0 {
			continue // to warm up
		}
		fmt.Fprintf(progress, "  round %d of %d: %.2f ns against %.2f ns\n", i, rounds, its*1e9, ours*1e9)
		ratios = append(ratios, its/ours)
	}
	return measure.Median(ratios), nil
}

// round lets two products take turns for a while and returns the median cost of
// an ID of each, in seconds.
func round(ctx context.Context, a, b func(context.Context) (products.Key, error)) (costA, costB float64, err error) {
	var costs [2][]float64
	for began := time.Now(); time.Since(began) < window; {
		for i, side := range [2]struct {
			next func(context.Context) (products.Key, error)
			n    int
		}{{a, batch}, {b, baseBatch}} {
			start := time.Now()
			if err := draw(ctx, side.next, side.n); err != nil {
				return 0, 0, err
			}
			costs[i] = append(costs[i], time.Since(start).Seconds()/float64(side.n))
		}
	}
	return measure.Median(costs[0]), measure.Median(costs[1]), nil
}

func draw(ctx context.Context, next func(context.Context) (products.Key, error), n int) error {
	for range n {
		if _, err := next(ctx); err != nil {
			return err
		}
	}
	return nil
}
