package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oddeven/oddeven/ticket"
)

// metric is one metric family. Its labels have few values: servers, sequences,
// and what is listed in this package.
type metric struct {
	name   string
	kind   prometheus.ValueType // not of histograms
	labels []string
	desc   *prometheus.Desc
}

// group is what is described together.
type group []*metric

func gauge(name, help string, labels ...string) *metric {
	return newMetric(prometheus.GaugeValue, name, help, labels)
}

func counter(name, help string, labels ...string) *metric {
	return newMetric(prometheus.CounterValue, name, help, labels)
}

func histogram(name, help string, labels ...string) *metric {
	return newMetric(prometheus.UntypedValue, name, help, labels)
}

func newMetric(kind prometheus.ValueType, name, help string, labels []string) *metric {
	name = "oddeven_" + name
	return &metric{name: name, kind: kind, labels: labels, desc: prometheus.NewDesc(name, help, labels, nil)}
}

// scrape is one call of Collect.
type scrape struct {
	ch        chan<- prometheus.Metric
	collector *collector
}

// send sends a value with values of the labels in their order.
func (s *scrape) send(m *metric, value float64, labels ...string) {
	made, err := prometheus.NewConstMetric(m.desc, m.kind, value, valid(labels)...)
	s.pass(m, made, err)
}

// count sends an integer.
func (s *scrape) count(m *metric, value int64, labels ...string) {
	s.send(m, float64(value), labels...)
}

// yes sends 1 or 0.
func (s *scrape) yes(m *metric, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	s.send(m, value, labels...)
}

// time sends a time as Unix seconds, and nothing if it is not known.
func (s *scrape) time(m *metric, at time.Time, labels ...string) {
	if !at.IsZero() {
		s.send(m, float64(at.UnixMilli())/1000, labels...)
	}
}

// histogram sends durations. The last bucket of h has no bound, so it is in the
// count only. (A duration that equals a bound is in the bucket above, while
// Prometheus counts it below: of nanoseconds hardly any does.)
func (s *scrape) histogram(m *metric, h ticket.Histogram, sum time.Duration, labels ...string) {
	buckets := make(map[float64]uint64, len(h))
	var below uint64
	for i, n := range h[:len(h)-1] {
		below += uint64(n)
		buckets[h.Bound(i).Seconds()] = below
	}
	made, err := prometheus.NewConstHistogram(m.desc, uint64(h.Count()), sum.Seconds(), buckets, valid(labels)...)
	s.pass(m, made, err)
}

// pass passes a metric on; one that could not be made fails the scrape with its name.
func (s *scrape) pass(m *metric, made prometheus.Metric, err error) {
	if err != nil {
		made = prometheus.NewInvalidMetric(m.desc, err)
	}
	s.ch <- made
}

// valid makes values of labels UTF-8, which they must be.
func valid(labels []string) []string {
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l, "\uFFFD")
	}
	return labels
}
