package segment

import (
	"context"
	"time"
)

// Next returns the next ID, greater than every one that this Allocator returned
// before. As long as there are IDs at hand, which is the rule, it neither waits
// nor locks, and does not look at ctx. Else it waits for a refill: as long as
// ctx allows, or as Config says. Errors: ErrClosed, ctx's own, ErrUnavailable;
// and what waiting does not mend, ErrExhausted and an *UnknownSequenceError.
func (a *Allocator) Next(ctx context.Context) (int64, error) {
	return a.takeOr(ctx, a, (*Allocator).next)
}

// TryNext is Next without waiting: it reports false when there is no ID at hand
// or the Allocator is closed. A refill is begun then, so that it makes sense to
// try again.
func (a *Allocator) TryNext() (int64, bool) {
	return a.tryTakeOr(a, (*Allocator).tryNext)
}

// takeOr and tryTakeOr are the fast path. They and their callers, Next and
// TryNext, are small enough to be inlined, down to one atomic addition and two
// loads, as `go build -gcflags=-m` shows. For that the slow path has to be a
// parameter: a call of a parameter counts less than one of a function by name.

// takeOr returns the next number, or what slow returns if that may not be used.
func (b *buffer) takeOr(ctx context.Context, a *Allocator, slow func(*Allocator, context.Context, int64) (int64, error)) (v int64, err error) {
	if v = b.claim(); b.owns(v) {
		return v, nil
	}
	return slow(a, ctx, v)
}

// tryTakeOr is takeOr for TryNext.
func (b *buffer) tryTakeOr(a *Allocator, slow func(*Allocator, int64) (int64, bool)) (v int64, ok bool) {
	if v = b.claim(); b.owns(v) {
		return v, true
	}
	return slow(a, v)
}

// next is Next when the number v that was claimed may not be used, or not yet.
func (a *Allocator) next(ctx context.Context, v int64) (int64, error) {
	w := waiter{wanted: 1}
	defer w.end(a)
	for {
		a.mu.Lock()
		// Settling v once more is harmless: what has been published since is above it.
		got, ok := a.settleLocked(v)
		if ok {
			a.mu.Unlock()
			return got, nil
		}
		if err := w.waitUnlocking(ctx, a, 1); err != nil {
			return 0, err
		}
	}
}

// tryNext is TryNext when the number v that was claimed may not be used, or not yet.
func (a *Allocator) tryNext(v int64) (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.settleLocked(v)
}

// settleLocked returns v if it may be used after all, or else another number,
// if there is one at hand.
func (a *Allocator) settleLocked(v int64) (int64, bool) {
	now := time.Now()
	for {
		if a.owns(v) {
			return v, true
		}
		if !a.closed && v >= a.lo.Load() && v <= a.last {
			a.revealLocked(now)
			return v, true
		}
		if !a.advanceLocked(now, 1) {
			return 0, false
		}
		v = a.claim()
	}
}
