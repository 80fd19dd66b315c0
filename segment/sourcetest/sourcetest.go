// Package sourcetest checks implementations of segment.Source: what every
// source has to do, whatever it takes its numbers from.
//
//	func TestSource(t *testing.T) {
//		sourcetest.Run(t, func() segment.Source { return newSource(t) })
//	}
package sourcetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/oddeven/oddeven/segment"
)

// T is what Run needs of a *testing.T.
type T interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// Run checks a source. open is called several times, and returns another user
// of the same sequence each time, with room for some millions of rounds.
func Run(t T, open func() segment.Source) {
	t.Helper()
	for _, check := range []struct {
		name string
		run  func(context.Context, func() segment.Source) error
	}{
		{"ranges are above floor and each other", rising},
		{"the floor that is asked for counts", floors},
		{"counts of many sizes", sizes},
		{"concurrent users get disjoint ranges", disjoint},
		{"an ended context is an error", ended},
		{"an allocator on it", allocator},
	} {
		if err := check.run(t.Context(), open); err != nil {
			t.Fatalf("%s: %v", check.name, err)
		}
	}
}

func last(r segment.Range) int64   { return r.First + (r.Count-1)*r.Stride }
func round(id, stride int64) int64 { return (id - 1) / stride }

// reserve reserves and checks what came back.
func reserve(ctx context.Context, s segment.Source, floor, count int64) (segment.Range, error) {
	r, err := s.Reserve(ctx, floor, count)
	switch {
	case err != nil:
		return r, fmt.Errorf("reserve %d above %d: %w", count, floor, err)
	case r.Count != count:
		return r, fmt.Errorf("reserved %d of %d", r.Count, count)
	case r.Stride < 1 || r.First < 1:
		return r, fmt.Errorf("range %+v", r)
	case round(r.First, r.Stride) <= floor:
		return r, fmt.Errorf("round %d of %+v is not above the floor %d", round(r.First, r.Stride), r, floor)
	case r.Ceiling != 0 && last(r) > r.Ceiling:
		return r, fmt.Errorf("%+v is above its ceiling", r)
	}
	return r, nil
}

func rising(ctx context.Context, open func() segment.Source) error {
	s := open()
	floor, err := s.Floor(ctx)
	if err != nil {
		return err
	}
	for range 20 {
		r, err := reserve(ctx, s, floor, 10)
		if err != nil {
			return err
		}
		floor = round(last(r), r.Stride)
		known, err := open().Floor(ctx)
		if err != nil {
			return err
		}
		if known < floor {
			return fmt.Errorf("another user's floor is %d after round %d was reserved", known, floor)
		}
	}
	return nil
}

func floors(ctx context.Context, open func() segment.Source) error {
	s := open()
	floor, err := s.Floor(ctx)
	if err != nil {
		return err
	}
	// As text, 9 is above 10 and 100,000 below both.
	for _, more := range []int64{9, 10, 100, 99_999, 100_000} {
		if _, err := reserve(ctx, s, floor+more, 1); err != nil {
			return err
		}
		if _, err := reserve(ctx, s, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

func sizes(ctx context.Context, open func() segment.Source) error {
	s := open()
	for _, count := range []int64{1, 2, 1000, 65_537} {
		if _, err := reserve(ctx, s, 0, count); err != nil {
			return err
		}
	}
	return nil
}

func disjoint(ctx context.Context, open func() segment.Source) error {
	const users, each = 8, 25
	var mu sync.Mutex
	var all []segment.Range
	var errs []error
	var wg sync.WaitGroup
	for u := range users {
		s := open()
		wg.Go(func() {
			for i := range each {
				r, err := reserve(ctx, s, 0, int64(1+(u+i)%50))
				mu.Lock()
				all, errs = append(all, r), append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	// By class, because ranges of different classes lie between one another.
	slices.SortFunc(all, func(a, b segment.Range) int {
		return cmp.Or(cmp.Compare(a.First%a.Stride, b.First%b.Stride), cmp.Compare(a.First, b.First))
	})
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.Stride != b.Stride {
			return fmt.Errorf("strides %d and %d", a.Stride, b.Stride)
		}
		if a.First%a.Stride == b.First%b.Stride && b.First <= last(a) {
			return fmt.Errorf("%+v and %+v overlap", a, b)
		}
	}
	return nil
}

func ended(ctx context.Context, open func() segment.Source) error {
	s := open()
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if r, err := s.Reserve(ctx, 0, 1); err == nil {
		return fmt.Errorf("reserved %+v", r)
	}
	return nil
}

func allocator(ctx context.Context, open func() segment.Source) error {
	a, err := segment.New(ctx, open(), segment.Config{MinStep: 50, MaxStep: 50})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }() // always nil
	var last int64
	for range 1000 {
		id, err := a.Next(ctx)
		if err != nil {
			return err
		}
		if id <= last {
			return fmt.Errorf("%d after %d", id, last)
		}
		last = id
	}
	return nil
}
