// Package ratios measures every claim that the project makes about speed, as
// what something costs against a baseline in the same run. `make ratios` prints
// them; `go test -bench .` here has absolute figures, for benchstat.
//
// A claim belongs to a list like [tickets], which the test TestRatios (build tag
// ratios) runs for each flavour of server or once. To add one, write what costs
// and what it is compared with; rounds, median, verdict and output are here.
package ratios

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/oddeven/oddeven/integration/measure"
)

// defaultRounds is how often measure and baseline take turns: an odd number,
// so that the median is one of the rounds. Many short rounds are better than few
// long ones: what else the machine does lasts longer than one of them.
const defaultRounds = 15

// A claim is one line of the output.
type claim struct {
	name  string
	bound float64 // the largest ratio that is ok; 0 means printed without bound
	// measure and baseline return what one operation costs, in seconds. They
	// are called in turn, and once before the first round that counts.
	measure, baseline func(context.Context) (float64, error)
	// both, in place of these, measures the two sides of a round at once, for
	// what can take turns operation by operation.
	both   func(context.Context) (cost, base float64, err error)
	rounds int // 0 means defaultRounds
	// once, in place of all these, finds the ratio itself, in one go: for what
	// takes long, or is no ratio of costs.
	once func(context.Context) (float64, error)
}

// A result is a claim with the ratio that was found.
type result struct {
	name  string
	ratio float64
	bound float64
}

// verdict is "ok" or "over".
func (r result) verdict() string {
	if r.bound != 0 && !(r.ratio <= r.bound) { // so that NaN is over
		return "over"
	}
	return "ok"
}

// limit is the bound as it is printed.
func (r result) limit() string {
	if r.bound == 0 {
		return "-"
	}
	return strconv.FormatFloat(r.bound, 'f', -1, 64)
}

// run measures a claim: rounds of measure and baseline, whose order changes
// from round to round, so that neither gains from what the other leaves behind.
// The ratio is the median of the rounds' ratios.
func run(ctx context.Context, progress io.Writer, c claim) (result, error) {
	fmt.Fprintf(progress, "%s\n", c.name)
	if c.once != nil {
		ratio, err := c.once(ctx)
		if err != nil {
			return result{}, fmt.Errorf("measure %q: %w", c.name, err)
		}
		fmt.Fprintf(progress, "  %.4f\n", ratio)
		return result{name: c.name, ratio: ratio, bound: c.bound}, nil
	}
	rounds := c.rounds
	if rounds == 0 {
		rounds = defaultRounds
	}
	ratios := make([]float64, 0, rounds)
	for i := range rounds + 1 {
		cost, base, err := c.round(ctx, i%2 == 1)
		if err != nil {
			return result{}, fmt.Errorf("measure %q: %w", c.name, err)
		}
		if i == 0 {
			continue // to warm up
		}
		ratios = append(ratios, cost/base)
		fmt.Fprintf(progress, "  round %d of %d: %s against %s: %.4f\n", i, rounds, describe(cost), describe(base), cost/base)
	}
	return result{name: c.name, ratio: measure.Median(ratios), bound: c.bound}, nil
}

// round measures both sides once.
func (c claim) round(ctx context.Context, baselineFirst bool) (cost, base float64, err error) {
	if c.both != nil {
		return c.both(ctx)
	}
	if baselineFirst {
		if base, err = c.baseline(ctx); err != nil {
			return 0, 0, fmt.Errorf("baseline: %w", err)
		}
	}
	if cost, err = c.measure(ctx); err != nil {
		return 0, 0, err
	}
	if !baselineFirst {
		if base, err = c.baseline(ctx); err != nil {
			return 0, 0, fmt.Errorf("baseline: %w", err)
		}
	}
	return cost, base, nil
}

// describe shows a cost for people: as a time, and how many there are in a second.
func describe(cost float64) string {
	if cost < float64(time.Microsecond)/float64(time.Second) {
		return fmt.Sprintf("%.2f ns (%.0f/s)", cost*1e9, 1/cost)
	}
	return fmt.Sprintf("%.1f µs (%.0f/s)", cost*1e6, 1/cost)
}

// A report is what was found. Its methods are not safe for concurrent use.
type report struct {
	results []result
	missing []string // what could not be measured
}

// ok reports whether everything was measured and nothing is over its bound.
func (r *report) ok() bool {
	return len(r.missing) == 0 && !slices.ContainsFunc(r.results, func(res result) bool { return res.verdict() != "ok" })
}

// print writes a line for each claim: name, ratio, bound ("-" for none) and
// verdict, in columns; then a line for each thing that was not measured. The
// name may hold blanks, the last three fields do not.
func (r *report) print(w io.Writer) error {
	width := 0
	for _, res := range r.results {
		width = max(width, len(res.name))
	}
	for _, res := range r.results {
		if _, err := fmt.Fprintf(w, "%-*s  %8.4f  %5s  %s\n", width, res.name, res.ratio, res.limit(), res.verdict()); err != nil {
			return err
		}
	}
	for _, what := range r.missing {
		if _, err := fmt.Fprintf(w, "not measured: %s\n", what); err != nil {
			return err
		}
	}
	return nil
}
