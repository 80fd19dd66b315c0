package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/rivals/products"
	"github.com/oddeven/oddeven/segment"
)

const (
	turnIDs = 50_000 // of a caller
	// tickIDs are more, for what waits for the clock: a tick more or less at the ends
	// of a turn is in the figure.
	tickIDs = 200_000
	fillIDs = 500_000
	many    = 1000 // of a NextN
)

// names of lines that others are compared with.
const (
	lineAdd       = "atomic.Int64.Add"
	lineFill      = "fill a slice of 1000"
	lineBurst     = "Worker.Next, burst"
	lineSustained = "Worker.Next, sustained"
	lineGenerator = "Generator.Next"
)

var errNone = errors.New("there was no ID")

// process measures what makes IDs in this process. The Generator refills from
// servers; nothing else needs any.
func (o Options) process(t testing.TB, servers []*mysql.Config) *group {
	g := openGenerator(t, servers, "orders", segment.Config{Create: true})
	a, err := segment.New(t.Context(), &segment.Memory{Increment: 2}, segment.Config{MinStep: 100_000_000, MaxStep: 1 << 40})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	ours, err := products.OpenOurs(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	others, err := products.Others()
	require.NoError(t, err)

	lines := append(raw(), inMemory(a, g, ours)...)
	for _, p := range others {
		base, n := lineGenerator, turnIDs
		if p.Name == "bwmarrin/snowflake" {
			base, n = lineSustained, tickIDs
		}
		lines = append(lines, memory{line: newLine(p.Name, base, "an ID as the package makes it by default", 1), caller: same(p.Draw), n: n})
	}
	all := &group{title: "in this process", unit: "ID", callers: []int{1, max(2, runtime.GOMAXPROCS(0))}}
	for _, l := range lines {
		all.lines = append(all.lines, l.line)
	}
	fmt.Fprintf(o.Progress, "%s\n", all.title)
	for _, callers := range all.callers {
		require.NoError(t, o.turns(lines, callers))
	}
	o.reserved(t, servers, all.line(lineGenerator))
	o.duplicates(t, all, append([]products.Product{
		named(lineSustained, ours.Sustained()), named(lineBurst, ours.Burst()),
		{Name: "Allocator.Next", Next: func(ctx context.Context) (products.Key, error) {
			id, err := a.Next(ctx)
			return products.Number(id), err
		}},
		{Name: lineGenerator, Next: func(ctx context.Context) (products.Key, error) {
			id, err := g.Next(ctx)
			return products.Number(int64(id)), err
		}},
	}, others...))
	return all
}

func named(name string, p products.Product) products.Product {
	p.Name = name
	return p
}

// same is a loop that all callers share.
func same(loop func(int) error) func() func(int) error {
	return func() func(int) error { return loop }
}

// raw are the limits: what the cheapest thing costs that could make an ID.
func raw() []memory {
	var counter struct { // on cache lines of their own
		_     [64]byte
		add   atomic.Int64
		_     [64]byte
		swap  atomic.Int64
		_     [64]byte
		clock atomic.Int64
		_     [64]byte
	}
	start := time.Now()
	return []memory{
		{line: newLine(lineAdd, "", "raw limit: one counter in memory", 1), n: turnIDs,
			caller: same(func(n int) error { return additions(&counter.add, n) })},
		{line: newLine("CAS loop", lineAdd, "raw limit: load, compare and swap", 1), n: turnIDs,
			caller: same(func(n int) error { return swaps(&counter.swap, n) })},
		{line: newLine("time.Since and CAS", lineAdd, "raw limit of what reads the clock for every ID", 1), n: turnIDs,
			caller: same(func(n int) error { return clocks(&counter.clock, start, n) })},
		{line: newLine(lineFill, "", "raw limit, per ID: writing numbers to memory", 1), n: fillIDs, caller: func() func(int) error {
			ids := make([]int64, many)
			return func(n int) error { return fill(ids, n) }
		}},
	}
}

// inMemory are ours.
func inMemory(a *segment.Allocator, g *oddeven.Generator, ours *products.Ours) []memory {
	return []memory{
		{line: newLine("Allocator.Next", lineAdd, "an ID of a sequence, from a segment that lasts: no refill", 1), n: turnIDs,
			caller: same(func(n int) error { return nexts(a, n) })},
		{line: newLine("Allocator.NextN of 1000", lineFill, "the same, per ID", 1), n: fillIDs, caller: func() func(int) error {
			ids := make([]int64, many)
			return func(n int) error { return nextNs(a, ids, n) }
		}},
		{line: newLine(lineGenerator, lineAdd, "the facade over two servers with defaults, refills and the worker in reserve included", 1), n: turnIDs,
			caller: same(func(n int) error { return generated(g, n) })},
		{line: newLine(lineBurst, lineAdd, "an ID of a Snowflake worker that may borrow as much as it likes", 1), n: turnIDs,
			caller: same(ours.Burst().Draw)},
		{line: newLine(lineSustained, lineBurst, "the default layout when all it may borrow is used up: 4,096 a millisecond", 1), n: tickIDs,
			caller: same(ours.Sustained().Draw), before: ours.Drain},
	}
}

func additions(counter *atomic.Int64, n int) error {
	for range n {
		if counter.Add(2) == 0 {
			return errNone
		}
	}
	return nil
}

func swaps(counter *atomic.Int64, n int) error {
	for range n {
		for {
			v := counter.Load()
			if counter.CompareAndSwap(v, v+2) {
				break
			}
		}
	}
	return nil
}

func clocks(state *atomic.Int64, start time.Time, n int) error {
	for range n {
		for {
			now := time.Since(start).Milliseconds() << 12
			v := state.Load()
			if state.CompareAndSwap(v, max(v+1, now)) {
				break
			}
		}
	}
	return nil
}

func fill(ids []int64, n int) error {
	v := int64(0)
	for range n / len(ids) {
		for i := range ids {
			ids[i] = v
			v += 2
		}
	}
	return nil
}

func nexts(a *segment.Allocator, n int) error {
	for range n {
		if _, err := a.Next(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

func nextNs(a *segment.Allocator, ids []int64, n int) error {
	for range n / len(ids) {
		if err := a.NextN(context.Background(), ids); err != nil {
			return err
		}
	}
	return nil
}

func generated(g *oddeven.Generator, n int) error {
	for range n {
		if _, err := g.Next(context.Background()); err != nil {
			return err
		}
	}
	return nil
}
