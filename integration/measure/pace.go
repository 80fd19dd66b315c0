package measure

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Pace lets callers repeat op, each so many times a second, in portions of a
// tick. Who falls behind makes up for it at twice the rate at most, but not for
// more than maxBehind. It returns how often op was done, by all.
func Pace(ctx context.Context, callers, rate int, window, tick time.Duration, op func(ctx context.Context, caller int) error) (int, error) {
	done, errs := make([]int, callers), make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { done[i], errs[i] = paceOne(ctx, rate, window, tick, func() error { return op(ctx, i) }) })
	}
	wg.Wait()
	total := 0
	for _, n := range done {
		total += n
	}
	return total, errors.Join(errs...)
}

const maxBehind = 100 * time.Millisecond

func paceOne(ctx context.Context, rate int, window, tick time.Duration, op func() error) (done int, err error) {
	count := func(d time.Duration) int { return int(d.Seconds() * float64(rate)) }
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	skipped := 0
	for began := time.Now(); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return done, ctx.Err()
		}
		elapsed := min(time.Since(began), window)
		due := count(elapsed) - done - skipped
		if late := due - count(maxBehind); late > 0 {
			skipped, due = skipped+late, due-late
		}
		for range min(due, max(1, count(2*tick))) {
			if err := op(); err != nil {
				return done, err
			}
			done++
		}
		if elapsed == window {
			return done, nil
		}
	}
}
