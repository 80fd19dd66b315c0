package metrics

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// What users have fits.
var (
	_ Source[oddeven.Stats]   = (*oddeven.Client)(nil)
	_ Source[ticket.Stats]    = (*ticket.Fleet)(nil)
	_ Source[segment.Stats]   = (*segment.Allocator)(nil)
	_ Source[snowflake.Stats] = (*snowflake.Worker)(nil)
)

func TestEveryNumberOfAClientIsThere(t *testing.T) {
	t.Parallel()
	f := scrapeOf(t, New(&fixed[oddeven.Stats]{clientStats()}))
	for _, want := range []struct {
		value  float64
		name   string
		labels []string
	}{
		{1, "oddeven_fleet_reached", nil},
		{1, "oddeven_fleet_info", []string{"fleet", "c0ffee"}},
		{1, "oddeven_server_up", []string{"server", one}},
		{0, "oddeven_server_up", []string{"server", two}},
		{0, "oddeven_server_refused", []string{"server", one}},
		{1, "oddeven_server_refused", []string{"server", two}},
		{2, "oddeven_server_offset", []string{"server", two}},
		{7, "oddeven_server_generation", []string{"server", one}},
		{9, "oddeven_server_connections_total", []string{"server", one}},
		{1, "oddeven_server_errors_total", []string{"server", one, "cause", "unreachable"}},
		{2, "oddeven_server_errors_total", []string{"server", one, "cause", "timeout"}},
		{3, "oddeven_server_errors_total", []string{"server", one, "cause", "denied"}},
		{4, "oddeven_server_errors_total", []string{"server", one, "cause", "read_only"}},
		{5, "oddeven_server_errors_total", []string{"server", one, "cause", "changed"}},
		{6, "oddeven_server_errors_total", []string{"server", one, "cause", "scheme"}},
		{7, "oddeven_server_errors_total", []string{"server", one, "cause", "other"}},
		{0, "oddeven_server_errors_total", []string{"server", two, "cause", "other"}},
		{1, "oddeven_server_fences_total", []string{"server", one, "reason", "restarted"}},
		{2, "oddeven_server_fences_total", []string{"server", one, "reason", "replaced"}},
		{3, "oddeven_server_fences_total", []string{"server", one, "reason", "peer"}},
		{4, "oddeven_server_fences_total", []string{"server", one, "reason", "scheme"}},
		{1000, "oddeven_tickets_total", []string{"server", one}},
		{4, "oddeven_ticket_gaps_total", []string{"server", one}},
		{5, "oddeven_ticket_retries_total", []string{"server", one}},
		{20_001, "oddeven_ticket_highest", []string{"server", one}},
		{0, "oddeven_ticket_drift_rounds", []string{"server", one}},
		{999, "oddeven_ticket_drift_rounds", []string{"server", two}},
		{50_001, "oddeven_ticket_clock_line", []string{"server", one}},
		{1<<53 - 1, "oddeven_ticket_ceiling", []string{"server", one}},

		{1, "oddeven_sequence_opened", []string{"sequence", "orders"}},
		{0, "oddeven_sequence_opened", []string{"sequence", "users"}},
		{0, "oddeven_sequence_source", []string{"sequence", "orders", "source", "segment"}},
		{1, "oddeven_sequence_source", []string{"sequence", "orders", "source", "snowflake"}},
		{1, "oddeven_sequence_source", []string{"sequence", "users", "source", "snowflake"}}, // not opened
		{3, "oddeven_sequence_failovers_total", []string{"sequence", "orders"}},
		{2, "oddeven_sequence_returns_total", []string{"sequence", "orders"}},
		{1, "oddeven_sequence_failed_calls_total", []string{"sequence", "orders"}},
		{700, "oddeven_sequence_ids_total", []string{"sequence", "orders", "source", "segment"}},
		{120, "oddeven_sequence_ids_total", []string{"sequence", "orders", "source", "snowflake"}},
		{0, "oddeven_sequence_ids_total", []string{"sequence", "users", "source", "segment"}},
		{20_000, "oddeven_sequence_ceiling", []string{"sequence", "orders"}},
		{0.25, "oddeven_sequence_used_ratio", []string{"sequence", "orders"}},
		{float64(later.Unix()) + 0.5, "oddeven_sequence_exhausted_timestamp_seconds", []string{"sequence", "orders"}},
		{0, "oddeven_sequence_drift_rounds", []string{"sequence", "orders", "server", one}},
		{100, "oddeven_sequence_drift_rounds", []string{"sequence", "orders", "server", two}},
		{1000, "oddeven_segment_reserved_ids_total", []string{"sequence", "orders"}},
		{50, "oddeven_segment_dropped_ids_total", []string{"sequence", "orders"}},
		{250, "oddeven_segment_buffered_ids", []string{"sequence", "orders"}},
		{5, "oddeven_segment_buffered_seconds", []string{"sequence", "orders"}},
		{1000, "oddeven_segment_step_ids", []string{"sequence", "orders"}},
		{1, "oddeven_segment_refills_total", []string{"sequence", "orders", "cause", "first"}},
		{2, "oddeven_segment_refills_total", []string{"sequence", "orders", "cause", "prefetch"}},
		{3, "oddeven_segment_refills_total", []string{"sequence", "orders", "cause", "demand"}},
		{4, "oddeven_segment_refills_total", []string{"sequence", "orders", "cause", "retry"}},
		{5, "oddeven_segment_refills_total", []string{"sequence", "orders", "cause", "hedge"}},
		{6, "oddeven_segment_refills_total", []string{"sequence", "orders", "cause", "enlargement"}},
		{8, "oddeven_segment_refill_failures_total", []string{"sequence", "orders"}},
		{9, "oddeven_segment_refills_abandoned_total", []string{"sequence", "orders"}},
		{1, "oddeven_segment_refill_failing", []string{"sequence", "orders"}},
		{10, "oddeven_segment_waits_total", []string{"sequence", "orders"}},
		{11.5, "oddeven_segment_wait_seconds_total", []string{"sequence", "orders"}},
		{12, "oddeven_segment_waiting_calls", []string{"sequence", "orders"}},

		{1, "oddeven_worker_leased", nil},
		{2400, "oddeven_worker_lease_remaining_seconds", nil},
		{1, "oddeven_worker_lease_overdue", nil},
		{6, "oddeven_worker_renewals_total", nil},
		{2, "oddeven_worker_renewal_failures_total", nil},
		{1, "oddeven_worker_lease_info", []string{"fleet", "c0ffee", "server", two}},
		{17, "oddeven_worker_number", nil},
		{300, "oddeven_worker_ids_total", nil},
		{3, "oddeven_worker_waits_total", nil},
		{0.25, "oddeven_worker_wait_seconds_total", nil},
		{float64(later.Unix()) + 0.5, "oddeven_worker_layout_exhausted_timestamp_seconds", nil},
	} {
		require.Equal(t, want.value, f.value(t, want.name, want.labels...), "%s%v", want.name, want.labels)
	}
	require.Len(t, f, len(described()), "every metric that is described")
	for name := range f {
		require.NotNil(t, described()[name], name)
	}
}

// described are all metrics of New, by name.
func described() map[string]*metric {
	all := map[string]*metric{}
	for _, g := range New(nil).(*collector).groups { //nolint:errcheck // New returns no other
		for _, m := range g {
			all[m.name] = m
		}
	}
	return all
}

func TestHistograms(t *testing.T) {
	t.Parallel()
	f := scrapeOf(t, New(&fixed[oddeven.Stats]{clientStats()}))
	h := f.find(t, "oddeven_ticket_statement_duration_seconds", "server", one).GetHistogram()
	require.Equal(t, uint64(3), h.GetSampleCount())
	require.InDelta(t, 3600.008, h.GetSampleSum(), 1e-9)
	below := func(bound float64) uint64 {
		for _, b := range h.GetBucket() {
			if b.GetUpperBound() == bound {
				return b.GetCumulativeCount()
			}
		}
		require.Fail(t, "no bucket", "%v", bound)
		return 0
	}
	require.Zero(t, below(0.002048))
	require.Equal(t, uint64(1), below(0.004096))
	require.Equal(t, uint64(2), below(0.008192))
	require.Equal(t, uint64(2), below(67.108864), "an hour is in the last one")
	require.Equal(t, uint64(3), below(math.Inf(1)))
	require.Equal(t, uint64(2), f.find(t, "oddeven_segment_refill_duration_seconds", "sequence", "orders").GetHistogram().GetSampleCount())
	require.InDelta(t, 0.003, f.find(t, "oddeven_segment_refill_duration_seconds", "sequence", "orders").GetHistogram().GetSampleSum(), 1e-9)
}

func TestNamesPassTheLinterOfPrometheus(t *testing.T) {
	t.Parallel()
	problems, err := testutil.CollectAndLint(New(&fixed[oddeven.Stats]{clientStats()}))
	require.NoError(t, err)
	require.Empty(t, problems)
}

// README.md lists every metric with its type and labels, and no other.
func TestReadmeListsEveryMetric(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(oddeven_\\w+)` \\| (\\w+) \\| ([^|]*) \\| [^|]+ \\|$").FindAllStringSubmatch(string(readme), -1) {
		listed[row[1]] = row[2] + " " + row[3]
	}
	want := map[string]string{}
	for name, m := range described() {
		kind := map[prometheus.ValueType]string{
			prometheus.CounterValue: "counter", prometheus.GaugeValue: "gauge", prometheus.UntypedValue: "histogram",
		}[m.kind]
		labels := ""
		for i, l := range m.labels {
			if i > 0 {
				labels += ", "
			}
			labels += "`" + l + "`"
		}
		want[name] = fmt.Sprintf("%s %s", kind, labels)
	}
	require.Equal(t, want, listed)
}

func TestTypesAreThoseDescribed(t *testing.T) {
	t.Parallel()
	for name, family := range scrapeOf(t, New(&fixed[oddeven.Stats]{clientStats()})) {
		want := map[prometheus.ValueType]dto.MetricType{
			prometheus.CounterValue: dto.MetricType_COUNTER, prometheus.GaugeValue: dto.MetricType_GAUGE, prometheus.UntypedValue: dto.MetricType_HISTOGRAM,
		}[described()[name].kind]
		require.Equal(t, want, family.GetType(), name)
	}
}

func TestWhatIsNotKnownIsMissing(t *testing.T) {
	t.Parallel()
	stats := oddeven.Stats{Unreached: ticket.ErrUnavailable, Worker: oddeven.WorkerStats{Needed: true}}
	f := scrapeOf(t, New(&fixed[oddeven.Stats]{stats}))
	require.Zero(t, f.value(t, "oddeven_fleet_reached"))
	require.Zero(t, f.value(t, "oddeven_worker_leased"))
	require.Len(t, f, 2)

	f = scrapeOf(t, New(&fixed[oddeven.Stats]{})) // no Generator falls back on a worker
	require.Equal(t, 1.0, f.value(t, "oddeven_fleet_reached"))
	require.Len(t, f, 1)

	f = scrapeOf(t, NewParts(Parts{
		Fleet:     &fixed[ticket.Stats]{ticket.Stats{Servers: []ticket.ServerStats{{Server: one}}}},
		Sequences: map[string]Source[segment.Stats]{"orders": &fixed[segment.Stats]{}},
		Worker:    &fixed[snowflake.Stats]{snowflake.Stats{Layout: snowflake.Default(), Exhausted: later}}, // number assigned by hand
	}))
	for _, name := range []string{
		"oddeven_fleet_info", "oddeven_ticket_highest", "oddeven_ticket_drift_rounds", "oddeven_ticket_clock_line", "oddeven_ticket_ceiling",
		"oddeven_sequence_ceiling", "oddeven_sequence_used_ratio", "oddeven_sequence_exhausted_timestamp_seconds", "oddeven_sequence_drift_rounds",
		"oddeven_segment_buffered_seconds", "oddeven_worker_leased", "oddeven_worker_lease_remaining_seconds", "oddeven_worker_lease_info",
	} {
		require.Nil(t, f[name], name)
	}
	require.Zero(t, f.value(t, "oddeven_server_up", "server", one))
	require.Zero(t, f.value(t, "oddeven_worker_ids_total"))
}

func TestPartsAloneHaveTheSameNames(t *testing.T) {
	t.Parallel()
	f := scrapeOf(t, NewParts(Parts{
		Fleet: &fixed[ticket.Stats]{fleetStats()}, Sequences: map[string]Source[segment.Stats]{"orders": &fixed[segment.Stats]{segmentStats()}},
		Worker: &fixed[snowflake.Stats]{workerStats()},
	}))
	require.Equal(t, 1.0, f.value(t, "oddeven_worker_leased"))
	require.Equal(t, 700.0, f.value(t, "oddeven_sequence_ids_total", "sequence", "orders", "source", "segment"))
	onlyClient := map[string]bool{}
	for _, g := range []group{groupClient, groupGenerator} {
		for _, m := range g {
			onlyClient[m.name] = true
		}
	}
	for name := range described() {
		require.Equal(t, onlyClient[name], f[name] == nil, name)
	}
}

// A call that fails after it has claimed IDs takes them back from Stats.Used.
func TestCountersNeverGoBack(t *testing.T) {
	t.Parallel()
	source := &fixed[oddeven.Stats]{clientStats()}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(New(source))
	issued := func() float64 {
		return get(t, r).value(t, "oddeven_sequence_ids_total", "sequence", "orders", "source", "segment")
	}
	require.Equal(t, 700.0, issued())
	source.stats.Sequences[0].Segment.Used = 690
	require.Equal(t, 700.0, issued())
	source.stats.Sequences[0].Segment.Used = 710
	require.Equal(t, 710.0, issued())
}

func TestSeveralClientsInOneRegistry(t *testing.T) {
	t.Parallel()
	r := prometheus.NewPedanticRegistry()
	for _, name := range []string{"shop", "blog"} {
		prometheus.WrapRegistererWith(prometheus.Labels{"client": name}, r).MustRegister(New(&fixed[oddeven.Stats]{clientStats()}))
	}
	f := get(t, r)
	require.Equal(t, 1.0, f.value(t, "oddeven_server_up", "server", one, "client", "shop"))
	require.Equal(t, 1.0, f.value(t, "oddeven_server_up", "server", one, "client", "blog"))

	alone := prometheus.NewPedanticRegistry()
	require.NoError(t, alone.Register(New(&fixed[oddeven.Stats]{clientStats()})))
	require.Error(t, alone.Register(New(&fixed[oddeven.Stats]{clientStats()})), "they could not be told apart")
	require.Error(t, alone.Register(NewParts(Parts{})))
}

// Nothing that a client may hold fails the scrape of everything else.
func TestOddLabelsDoNotFailTheScrape(t *testing.T) {
	t.Parallel()
	f := scrapeOf(t, NewParts(Parts{
		Fleet: &fixed[ticket.Stats]{ticket.Stats{Servers: []ticket.ServerStats{{Server: one}, {Server: one, State: ticket.StateUp}, {Server: "db:1/\xff"}}}},
		Sequences: map[string]Source[segment.Stats]{
			"a \"b\" \\ ☃": &fixed[segment.Stats]{segment.Stats{Exhausted: time.Unix(1, 0)}},
		},
	}))
	require.Zero(t, f.value(t, "oddeven_server_up", "server", one))
	require.Equal(t, 1.0, f.value(t, "oddeven_server_up", "server", one+" (2)"))
	require.Zero(t, f.value(t, "oddeven_server_up", "server", "db:1/\uFFFD"))
	require.Equal(t, 1.0, f.value(t, "oddeven_sequence_exhausted_timestamp_seconds", "sequence", "a \"b\" \\ ☃"))
}

func TestNothingToCollect(t *testing.T) {
	t.Parallel()
	var client *oddeven.Client
	var fleet *ticket.Fleet
	var worker *snowflake.Worker
	require.Empty(t, scrapeOf(t, New(nil)))
	require.Empty(t, scrapeOf(t, New(client)))
	require.Empty(t, scrapeOf(t, NewParts(Parts{})))
	require.Empty(t, scrapeOf(t, NewParts(Parts{
		Fleet: fleet, Worker: worker, Sequences: map[string]Source[segment.Stats]{"orders": (*segment.Allocator)(nil), "users": nil},
	})))
}
