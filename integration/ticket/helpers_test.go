package ticket_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/ticket"
)

// ledger keeps every number that anybody was handed.
type ledger struct {
	mu  sync.Mutex
	ids []int64
}

func (l *ledger) add(ids ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, ids...)
}

// requireUnique fails the test if a number was handed out twice.
func (l *ledger) requireUnique(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted := slices.Sorted(slices.Values(l.ids))
	for i := 1; i < len(sorted); i++ {
		require.NotEqual(t, sorted[i-1], sorted[i], "handed out twice")
	}
}

// draw draws n tickets one by one into the ledger and returns them.
func (l *ledger) draw(t testing.TB, fleet *ticket.Fleet, n int) []int64 {
	t.Helper()
	ctx := clienttest.Bounded(t)
	ids := make([]int64, n)
	for i := range ids {
		id, err := fleet.Next(ctx)
		require.NoError(t, err)
		ids[i] = id
		l.add(id)
	}
	return ids
}

// load is callers that draw until they are stopped.
type load struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// start lets callers draw into the ledger; stopping them returns the errors they got.
func (l *ledger) start(t testing.TB, fleet *ticket.Fleet, callers int) *load {
	ctx, stop := context.WithCancel(t.Context())
	ld := &load{stop: stop}
	for range callers {
		ld.wg.Go(func() {
			var own []int64
			defer func() { l.add(own...) }()
			for ctx.Err() == nil {
				id, err := fleet.Next(ctx)
				if err == nil {
					own = append(own, id)
				} else if ctx.Err() == nil {
					ld.mu.Lock()
					ld.errs = append(ld.errs, err)
					ld.mu.Unlock()
				}
			}
		})
	}
	t.Cleanup(func() { stop(); ld.wg.Wait() })
	return ld
}

// end stops the callers and returns the errors they got.
func (ld *load) end() []error {
	ld.stop()
	ld.wg.Wait()
	return ld.errs
}
