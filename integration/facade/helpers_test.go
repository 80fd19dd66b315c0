package facade_test

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// orders is the sequence of most tests.
const orders = "orders"

// ceiling is where the plane of workers begins.
const ceiling = oddeven.ID(1) << 53

// lastsLong is a lease that outlasts every test.
const lastsLong = 10 * time.Minute

// small makes segments that are used up soon after the servers have gone.
var small = segment.Config{MinStep: 20, MaxStep: 1_000_000, Interval: 50 * time.Millisecond}

// newFleet returns migrated servers with the sequence, for tests that restart them.
func newFleet(t testing.TB, n int, longest time.Duration, bits int) *testfleet.Fleet {
	t.Helper()
	fleet := testfleet.New(t, n)
	migrate(t, fleet, longest, bits)
	clienttest.AnyIdentity(t, fleet)
	create(t, fleet, orders)
	return fleet
}

// newFleetWithout returns two migrated servers without a sequence.
func newFleetWithout(t testing.TB, bits int) *testfleet.Fleet {
	t.Helper()
	fleet := testfleet.New(t, 2)
	migrate(t, fleet, time.Second, bits)
	return fleet
}

func migrate(t testing.TB, fleet *testfleet.Fleet, longest time.Duration, bits int) {
	t.Helper()
	_, err := migrations.Up(clienttest.Bounded(t), migrations.Config{
		Servers:  clienttest.Parse(t, fleet.MigrateDSNs()),
		Settings: migrations.Settings{Increment: int64(max(2, len(fleet.Servers))), LongestLease: longest, ShardBits: &bits},
	})
	require.NoError(t, err)
}

func create(t testing.TB, servers *testfleet.Fleet, name string) {
	t.Helper()
	fleet, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, servers.DSNs()...))
	require.NoError(t, err)
	_, err = sequence.Create(clienttest.Bounded(t), fleet, sequence.Spec{Name: name})
	require.NoError(t, err)
	require.NoError(t, fleet.Close())
}

// config is how a client of the test reaches servers.
func config(fleet *testfleet.Fleet) oddeven.Config {
	return oddeven.Config{DSNs: fleet.DSNs(), Timeout: clienttest.Timeout, Conns: 4, Segment: small}
}

// open opens a client and closes it at the end of the test, whatever has become of
// its servers by then.
func open(t testing.TB, cfg oddeven.Config) *oddeven.Client {
	t.Helper()
	c, err := oddeven.Open(clienttest.Bounded(t), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// openReady opens a client that has leased a worker.
func openReady(t testing.TB, cfg oddeven.Config) *oddeven.Client {
	t.Helper()
	c := open(t, cfg)
	require.NoError(t, c.Ready(clienttest.Bounded(t)))
	return c
}

func generator(t testing.TB, c *oddeven.Client, name string) *oddeven.Generator {
	t.Helper()
	g, err := c.Sequence(clienttest.Bounded(t), name)
	require.NoError(t, err)
	return g
}

// ledger keeps every ID that anybody was handed.
type ledger struct {
	mu  sync.Mutex
	ids []oddeven.ID
}

func (l *ledger) add(ids ...oddeven.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, ids...)
}

// next draws one ID into the ledger.
func (l *ledger) next(t testing.TB, g *oddeven.Generator) oddeven.ID {
	t.Helper()
	id, err := g.Next(clienttest.Bounded(t))
	require.NoError(t, err)
	l.add(id)
	return id
}

// untilPlane draws until IDs are of a plane.
func (l *ledger) untilPlane(t testing.TB, g *oddeven.Generator, plane oddeven.Plane) oddeven.ID {
	t.Helper()
	var id oddeven.ID
	clienttest.Until(t, "IDs of plane "+string(plane), func() bool {
		for range 100 {
			id = l.next(t, g)
		}
		return (id >= ceiling) == (plane == oddeven.PlaneSnowflake)
	})
	return id
}

// requireUnique fails the test if an ID was handed out twice, and returns how many
// there are of each plane.
func (l *ledger) requireUnique(t testing.TB) (segments, snowflakes int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted := slices.Sorted(slices.Values(l.ids))
	for i, id := range sorted {
		require.Positive(t, id)
		if i > 0 {
			require.NotEqual(t, sorted[i-1], id, "handed out twice")
		}
		if id < ceiling {
			segments++
		} else {
			snowflakes++
		}
	}
	return segments, snowflakes
}

// load is callers that draw until they are stopped.
type load struct {
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	longest time.Duration // of a call
	calls   int
	errs    []error
}

// start lets callers draw from a Generator, fifty IDs every millisecond each.
func (l *ledger) start(t testing.TB, g *oddeven.Generator, callers int) *load {
	ctx, stop := context.WithCancel(t.Context())
	ld := &load{stop: stop}
	for range callers {
		ld.wg.Go(func() { ld.draw(ctx, g, l) })
	}
	t.Cleanup(func() { stop(); ld.wg.Wait() })
	return ld
}

func (ld *load) draw(ctx context.Context, g *oddeven.Generator, l *ledger) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var longest time.Duration
	var own []oddeven.ID
	var errs []error
	for ctx.Err() == nil && len(errs) < 10 {
		for range 50 {
			began := time.Now()
			id, err := g.Next(ctx)
			if ctx.Err() == nil {
				longest = max(longest, time.Since(began))
			}
			switch {
			case err == nil:
				own = append(own, id)
			case ctx.Err() == nil:
				errs = append(errs, err)
			}
		}
		<-tick.C
	}
	l.add(own...)
	ld.mu.Lock()
	defer ld.mu.Unlock()
	ld.longest = max(ld.longest, longest)
	ld.calls += len(own) + len(errs)
	ld.errs = append(ld.errs, errs...)
}

// end stops the callers, of which none may have failed, and returns the longest
// call and their number.
func (ld *load) end(t testing.TB) (longest time.Duration, calls int) {
	t.Helper()
	ld.stop()
	ld.wg.Wait()
	require.Empty(t, ld.errs)
	return ld.longest, ld.calls
}

// plane is where a Generator takes IDs from.
func plane(g *oddeven.Generator) oddeven.Plane { return g.Stats().Plane }

// untilAt waits until a Generator that others draw from is in a plane.
func untilAt(t testing.TB, g *oddeven.Generator, want oddeven.Plane) {
	t.Helper()
	clienttest.Until(t, "plane "+string(want), func() bool { return plane(g) == want })
}

// ours are the packages whose goroutines end with Close.
var ours = regexp.MustCompile(`github.com/oddeven/oddeven(/ticket|/segment|/snowflake)?\.`)

// requireNoGoroutines fails the test if a goroutine of a client is left. Package
// testfleet has some of its own, which come and go with servers.
func requireNoGoroutines(t testing.TB) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		require.NotRegexp(t, ours, stack)
	}
}
