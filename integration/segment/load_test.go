package segment_test

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// Two callers, two servers, one of which is killed half way.
func TestHundredMillionIDsAreUnique(t *testing.T) {
	const total, callers = 100_000_000, 2
	servers := newFleet(t, 2)
	c := open(t, segment.Config{MinStep: 100_000, MaxStep: 1_000_000}, servers.DSNs()...)
	results, errs := make([]spans, callers), make([]error, callers)
	half := make(chan struct{})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			ids := make([]int64, 100_000)
			for done := 0; done < total/callers && errs[i] == nil; done += len(ids) {
				if i == 0 && done == total/callers/2 {
					close(half)
				}
				errs[i] = c.NextN(t.Context(), ids)
				results[i] = results[i].add(ids...)
			}
		})
	}
	<-half
	servers.Servers[0].Restart()
	wg.Wait()
	var all spans
	for i := range callers {
		require.NoError(t, errs[i])
		all = append(all, results[i]...)
	}
	require.Equal(t, int64(total), all.count())
	require.NoError(t, all.duplicate())
	byClass := map[int64]int64{}
	for _, s := range all {
		byClass[s.first%stride] += spans{s}.count()
	}
	require.Len(t, byClass, stride)
}

// An ID that one process hands out is not below what another one has reserved
// from the same server longer than MaxAge ago, but for a segment of each. Of two
// servers one may be behind for a while, when it was slow and calls avoided it.
func TestMaxAgeBoundsDisorderBetweenProcesses(t *testing.T) {
	t.Parallel()
	const step = 100
	servers := newFleet(t, 1)
	cfg := segment.Config{MinStep: step, MaxStep: step, MaxAge: 300 * time.Millisecond}
	slow, busy := open(t, cfg, servers.DSNs()...), open(t, cfg, servers.DSNs()...)
	l := newLedger()
	for range 3 {
		l.draw(t, slow.Allocator, 1)
		ids := l.draw(t, busy.Allocator, 50*step)
		highest := ids[len(ids)-1]
		began := time.Now()
		clienttest.Until(t, "the old segments dropped", func() bool {
			return time.Since(began) > cfg.MaxAge && slow.Stats().Left == 0 // queued ones are looked at when their turn comes
		})
		id := l.draw(t, slow.Allocator, 1)[0]
		require.Greater(t, id, highest-3*step*stride, "reserved after the other process had gone on")
	}
	require.Positive(t, slow.Stats().Dropped)
	l.requireUnique(t)

	keeps := open(t, segment.Config{MinStep: step, MaxStep: step}, servers.DSNs()...)
	l.draw(t, keeps.Allocator, 1)
	ids := l.draw(t, busy.Allocator, 50*step)
	require.Less(t, l.draw(t, keeps.Allocator, 1)[0], ids[len(ids)-1]-40*step*stride, "without it, disorder knows no bound")
}

// A process with very many sequences, most of which are not used: memory, no
// goroutine, no timer, and no statement. Not parallel: it measures the process.
func TestIdleAllocatorsCostNothing(t *testing.T) {
	const n, openers = 10_000, 32
	servers := clienttest.New(t, 2)
	insertIdle(t, servers, n)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 8
	fleet := clienttest.Open(t, cfg)
	all, errs := make([]*segment.Allocator, n), make([]error, openers)
	openAll := func(n int) {
		var wg sync.WaitGroup
		for o := range openers {
			wg.Go(func() {
				for i := o; i < n && errs[o] == nil; i += openers {
					all[i], errs[o] = segment.Open(t.Context(), fleet, "idle-"+strconv.Itoa(i), segment.Config{MaxAge: time.Second})
					if errs[o] == nil {
						_, errs[o] = all[i].Next(t.Context())
					}
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
	}
	openAll(10 * openers) // opens the connections
	for _, a := range all[:10*openers] {
		require.NoError(t, a.Close())
	}
	mark := func() {
		for _, s := range servers.Servers {
			s.Mark()
		}
	}
	mark() // what it has in memory does not count
	goroutines, before := runtime.NumGoroutine(), heap()
	openAll(n)
	mark()
	clienttest.Until(t, "MaxAge", func() bool {
		for _, a := range all {
			if a.Stats().Left > 0 { // what a hedge has brought is queued, and looked at when its turn comes
				return false
			}
		}
		return true
	})
	cost := float64(heap()-before) / n
	t.Logf("%.0f bytes each", cost)
	require.LessOrEqual(t, cost, 1024.0)
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+openers, "a few of connections")
	for i := range servers.Servers {
		require.Equal(t, ticket.StateUp, clienttest.State(fleet, i))
	}
	for _, s := range servers.Servers {
		require.Zero(t, s.Executed(), "idle ones ask nothing")
	}
	for _, a := range all {
		require.NoError(t, a.Close())
	}
	runtime.KeepAlive(all)
}

// insertIdle makes sequences faster than by creating each.
func insertIdle(t testing.TB, servers *testfleet.Fleet, n int) {
	t.Helper()
	values := make([]string, n)
	for i := range values {
		values[i] = "('idle-" + strconv.Itoa(i) + "', 0, 1, 0, UNIX_TIMESTAMP(), 9007199254740991, '', 0, 0, 0, 0, 0, NULL, '', UTC_TIMESTAMP(6), NULL)"
	}
	for _, s := range servers.Servers {
		clienttest.Exec(t, s, "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_at, refilled_by, created_at, deleted_at) VALUES "+
			strings.Join(values, ","))
	}
}

// heap is the memory in use after garbage was collected.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var st runtime.MemStats
	runtime.ReadMemStats(&st)
	return int64(st.HeapAlloc + st.StackInuse)
}
