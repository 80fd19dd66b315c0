package metrics

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

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// fixed is a Source that returns what the test says.
type fixed[S any] struct{ stats S }

func (f *fixed[S]) Stats() S { return f.stats }

// families are what a scrape returned, by name.
type families map[string]*dto.MetricFamily

// get scrapes over HTTP and reads the answer with Prometheus' own parser.
func get(t testing.TB, gatherer prometheus.Gatherer) families {
	t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, errors.Join(err, answer.Body.Close()))
	require.Equal(t, http.StatusOK, answer.StatusCode, string(text))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err)
	return found
}

// scrapeOf scrapes one collector.
func scrapeOf(t testing.TB, c prometheus.Collector) families {
	t.Helper()
	r := prometheus.NewPedanticRegistry() // compares Collect with Describe
	require.NoError(t, r.Register(c))
	return get(t, r)
}

// find returns the one metric with these labels, name and value in turn, or nil.
func (f families) find(t testing.TB, name string, labels ...string) *dto.Metric {
	t.Helper()
	for _, m := range f[name].GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		match := len(have) == len(labels)/2
		for i := 0; i < len(labels); i += 2 {
			match = match && have[labels[i]] == labels[i+1]
		}
		if match {
			return m
		}
	}
	return nil
}

// value is the value of a gauge or counter, which must be there.
func (f families) value(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	m := f.find(t, name, labels...)
	require.NotNil(t, m, "%s%v", name, labels)
	if m.Counter != nil {
		return m.GetCounter().GetValue()
	}
	require.NotNil(t, m.Gauge, name)
	return m.GetGauge().GetValue()
}

const (
	one = "db1:3306/oddeven"
	two = "db2:3306/oddeven"
)

var later = time.Date(2090, time.March, 1, 12, 0, 0, 500e6, time.UTC)

func times(ds ...time.Duration) (h ticket.Histogram, sum time.Duration) {
	for _, d := range ds {
		h.Add(d)
		sum += d
	}
	return h, sum
}

func fleetStats() ticket.Stats {
	h, sum := times(3*time.Millisecond, 5*time.Millisecond, time.Hour)
	return ticket.Stats{Fleet: "c0ffee", Increment: 2, Servers: []ticket.ServerStats{
		{
			Server: one, Offset: 1, Gen: 7, State: ticket.StateUp, Issued: 1000, Statements: 3, Highest: 20_001, Gaps: 4, Retries: 5,
			Line: 50_001, Ceiling: 1<<53 - 1, Fences: 10, FencesBy: ticket.FenceCounts{Restarted: 1, Replaced: 2, Peer: 3, Scheme: 4}, Connections: 9,
			Errors: ticket.ErrorCounts{Unreachable: 1, Timeout: 2, Denied: 3, ReadOnly: 4, Changed: 5, Scheme: 6, Other: 7}, Latency: h, LatencySum: sum,
		},
		{
			Server: two, Offset: 2, State: ticket.StateDown, Highest: 18_002,
			Err: &ticket.ServerError{Server: two, Kind: ticket.ErrNotAccepted},
		},
	}}
}

func segmentStats() segment.Stats {
	h, sum := times(time.Millisecond, 2*time.Millisecond)
	return segment.Stats{
		Used: 700, Reserved: 1000, Dropped: 50, Left: 150, Queued: 100, Refills: 21,
		RefillsBy: segment.RefillCounts{First: 1, Prefetch: 2, Demand: 3, Retry: 4, Hedge: 5, Enlargement: 6},
		Failed:    8, Abandoned: 9, Waits: 10, Waited: 11500 * time.Millisecond, Waiting: 12, Step: 1000, Rate: 50,
		Stride: 2, Floor: 2500, Ceiling: 20_000, Exhausted: later, Err: errors.New("no"), RefillTimes: h, RefillTimesSum: sum,
		Servers: []segment.ServerStats{{Server: one, Offset: 1, Round: 2500}, {Server: two, Offset: 2, Round: 2400}},
	}
}

func workerStats() snowflake.Stats {
	return snowflake.Stats{
		Number: 17, Layout: snowflake.Default(), Used: 300, Waits: 3, Waited: 250 * time.Millisecond, Exhausted: later,
		Fleet: "c0ffee", Server: two, Until: later, Left: 40 * time.Minute, Renewals: 6, Failed: 2, Overdue: true,
	}
}

func clientStats() oddeven.Stats {
	return oddeven.Stats{
		Fleet: fleetStats(), Worker: oddeven.WorkerStats{Needed: true, Leased: true, Worker: workerStats()},
		Sequences: []oddeven.SequenceStats{
			{Name: "orders", Plane: oddeven.PlaneSnowflake, Opened: true, Segment: segmentStats(), Failovers: 3, Returns: 2, FromWorker: 120, Failed: 1},
			{Name: "users", Plane: oddeven.PlaneSegment},
		},
	}
}
