// Package measure times what is done again and again: by one caller or many, in
// turns with something else, at a steady rate. The ratios and the benchmarks use it.
package measure

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// grace is how long operations under way at the end of a window may still take.
// The recipe with many connections can go from deadlock to deadlock for ever.
const grace = 2 * time.Second

// ErrNothing is returned when no operation was completed in a window.
var ErrNothing = errors.New("nothing was completed")

// PerOperation lets callers repeat op for a while and returns the time from one
// completion to the next, over all callers, in seconds. The error is that of the
// first op that failed, ErrNothing, or ctx's own.
func PerOperation(ctx context.Context, callers int, window time.Duration, op func(context.Context) error) (float64, error) {
	return PerCaller(ctx, callers, window, func(ctx context.Context, _ int) error { return op(ctx) })
}

// PerCaller is PerOperation for an op that is told which of the callers, counted
// from 0, does it. What a caller completes too late to be counted is done all the
// same.
func PerCaller(ctx context.Context, callers int, window time.Duration, op func(ctx context.Context, caller int) error) (float64, error) {
	var stop atomic.Bool
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	counts, errs := make([]int, callers), make([]error, callers)
	failed := make(chan struct{}, callers)
	timer := time.NewTimer(window)
	defer timer.Stop()
	var wg sync.WaitGroup
	began := time.Now()
	for i := range callers {
		wg.Go(func() {
			n := 0
			for {
				err := op(ctx, i)
				if stop.Load() {
					break // too late to count; an error is of no interest
				}
				if err != nil {
					errs[i] = err
					failed <- struct{}{} // has room for all
					break
				}
				n++
			}
			counts[i] = n
		})
	}
	select {
	case <-timer.C:
	case <-failed:
	case <-ctx.Done():
	}
	elapsed := time.Since(began)
	stop.Store(true)
	late := time.AfterFunc(grace, cancel)
	wg.Wait()
	cut := !late.Stop()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil && !cut {
		return 0, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0, ErrNothing
	}
	return elapsed.Seconds() / float64(total), nil
}

// MedianLatencies lets two operations take turns for a while and returns the
// median of how long each took, in seconds.
func MedianLatencies(ctx context.Context, window time.Duration, a, b func(context.Context) error) (medianA, medianB float64, err error) {
	ops := [2]func(context.Context) error{a, b}
	var took [2][]float64
	for began := time.Now(); time.Since(began) < window; {
		for i, op := range ops {
			start := time.Now()
			if err := op(ctx); err != nil {
				return 0, 0, err
			}
			took[i] = append(took[i], time.Since(start).Seconds())
		}
	}
	return Median(took[0]), Median(took[1]), nil
}

// SharedBatches lets two kinds of callers take turns for a while: all callers
// of a kind, each a function that does something n times, run at the same time.
// It returns the median time from one to the next, over all callers, in seconds.
func SharedBatches(window time.Duration, n int, a, b []func(n int) error) (medianA, medianB float64, err error) {
	sides := [2][]func(int) error{a, b}
	var costs [2][]float64
	for began := time.Now(); time.Since(began) < window; {
		for i, callers := range sides {
			took, err := SharedBatch(n, callers)
			if err != nil {
				return 0, 0, err
			}
			costs[i] = append(costs[i], took.Seconds()/float64(n*len(callers)))
		}
	}
	return Median(costs[0]), Median(costs[1]), nil
}

// SharedBatch returns how long callers took who began together. They wait for
// one another without giving up their processors, or one would be done before
// the next one begins.
func SharedBatch(n int, callers []func(n int) error) (time.Duration, error) {
	var there atomic.Int64
	errs := make([]error, len(callers))
	began, ended := make([]time.Time, len(callers)), make([]time.Time, len(callers))
	var wg sync.WaitGroup
	for i, caller := range callers {
		wg.Go(func() {
			for there.Add(1); there.Load() < int64(len(callers)); {
			}
			began[i] = time.Now()
			errs[i] = caller(n)
			ended[i] = time.Now()
		})
	}
	wg.Wait()
	took := slices.MaxFunc(ended, time.Time.Compare).Sub(slices.MinFunc(began, time.Time.Compare))
	return took, errors.Join(errs...)
}
