package metrics

import (
	"reflect"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Source is whatever returns snapshots: an *oddeven.Client, a *ticket.Fleet, a
// *segment.Allocator or a *snowflake.Worker. Its Stats may be called at any time,
// by any number of goroutines, and after Close.
type Source[S any] interface{ Stats() S }

// Parts are what programs use that work without an oddeven.Client. A field that
// is nil has no metrics.
type Parts struct {
	// Fleet is a *ticket.Fleet.
	Fleet Source[ticket.Stats]
	// Sequences are *segment.Allocators by the names of their sequences, which
	// become the values of the label sequence. The map is copied.
	Sequences map[string]Source[segment.Stats]
	// Worker is a *snowflake.Worker.
	Worker Source[snowflake.Stats]
}

// New returns a Collector of a Client: of its fleet, of every sequence it has
// handed out, and of its worker. A scrape calls Stats once and does no I/O. The
// Collector starts no goroutine and may be used concurrently; it goes on with the
// last counts after Client.Close.
//
// A registry takes one Collector of this package. For several, tell them apart by
// a label of your own, the same one for each:
//
//	prometheus.WrapRegistererWith(prometheus.Labels{"client": "shop"}, registry).MustRegister(metrics.New(shop))
//
// A nil client has no metrics.
func New(client Source[oddeven.Stats]) prometheus.Collector {
	c := &collector{groups: []group{groupClient, groupFleet, groupGenerator, groupSegment, groupLease, groupWorker}}
	if isNil(client) {
		return c
	}
	c.collect = func(s *scrape) { s.client(client.Stats()) }
	return c
}

// NewParts is New for programs that use packages ticket, segment or snowflake
// alone. The metrics have the same names; those of failover are missing.
func NewParts(parts Parts) prometheus.Collector {
	c := &collector{groups: []group{groupFleet, groupSegment, groupLease, groupWorker}}
	sequences := make(map[string]Source[segment.Stats], len(parts.Sequences))
	for name, a := range parts.Sequences {
		if !isNil(a) {
			sequences[name] = a
		}
	}
	c.collect = func(s *scrape) {
		if !isNil(parts.Fleet) {
			s.fleet(parts.Fleet.Stats())
		}
		for name, a := range sequences {
			s.segment(name, a.Stats())
		}
		if !isNil(parts.Worker) {
			s.loneWorker(parts.Worker.Stats())
		}
	}
	return c
}

// isNil also finds a nil pointer in an interface, such as that of a variable that
// was never set.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// collector is what New and NewParts return.
type collector struct {
	groups  []group
	collect func(*scrape) // nil: nothing to collect

	mu   sync.Mutex         // guards used
	used map[string]float64 // by sequence: the most IDs from segments that a scrape has seen
}

// Describe sends every metric that there may be.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range c.groups {
		for _, m := range g {
			ch <- m.desc
		}
	}
}

// Collect takes a snapshot and sends what it says.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	if c.collect != nil {
		c.collect(&scrape{ch: ch, collector: c})
	}
}

// issued is how many IDs of segments a sequence has handed out. Stats counts
// those as dropped that a call had claimed when it failed, so its number may go
// back by a few, which Prometheus would take for a restart.
func (c *collector) issued(sequence string, used int64) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil {
		c.used = map[string]float64{}
	}
	c.used[sequence] = max(c.used[sequence], float64(used))
	return c.used[sequence]
}
