package snowflake

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIdleWorkerHasNoTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := bubbleWorker(t, spec2000, Config{})
		require.True(t, w.idle(), "before use")
		for range 100 {
			_, err := w.Next(t.Context())
			require.NoError(t, err)
			require.False(t, w.idle())
			time.Sleep(2500 * time.Microsecond)
			require.True(t, w.idle(), "two and a half ticks after it")
		}
		time.Sleep(24 * time.Hour)
		id, err := w.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, w.g.layout.TickOf(time.Now()), tickOf(t, w, id))
	})
}

// Not parallel: it measures the process.
func TestIdleWorkersCostNothing(t *testing.T) {
	const n = 10_000
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var st runtime.MemStats
		runtime.ReadMemStats(&st)
		return st.HeapAlloc + st.StackInuse
	}
	goroutines, before := runtime.NumGoroutine(), memory()
	var all []*Worker
	for range n / 100 { // in parts, or it is the timers' goroutines of the test that cost
		part := make([]*Worker, 100)
		for i := range part {
			w, err := New(1, Config{})
			require.NoError(t, err)
			part[i] = w
		}
		for _, w := range part {
			_, err := w.Next(t.Context())
			require.NoError(t, err)
		}
		for _, w := range part {
			require.Eventually(t, w.idle, 10*time.Second, time.Millisecond)
		}
		all = append(all, part...)
	}
	after := memory()
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+2)
	require.LessOrEqual(t, (after-before)/n, uint64(1024))
	t.Logf("%d bytes each", (after-before)/n)
	for _, w := range all {
		require.NoError(t, w.Close())
	}
}
