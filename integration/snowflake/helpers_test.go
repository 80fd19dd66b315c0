package snowflake_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// few is a layout with 8 worker numbers, 4 on each of two servers.
const few = "time:44,worker:3,sequence:16;unit=1ms;epoch=2020-01-01T00:00:00Z"

// newFleet returns migrated servers whose leases last longest at most.
func newFleet(t testing.TB, n int, layout string, longest time.Duration) *testfleet.Fleet {
	t.Helper()
	fleet := testfleet.New(t, n)
	clienttest.MigrateAs(t, migrations.Settings{Layout: layout, LongestLease: longest}, fleet.Servers...)
	return fleet
}

// newRestartFleet is newFleet for servers that are going to be restarted. A lease
// of two beats outlasts that; leases last longest beats at most.
func newRestartFleet(t testing.TB, n int, layout string, longest time.Duration) (fleet *testfleet.Fleet, beat time.Duration) {
	t.Helper()
	fleet = testfleet.New(t, n)
	beat = 5 * time.Second
	if s := fleet.Servers[0]; s.Flavor() == testfleet.MariaDB && os.Getenv("ODDEVEN_TEST_SOURCE") == "process" {
		beat = 2 * time.Second // restarted in a fraction of it; MySQL and containers are not
	}
	clienttest.MigrateAs(t, migrations.Settings{Layout: layout, LongestLease: longest * beat}, fleet.Servers...)
	return fleet, beat
}

// openTickets opens a client and closes it at the end of the test, after its workers.
func openTickets(t testing.TB, dsns ...string) *ticket.Fleet {
	t.Helper()
	return clienttest.Open(t, clienttest.Config(t, dsns...))
}

// openWorker opens a worker and closes it at the end of the test, whatever
// has become of its servers by then.
func openWorker(t testing.TB, fleet *ticket.Fleet, cfg snowflake.Config) *snowflake.Worker {
	t.Helper()
	w, err := snowflake.Open(clienttest.Bounded(t), fleet, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// ledger keeps every ID that anybody was handed.
type ledger struct {
	mu  sync.Mutex
	ids []int64
}

func (l *ledger) add(ids ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, ids...)
}

// draw draws n IDs into the ledger and returns them.
func (l *ledger) draw(t testing.TB, w *snowflake.Worker, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	require.NoError(t, w.NextN(clienttest.Bounded(t), ids))
	l.add(ids...)
	return ids
}

// attempt draws one ID if the worker still has any.
func (l *ledger) attempt(t testing.TB, w *snowflake.Worker) error {
	t.Helper()
	id, err := w.Next(clienttest.Bounded(t))
	if err == nil {
		l.add(id)
	}
	return err
}

// requireUnique fails the test if an ID was handed out twice.
func (l *ledger) requireUnique(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted := slices.Sorted(slices.Values(l.ids))
	for i := 1; i < len(sorted); i++ {
		require.NotEqual(t, sorted[i-1], sorted[i], "handed out twice")
	}
}

// load is callers that draw, slowly, until they are stopped or their worker fails.
type load struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// start lets a caller draw from each worker into the ledger.
func (l *ledger) start(t testing.TB, workers ...*snowflake.Worker) *load {
	ctx, stop := context.WithCancel(t.Context())
	ld := &load{stop: stop}
	for _, w := range workers {
		ld.wg.Go(func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				id, err := w.Next(ctx)
				switch {
				case err == nil:
					l.add(id)
				case ctx.Err() == nil:
					ld.mu.Lock()
					ld.errs = append(ld.errs, err)
					ld.mu.Unlock()
					return
				}
				<-tick.C
			}
		})
	}
	t.Cleanup(func() { stop(); ld.wg.Wait() })
	return ld
}

// end stops the callers and returns the errors they got.
func (ld *load) end() error {
	ld.stop()
	ld.wg.Wait()
	return errors.Join(ld.errs...)
}
