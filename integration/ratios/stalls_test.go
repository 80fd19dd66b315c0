//go:build ratios

package ratios

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const (
	serverLatency = 50 * time.Millisecond // in front of every server
	interval      = 2 * time.Second
	fastRate      = 1_000_000 // IDs per second
	slowRate      = 1000
	steadyWarmUp  = 10 * time.Second
	steadyWindow  = time.Minute
	steadyTick    = 10 * time.Millisecond // a timer that rings more often disturbs the tail of both sides
	slowWindow    = 6 * time.Second
	fastWindow    = time.Second
	jumps         = 5
	jumpTick      = time.Millisecond
)

// stalls are the claims about callers who must not notice refills, on two
// servers of one flavour that take long to answer.
func stalls(t *testing.T, flavor string) []claim {
	servers := newFleet(t, 2, flavor).Servers
	dsns := make([]string, len(servers))
	for i, s := range servers {
		dsns[i] = s.DSN()
	}
	fleet := openFleet(t, ticket.Config{Servers: parse(t, dsns), Timeout: 15 * time.Second})
	createOrders(t, fleet)
	for _, s := range servers {
		s.Latency(serverLatency, 0)
	}
	s := &steady{source: newSource(t, fleet)}
	what := fmt.Sprintf("a minute of %d IDs/s, two callers, %s to a server: ", fastRate, serverLatency)
	return []claim{
		{name: what + "calls that waited, plus one", bound: 1, once: s.find(func(s *steady) float64 { return float64(s.waits + 1) })},
		{name: what + "p99.99 of Next less that of an empty loop, in µs", bound: 1, once: s.find(func(s *steady) float64 { return s.longer.Seconds() * 1e6 })},
		{name: what + "reserved against issued", bound: 1.04, once: s.find(func(s *steady) float64 { return float64(s.reserved) / float64(s.issued) })},
		{
			name:  fmt.Sprintf("jump from %d to %d IDs/s, one caller, %s to a server: waits against one refill", slowRate, fastRate, serverLatency),
			bound: 1.2, rounds: jumps, both: func(ctx context.Context) (float64, float64, error) { return jump(ctx, newSource(t, fleet)) },
		},
	}
}

// steady is what a minute of steady use showed; it is spent when the first of
// its claims is measured.
type steady struct {
	source segment.Source

	once                    sync.Once
	err                     error
	waits, reserved, issued int64
	longer                  time.Duration
}

func (s *steady) find(value func(*steady) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		s.once.Do(func() { s.err = s.spend(ctx) })
		return value(s), s.err
	}
}

func (s *steady) spend(ctx context.Context) error {
	const callers = 2
	a, err := segment.New(ctx, s.source, segment.Config{Interval: interval})
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // always nil
	draw := func(ctx context.Context, _ int) error {
		_, err := a.Next(ctx)
		return err
	}
	if _, err := measure.Pace(ctx, callers, fastRate/callers, steadyWarmUp, steadyTick, draw); err != nil {
		return err
	}
	var empty, next [callers]histogram
	began := time.Now()
	timed := func(ctx context.Context, caller int) error {
		t0 := time.Since(began)
		t1 := time.Since(began)
		_, err := a.Next(ctx)
		t2 := time.Since(began)
		empty[caller].add(t1 - t0)
		next[caller].add(t2 - t1)
		return err
	}
	before := a.Stats()
	issued, err := measure.Pace(ctx, callers, fastRate/callers, steadyWindow, steadyTick, timed)
	if err != nil {
		return err
	}
	after := a.Stats()
	if due := fastRate * int(steadyWindow.Seconds()); issued < due*98/100 {
		return fmt.Errorf("the machine is too busy: %d IDs of %d", issued, due)
	}
	s.waits, s.reserved, s.issued = after.Waits-before.Waits, after.Reserved-before.Reserved, int64(issued)
	base, cost := quantile(0.9999, &empty[0], &empty[1]), quantile(0.9999, &next[0], &next[1])
	s.longer = cost - base
	for _, share := range []float64{0.5, 0.99, 0.999, 0.9999, 0.99999} {
		fmt.Fprintf(os.Stderr, "  %.5g %% of Next %s, of an empty loop %s\n", 100*share, quantile(share, &next[0], &next[1]), quantile(share, &empty[0], &empty[1]))
	}
	fmt.Fprintf(os.Stderr, "  %d IDs, %d refills of %d, %d hedges, %d enlargements, %d dropped\n", issued, after.Refills-before.Refills,
		s.reserved, after.Hedges-before.Hedges, after.Enlargements-before.Enlargements, after.Dropped-before.Dropped)
	return nil
}

// jump returns how long a caller waited altogether whose rate jumped, and how
// long one refill took.
func jump(ctx context.Context, source segment.Source) (waited, refill float64, err error) {
	timed := &timedSource{Source: source}
	a, err := segment.New(ctx, timed, segment.Config{Interval: interval})
	if err != nil {
		return 0, 0, err
	}
	defer a.Close() //nolint:errcheck // always nil
	draw := func(ctx context.Context, _ int) error {
		_, err := a.Next(ctx)
		return err
	}
	if _, err := measure.Pace(ctx, 1, slowRate, slowWindow, jumpTick, draw); err != nil {
		return 0, 0, err
	}
	before := a.Stats().Waited
	if _, err := measure.Pace(ctx, 1, fastRate, fastWindow, jumpTick, draw); err != nil {
		return 0, 0, err
	}
	waited = (a.Stats().Waited - before).Seconds()
	return waited, timed.median(), nil
}

// timedSource notes how long refills take.
type timedSource struct {
	segment.Source
	mu   sync.Mutex
	took []float64 // seconds
}

func (s *timedSource) Reserve(ctx context.Context, floor, count int64) (segment.Range, error) {
	began := time.Now()
	r, err := s.Source.Reserve(ctx, floor, count)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, time.Since(began).Seconds())
	return r, err
}

func (s *timedSource) median() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return measure.Median(s.took)
}
