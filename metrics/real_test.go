package metrics

import (
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
)

// Real objects without a server, scraped while they are used.
func TestScrapedWhileInUse(t *testing.T) {
	t.Parallel()
	orders, err := segment.New(t.Context(), &segment.Memory{}, segment.Config{MinStep: 100, MaxStep: 100})
	require.NoError(t, err)
	worker, err := snowflake.New(5, snowflake.Config{})
	require.NoError(t, err)
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(NewParts(Parts{Sequences: map[string]Source[segment.Stats]{"orders": orders}, Worker: worker}))

	const callers, calls = 4, 1000
	errs := make(chan error, callers)
	var work sync.WaitGroup
	for range callers {
		work.Go(func() {
			for range calls {
				if _, err := orders.Next(t.Context()); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var last float64
	for range 20 {
		issued := get(t, r).value(t, "oddeven_sequence_ids_total", "sequence", "orders", "source", "segment")
		require.GreaterOrEqual(t, issued, last)
		last = issued
	}
	work.Wait()
	close(errs)
	require.NoError(t, <-errs)
	ids := make([]int64, 10)
	require.NoError(t, worker.NextN(t.Context(), ids))
	require.NoError(t, orders.Close())
	require.NoError(t, worker.Close())

	f := get(t, r) // works after Close
	require.GreaterOrEqual(t, f.value(t, "oddeven_sequence_ids_total", "sequence", "orders", "source", "segment"), float64(callers*calls))
	require.Equal(t, 1.0, f.value(t, "oddeven_segment_refills_total", "sequence", "orders", "cause", "first"))
	require.GreaterOrEqual(t, f.value(t, "oddeven_worker_ids_total"), 10.0)
	require.Equal(t, 5.0, f.value(t, "oddeven_worker_number"))
}
