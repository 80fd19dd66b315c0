package facade_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/metrics"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// scrape is the page of metrics of a collector, read by Prometheus' own parser.
type scrape map[string]*dto.MetricFamily

// scraper scrapes a collector over HTTP, as often as it is called.
func scraper(t testing.TB, c prometheus.Collector) func() scrape {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	return func() scrape {
		t.Helper()
		request, err := http.NewRequestWithContext(clienttest.Bounded(t), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		page, err := io.ReadAll(answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		require.Equal(t, http.StatusOK, answer.StatusCode, string(page))
		for _, secret := range testfleet.Secrets() {
			require.NotContains(t, string(page), secret)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		found, err := parser.TextToMetricFamilies(bytes.NewReader(page))
		require.NoError(t, err)
		return found
	}
}

// sum adds up gauges or counters, or the durations in histograms, of all series
// that have these labels, name and value in turn; −1 if there are none.
func (s scrape) sum(name string, labels ...string) float64 {
	sum, found := 0.0, false
	for _, m := range s[name].GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		match := true
		for i := 0; i < len(labels); i += 2 {
			match = match && have[labels[i]] == labels[i+1]
		}
		if match {
			found = true
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	if !found {
		return -1
	}
	return sum
}

// One server is killed, then the other one, and that one comes back: the metrics
// tell, while callers draw. A scrape is not taken of all parts at the same instant,
// so what belongs together is waited for together.
func TestMetricsUnderFaults(t *testing.T) {
	var l ledger
	servers := newFleet(t, 2, lastsLong, 0)
	c := openReady(t, config(servers))
	g := generator(t, c, orders)
	get := scraper(t, metrics.New(c))
	one, two := c.Stats().Fleet.Servers[0].Server, c.Stats().Fleet.Servers[1].Server
	until := func(what string, yes func(scrape) bool) scrape {
		t.Helper()
		var s scrape
		clienttest.Until(t, what, func() bool { s = get(); return yes(s) })
		return s
	}

	fleet, err := c.Tickets()
	require.NoError(t, err)
	require.NoError(t, fleet.NextN(clienttest.Bounded(t), make([]int64, 100)))
	ld := l.start(t, g, 1)
	s := until("refills from both servers", func(s scrape) bool {
		return s.sum("oddeven_server_up") == 2 && s.sum("oddeven_segment_refills_total", "cause", "prefetch") > 3 &&
			s.sum("oddeven_sequence_drift_rounds", "server", one) >= 0 && s.sum("oddeven_sequence_drift_rounds", "server", two) >= 0
	})
	require.Zero(t, s.sum("oddeven_server_refused"))
	require.Zero(t, s.sum("oddeven_server_fences_total"))
	require.Equal(t, 3.0, s.sum("oddeven_server_offset"))
	require.Equal(t, 100.0, s.sum("oddeven_tickets_total"))
	require.Positive(t, s.sum("oddeven_ticket_clock_line", "server", one))
	require.Equal(t, s.sum("oddeven_ticket_ceiling", "server", one), s.sum("oddeven_sequence_ceiling"))
	require.Equal(t, 1.0, s.sum("oddeven_sequence_source", "sequence", orders, "source", "segment"))
	require.Positive(t, s.sum("oddeven_sequence_ids_total", "source", "segment"))
	require.Equal(t, 1.0, s.sum("oddeven_segment_refills_total", "cause", "first"))
	require.Equal(t, s.sum("oddeven_segment_refills_total"), s.sum("oddeven_segment_refill_duration_seconds"))
	require.Equal(t, 1.0, s.sum("oddeven_worker_leased"))
	require.InDelta(t, lastsLong.Seconds()/2, s.sum("oddeven_worker_lease_remaining_seconds"), lastsLong.Seconds()/2)
	require.Equal(t, 1.0, s.sum("oddeven_worker_lease_info", "fleet", c.Stats().Fleet.Fleet))

	servers.Servers[0].Kill()
	s = until("server down", func(s scrape) bool { return s.sum("oddeven_server_up", "server", one) == 0 })
	require.Positive(t, s.sum("oddeven_server_errors_total", "server", one))
	servers.Servers[1].Kill()
	s = until("IDs of the worker", func(s scrape) bool {
		return s.sum("oddeven_sequence_source", "source", "snowflake") == 1 && s.sum("oddeven_sequence_ids_total", "source", "snowflake") > 0 &&
			s.sum("oddeven_worker_ids_total") > 0 && s.sum("oddeven_server_up") == 0
	})
	require.Positive(t, s.sum("oddeven_sequence_failovers_total"))

	servers.Servers[1].Start()
	s = until("back on segments", func(s scrape) bool {
		return s.sum("oddeven_sequence_source", "source", "segment") == 1 && s.sum("oddeven_sequence_returns_total") > 0 &&
			s.sum("oddeven_server_up", "server", two) == 1
	})
	require.Positive(t, s.sum("oddeven_server_fences_total", "server", two))
	require.Zero(t, s.sum("oddeven_server_fences_total", "server", two, "reason", "scheme"))
	require.Positive(t, s.sum("oddeven_sequence_drift_rounds", "server", one), "the fence made the other one jump")
	ld.end(t)
	l.requireUnique(t)
}

// The parts without a Client have the same metrics.
func TestMetricsOfParts(t *testing.T) {
	t.Parallel()
	servers := newFleetWithout(t, 0)
	create(t, servers, orders)
	fleet, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
	require.NoError(t, err)
	t.Cleanup(func() { _ = fleet.Close() })
	a, err := segment.Open(clienttest.Bounded(t), fleet, orders, segment.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	w, err := snowflake.Open(clienttest.Bounded(t), fleet, snowflake.Config{Lease: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	_, err = w.Next(clienttest.Bounded(t))
	require.NoError(t, err)
	get := scraper(t, metrics.NewParts(metrics.Parts{
		Fleet: fleet, Sequences: map[string]metrics.Source[segment.Stats]{orders: a}, Worker: w,
	}))
	s := get()
	require.Equal(t, 2.0, s.sum("oddeven_server_up"))
	require.Equal(t, 1.0, s.sum("oddeven_segment_refills_total", "sequence", orders))
	require.Zero(t, s.sum("oddeven_sequence_drift_rounds"))
	require.Equal(t, 1.0, s.sum("oddeven_worker_lease_info", "fleet", fleet.Stats().Fleet))
	require.Equal(t, float64(w.Stats().Number), s.sum("oddeven_worker_number"))
	require.NoError(t, w.Close())
	s = get()
	require.Zero(t, s.sum("oddeven_worker_leased"))
	require.Zero(t, s.sum("oddeven_worker_lease_remaining_seconds"))
}
