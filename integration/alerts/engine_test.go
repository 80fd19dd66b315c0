package alerts

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/stretchr/testify/require"
)

const rulesFile = "../../metrics/alerts.yml"

// scrapeEvery is how often the servers of the tests are scraped and rules evaluated.
const scrapeEvery = time.Minute

var promQL = parser.NewParser(parser.Options{})

// readRules reads the rule file as strictly as Prometheus can.
func readRules(t testing.TB) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.LegacyValidation, promQL, slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	rules := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			require.NotContains(t, rules, r.Alert, "twice")
			rules[r.Alert] = r
		}
	}
	return rules
}

// memory is what was scraped, as the engine wants it.
type memory []*storage.SeriesEntry

// sample is a value at a time.
type sample struct {
	chunks.Sample // never called: no histograms
	at            int64
	value         float64
}

// load reads series in the notation of Prometheus' rule tests, one in a line:
//
//	name{label="value"} 1+2x3 _ 5
//
// Every one is of one instance of one job unless it says something else.
func load(t testing.TB, text string) memory {
	t.Helper()
	var all memory
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		lset, values, err := promQL.ParseSeriesDesc(line)
		require.NoError(t, err, line)
		b := labels.NewBuilder(lset)
		for name, value := range map[string]string{"job": "shop", "instance": "host:1"} {
			if lset.Get(name) == "" {
				b.Set(name, value)
			}
		}
		var samples []chunks.Sample
		for i, v := range values {
			if !v.Omitted {
				samples = append(samples, sample{at: int64(i) * scrapeEvery.Milliseconds(), value: v.Value})
			}
		}
		all = append(all, storage.NewListSeries(b.Labels(), samples))
	}
	return all
}

// Querier is of the storage.Queryable that the engine reads from.
func (m memory) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &seriesSet{at: -1}
		for _, s := range m {
			if !slices.ContainsFunc(matchers, func(by *labels.Matcher) bool { return !by.Matches(s.Lset.Get(by.Name)) }) {
				found.series = append(found.series, s)
			}
		}
		slices.SortFunc(found.series, func(a, b *storage.SeriesEntry) int { return labels.Compare(a.Lset, b.Lset) })
		return found
	}}, nil
}

// seriesSet goes through series that were found.
type seriesSet struct {
	series []*storage.SeriesEntry
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return s.series[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// firing evaluates a rule at every scrape up to a time, and returns the alerts that
// have been there for as long as the rule says, by their labels, with the
// annotations expanded.
func firing(t testing.TB, rule rulefmt.Rule, m memory, at time.Duration) map[string]map[string]string {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: promQL})
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	since := map[string]time.Duration{}
	var last promql.Vector
	for now := time.Duration(0); now <= at; now += scrapeEvery {
		query, err := engine.NewInstantQuery(t.Context(), m, nil, rule.Expr, time.UnixMilli(now.Milliseconds()))
		require.NoError(t, err)
		last, err = query.Exec(t.Context()).Vector()
		require.NoError(t, err)
		present := map[string]time.Duration{}
		for _, s := range last {
			began, was := since[identity(s.Metric)]
			if !was {
				began = now
			}
			present[identity(s.Metric)] = began
		}
		since = present
		if now < at {
			query.Close()
		}
	}
	fired := map[string]map[string]string{}
	for _, s := range last {
		if at-since[identity(s.Metric)] >= time.Duration(rule.For) {
			fired[identity(s.Metric)] = expand(t, rule, s)
		}
	}
	return fired
}

// identity is the labels of an alert, but for those of every series of the tests.
func identity(l labels.Labels) string {
	return labels.NewBuilder(l).Del(model.MetricNameLabel, "job", "instance").Labels().String()
}

// expand expands the annotations as Prometheus does.
func expand(t testing.TB, rule rulefmt.Rule, s promql.Sample) map[string]string {
	t.Helper()
	data := template.AlertTemplateData(s.Metric.Map(), nil, "", s)
	none := func(context.Context, string, time.Time) (promql.Vector, error) { return nil, nil }
	expanded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(rule.Annotations)) {
		text := `{{$labels := .Labels}}{{$value := .Value}}` + rule.Annotations[name]
		e := template.NewTemplateExpander(t.Context(), text, name, data, 0, none, nil, []string{"missingkey=error"})
		var err error
		expanded[name], err = e.Expand()
		require.NoError(t, err)
	}
	return expanded
}

// T is when it was scraped, in milliseconds.
func (s sample) T() int64 { return s.at }

// ST is not known.
func (s sample) ST() int64 { return 0 }

// F is the value.
func (s sample) F() float64 { return s.value }

// Type is that of a plain number.
func (s sample) Type() chunkenc.ValueType { return chunkenc.ValFloat }
