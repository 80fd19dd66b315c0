package products

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Callers is how many goroutines make the IDs that Duplicates looks at.
const Callers = 2

// Duplicates fills ids and returns how many of them are there already. Each
// caller sorts its own, which are in order with most products.
func Duplicates(ctx context.Context, p Product, ids []Key) (int, error) {
	half := len(ids) / Callers
	parts := [Callers][]Key{ids[:half], ids[half:]}
	var errs [Callers]error
	var made sync.WaitGroup
	for i, part := range parts {
		made.Go(func() { errs[i] = fill(ctx, p.Next, part) })
	}
	made.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return 0, fmt.Errorf("fill with %s: %w", p.Name, err)
	}
	var sorted sync.WaitGroup
	for _, part := range parts {
		sorted.Go(func() { slices.SortFunc(part, compare) })
	}
	sorted.Wait()
	return repeated(parts[0], parts[1]), nil
}

func fill(ctx context.Context, next func(context.Context) (Key, error), ids []Key) (err error) {
	for i := range ids {
		if ids[i], err = next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func compare(a, b Key) int {
	if c := cmp.Compare(a[0], b[0]); c != 0 {
		return c
	}
	return cmp.Compare(a[1], b[1])
}

// repeated merges two sorted slices and returns how many keys equal the one
// before: of k equal ones, k - 1.
func repeated(a, b []Key) (n int) {
	var last Key
	for first := true; len(a)+len(b) > 0; first = false {
		var k Key
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			k, a = a[0], a[1:]
		} else {
			k, b = b[0], b[1:]
		}
		if !first && k == last {
			n++
		}
		last = k
	}
	return n
}
