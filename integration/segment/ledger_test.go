package segment_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/segment"
)

// stride is the increment of all fleets of these tests.
const stride = 2

// span is IDs that follow one another by stride.
type span struct{ first, last int64 }

// spans are IDs in the order in which they were handed out.
type spans []span

// add adds IDs.
func (s spans) add(ids ...int64) spans {
	for _, id := range ids {
		if n := len(s); n > 0 && id == s[n-1].last+stride {
			s[n-1].last = id
			continue
		}
		s = append(s, span{id, id})
	}
	return s
}

// count is how many IDs they are.
func (s spans) count() int64 {
	var n int64
	for _, r := range s {
		n += (r.last-r.first)/stride + 1
	}
	return n
}

// duplicate finds an ID that is there twice.
func (s spans) duplicate() error {
	sorted := slices.Clone(s)
	slices.SortFunc(sorted, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.first%stride, b.first%stride), cmp.Compare(a.first, b.first))
	})
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		if a.first%stride == b.first%stride && b.first <= a.last {
			return fmt.Errorf("%d was handed out twice: %+v and %+v", b.first, a, b)
		}
	}
	return nil
}

// ledger keeps every ID that anybody was handed, and how far each Allocator was.
type ledger struct {
	mu   sync.Mutex
	all  spans
	last map[*segment.Allocator]int64
}

func newLedger() *ledger { return &ledger{last: map[*segment.Allocator]int64{}} }

// note adds IDs, or spans of them, of whoever.
func (l *ledger) note(more ...span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, more...)
}

// requireUnique fails the test if an ID was handed out twice.
func (l *ledger) requireUnique(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.NotEmpty(t, l.all)
	require.NoError(t, l.all.duplicate())
}

// draw draws n IDs one by one, which must rise, and returns them.
func (l *ledger) draw(t testing.TB, a *segment.Allocator, n int) []int64 {
	t.Helper()
	ctx := clienttest.Bounded(t)
	ids := make([]int64, n)
	for i := range ids {
		id, err := a.Next(ctx)
		require.NoError(t, err)
		ids[i] = id
	}
	l.rising(t, a, ids)
	return ids
}

// rising adds IDs that an Allocator has returned one after the other.
func (l *ledger) rising(t testing.TB, a *segment.Allocator, ids []int64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		require.Greater(t, id, l.last[a], "IDs of one Allocator rise")
		l.last[a] = id
	}
	l.all = append(l.all, spans{}.add(ids...)...)
}

// load is callers that draw until they are stopped.
type load struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// start lets callers draw from an Allocator, by Next and by NextN.
func (l *ledger) start(t testing.TB, a *segment.Allocator, callers int) *load {
	ctx, stop := context.WithCancel(t.Context())
	ld := &load{stop: stop}
	for c := range callers {
		ld.wg.Go(func() {
			own, err := drawWhile(ctx, a, 1+c%2*6)
			l.note(own...)
			if err != nil {
				ld.mu.Lock()
				defer ld.mu.Unlock()
				ld.errs = append(ld.errs, err)
			}
		})
	}
	t.Cleanup(func() { stop(); ld.wg.Wait() })
	return ld
}

// drawWhile draws batch by batch until ctx ends, and returns what came. Anything
// but the end of ctx is an error.
func drawWhile(ctx context.Context, a *segment.Allocator, batch int) (own spans, err error) {
	ids, last := make([]int64, batch), int64(0)
	for ctx.Err() == nil {
		if batch == 1 {
			ids[0], err = a.Next(ctx)
		} else {
			err = a.NextN(ctx, ids)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return own, nil
		case err != nil:
			return own, err
		case ids[0] <= last || !slices.IsSorted(ids):
			return own, fmt.Errorf("%d after %d from one Allocator", ids[0], last)
		}
		last = ids[batch-1]
		own = own.add(ids...)
	}
	return own, nil
}

// end stops the callers and returns the errors they got.
func (ld *load) end() []error {
	ld.stop()
	ld.wg.Wait()
	return ld.errs
}

func TestLedgerFindsDuplicates(t *testing.T) {
	t.Parallel()
	require.NoError(t, spans{}.add(3, 5, 7, 2, 4, 11).duplicate())
	require.Equal(t, int64(6), spans{}.add(3, 5, 7, 2, 4, 11).count())
	require.Len(t, spans{}.add(3, 5, 7, 2, 4, 11), 3)
	require.Error(t, spans{}.add(3, 5, 7, 2, 4, 5).duplicate())
	require.Error(t, spans{}.add(9, 1, 3, 5, 7, 9).duplicate())
}
