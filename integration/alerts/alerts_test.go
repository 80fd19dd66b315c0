package alerts

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/metrics"
)

func TestAlertsFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	rules := readRules(t)
	require.Equal(t, slices.Sorted(maps.Keys(rules)), slices.Sorted(maps.Keys(scenarios)), "every alert has scenarios")
	for name, all := range scenarios {
		fire := 0
		for _, s := range all {
			if len(s.fires) > 0 {
				fire++
			}
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				fired := firing(t, rules[name], load(t, s.series), s.at)
				want := slices.Sorted(slices.Values(s.fires))
				require.Equal(t, want, slices.Sorted(maps.Keys(fired)))
				for _, annotations := range fired {
					for _, text := range annotations {
						require.NotContains(t, text, "no value")
						require.NotContains(t, text, "{{")
					}
				}
			})
		}
		require.Positive(t, fire, "%s: one that makes it fire", name)
		require.Greater(t, len(all), fire, "%s: one that does not", name)
	}
}

// metricLabels are the metrics of the collector with their labels.
func metricLabels() map[string][]string {
	found := map[string][]string{}
	ch := make(chan *prometheus.Desc, 1000)
	metrics.New(nil).Describe(ch)
	close(ch)
	form := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([^}]*)\}`)
	for d := range ch {
		m := form.FindStringSubmatch(d.String())
		found[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' })
	}
	return found
}

// What rules and scenarios name is what the collector sends, with the same labels.
func TestMetricsOfTheRulesExist(t *testing.T) {
	t.Parallel()
	known := metricLabels()
	require.NotEmpty(t, known)
	for name, rule := range readRules(t) {
		expr, err := promQL.ParseExpr(rule.Expr)
		require.NoError(t, err)
		used := 0
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if v, ok := node.(*parser.VectorSelector); ok {
				used++
				require.Contains(t, known, v.Name, name)
				for _, m := range v.LabelMatchers {
					if m.Name != "__name__" {
						require.Contains(t, known[v.Name], m.Name, name)
					}
				}
			}
			return nil
		})
		require.Positive(t, used, name)
	}
	for name, all := range scenarios {
		for _, s := range all {
			for _, series := range load(t, s.series) {
				metric := series.Lset.Get("__name__")
				require.Contains(t, known, metric, name)
				var labels []string
				for label := range series.Lset.Map() {
					if label != "__name__" && label != "job" && label != "instance" {
						labels = append(labels, label)
					}
				}
				require.ElementsMatch(t, known[metric], labels, "%s: %s", name, series.Lset)
			}
		}
	}
}

func TestEveryAlertSaysWhatToDo(t *testing.T) {
	t.Parallel()
	const page = "https://github.com/oddeven/oddeven/blob/main/docs/operations.md#alert-"
	for name, rule := range readRules(t) {
		require.Regexp(t, `^Oddeven[A-Z][A-Za-z]+$`, name)
		require.Equal(t, page+strings.ToLower(name), rule.Annotations["runbook_url"])
		require.NotEmpty(t, rule.Annotations["summary"], name)
		require.NotEmpty(t, rule.Annotations["description"], name)
		require.Contains(t, []string{"critical", "warning"}, rule.Labels["severity"], name)
		require.Zero(t, time.Duration(rule.For)%scrapeEvery, name)
	}
}
