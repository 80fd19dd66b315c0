package segment

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Ten thousand sequences that were used once cost a kilobyte each, and no
// goroutine. Not parallel: it measures the process.
func TestIdleAllocatorsCostNothing(t *testing.T) {
	const n = 10_000
	m := &Memory{}
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var st runtime.MemStats
		runtime.ReadMemStats(&st)
		return st.HeapAlloc + st.StackInuse
	}
	idle := func() []*Allocator {
		all := make([]*Allocator, n)
		for i := range all {
			a, err := New(t.Context(), m, Config{MaxAge: time.Millisecond})
			require.NoError(t, err)
			_, err = a.Next(t.Context())
			require.NoError(t, err)
			all[i] = a
		}
		for _, a := range all {
			require.Eventually(t, func() bool {
				a.mu.Lock()
				defer a.mu.Unlock()
				n, _, _ := a.underwayLocked()
				return n == 0 && !a.old.isSet() && !a.slow.isSet() && !a.retry.isSet()
			}, 10*time.Second, time.Millisecond)
		}
		return all
	}
	for _, a := range idle() { // what the runtime keeps for itself is there afterwards
		require.NoError(t, a.Close())
	}
	goroutines, before := runtime.NumGoroutine(), memory()
	all := idle()
	after := memory()
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+2)
	each := (int64(after) - int64(before)) / n
	require.LessOrEqual(t, each, int64(1024))
	t.Logf("%d bytes each", each)
	for _, a := range all {
		require.NoError(t, a.Close())
	}
}

func TestIdleAllocatorAsksNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, ms)
		a := open(t, s, Config{})
		(&ledger{t: t}).draw(a, 900)
		time.Sleep(time.Second)
		calls := len(s.asked())
		time.Sleep(24 * time.Hour)
		require.Len(t, s.asked(), calls)
		require.Zero(t, a.Stats().Left, "MaxAge")
	})
}
