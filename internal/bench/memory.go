package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
)

const (
	// batch is how many IDs are drawn between two looks at the clock: a few
	// microseconds' worth. What has been drawn is checked between batches, off the
	// clock.
	batch = 1024
	// warmUp is the part of the time, or of the IDs if that comes first, that does not
	// count: refills are still growing.
	warmUp = 10
)

// inMemory are the numbers of callers for IDs from memory: more than there are
// CPUs would take turns, and show nothing else.
func inMemory(callers []int) []int { return atMost(callers, runtime.GOMAXPROCS(0)) }

// atMost are numbers of callers, none above most. They rise.
func atMost(callers []int, most int) []int {
	all := make([]int, len(callers))
	for i, n := range callers {
		all[i] = min(n, most)
	}
	return slices.Compact(all)
}

// drain is callers that draw from memory for a while.
type drain struct {
	callers  int
	duration time.Duration
	limit    int64
	bits     int  // of the shard, which are not looked at
	rising   bool // an ID of one caller must be above all before
	set      *seen
	fill     func(ctx context.Context, ids []int64) error // draws one by one
}

// drained is what one caller did.
type drained struct {
	count    int64
	from, to time.Time     // of what counts
	took     time.Duration // drawing
	err      error
}

// run lets the callers draw, and joins them.
func (d drain) run(ctx context.Context) (m Measurement, err error) {
	var left atomic.Int64
	left.Store(d.limit)
	callers := make([]drained, d.callers)
	warm := time.Now().Add(d.duration / warmUp)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { callers[i] = d.draw(ctx, &left, warm) })
	}
	all.Wait()
	m = Measurement{Callers: d.callers}
	var took time.Duration
	var from, to time.Time
	for _, c := range callers {
		m.Count += c.count
		took += c.took
		if c.count > 0 && (from.IsZero() || c.from.Before(from)) {
			from = c.from
		}
		if c.to.After(to) {
			to = c.to
		}
		if c.err != nil {
			m.Failed++
			err = c.err
		}
	}
	m.Seconds = to.Sub(from).Seconds()
	if m.Count > 0 && m.Seconds > 0 {
		m.PerSecond = float64(m.Count) / m.Seconds
		m.NsPerID = float64(took.Nanoseconds()) / float64(m.Count)
	}
	return m, err
}

// draw is one caller.
func (d drain) draw(ctx context.Context, left *atomic.Int64, warm time.Time) (got drained) {
	ids := make([]int64, batch)
	last := int64(-1)
	until := warm.Add(d.duration)
	for ctx.Err() == nil {
		began := time.Now()
		rest := left.Add(-batch)
		if got.count > 0 && !began.Before(until) || rest < 0 {
			return got
		}
		if err := d.fill(ctx, ids); err != nil {
			if ctx.Err() == nil {
				got.err = err
			}
			return got
		}
		if ended := time.Now(); !began.Before(warm) || rest < d.limit-d.limit/warmUp {
			if got.count == 0 {
				got.from = began
			}
			got.count += batch
			got.took += ended.Sub(began)
			got.to = ended
		}
		last = d.check(last, ids)
	}
	return got
}

// check compares a batch with what was drawn before, and returns the last ID.
func (d drain) check(last int64, ids []int64) int64 {
	if d.bits > 0 {
		for i := range ids {
			ids[i] >>= d.bits
		}
	}
	if d.rising {
		d.set.addRising(last, ids)
	} else {
		d.set.addSample(ids)
	}
	return ids[len(ids)-1]
}

// The loops of what is measured. Each calls its function by name, because a call
// through a variable would not be inlined, as it is in an application.

func fillNext(a *segment.Allocator) func(context.Context, []int64) error {
	return func(ctx context.Context, ids []int64) (err error) {
		for i := range ids {
			if ids[i], err = a.Next(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// fillTryNext calls Next where there is nothing at hand, as callers do.
func fillTryNext(a *segment.Allocator) func(context.Context, []int64) error {
	return func(ctx context.Context, ids []int64) (err error) {
		for i := range ids {
			id, ok := a.TryNext()
			if !ok {
				if id, err = a.Next(ctx); err != nil {
					return err
				}
			}
			ids[i] = id
		}
		return nil
	}
}

func fillGenerator(g *oddeven.Generator, bits int) func(context.Context, []int64) error {
	if bits > 0 {
		return func(ctx context.Context, ids []int64) error {
			for i := range ids {
				id, err := g.NextFor(ctx, 0)
				if err != nil {
					return err
				}
				ids[i] = int64(id)
			}
			return nil
		}
	}
	return func(ctx context.Context, ids []int64) error {
		for i := range ids {
			id, err := g.Next(ctx)
			if err != nil {
				return err
			}
			ids[i] = int64(id)
		}
		return nil
	}
}

func fillWorker(w *snowflake.Worker) func(context.Context, []int64) error {
	return func(ctx context.Context, ids []int64) (err error) {
		for i := range ids {
			if ids[i], err = w.Next(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// drains measures one kind of drawing for all numbers of callers.
func (r *runner) drains(ctx context.Context, name, what string, d drain) {
	for _, callers := range inMemory(r.cfg.Callers) {
		if !r.begin(ctx, "%s, %s", what, number(callers)) {
			return
		}
		d.callers, d.duration, d.set = callers, r.cfg.Duration, r.ids
		m, err := d.run(ctx)
		m.Name = name
		r.add(ctx, m, err)
	}
}

// fromAllocator measures IDs from memory.
func (r *runner) fromAllocator(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	a, err := segment.Open(ctx, r.fleet, r.cfg.Sequence, segment.Config{MaxStep: largestStep, Logger: r.cfg.Logger})
	if err != nil {
		r.refuse(ctx, "IDs from memory", err)
		return nil
	}
	r.drains(ctx, SegmentNext, "Next of an Allocator", drain{limit: mostFromMemory, rising: true, fill: fillNext(a)})
	r.drains(ctx, SegmentTry, "TryNext of an Allocator", drain{limit: mostFromMemory, rising: true, fill: fillTryNext(a)})
	r.report.Used.Rounds += a.Stats().Reserved
	return a.Close()
}

// fromGenerator measures IDs as the facade hands them out.
func (r *runner) fromGenerator(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	g, closeClient, err := r.generator(ctx, oddeven.Config{
		Servers: r.cfg.Servers, Segment: segment.Config{MaxStep: largestStep},
		Failover: oddeven.Failover{Outage: oddeven.Wait}, // needs no worker
	})
	if err != nil {
		r.refuse(ctx, "Next of a Generator", err)
		return nil
	}
	r.drains(ctx, GeneratorNext, "Next of a Generator",
		drain{limit: mostFromMemory, rising: true, bits: r.facts.shardBits, fill: fillGenerator(g, r.facts.shardBits)})
	err = closeClient()
	r.report.Used.Rounds += g.Stats().Segment.Reserved
	return err
}

// generator opens a client and the Generator of the sequence.
func (r *runner) generator(ctx context.Context, cfg oddeven.Config) (*oddeven.Generator, func() error, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	cfg.Conns, cfg.Timeout, cfg.Logger = r.cfg.Conns, r.cfg.Timeout, r.cfg.Logger
	client, err := oddeven.Open(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Failover.Outage != oddeven.Wait {
		err = client.Ready(ctx)
	}
	var g *oddeven.Generator
	if err == nil {
		g, err = client.Sequence(ctx, r.cfg.Sequence)
	}
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return g, client.Close, nil
}

// number is a number of callers for people.
func number(callers int) string {
	if callers == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", callers)
}

// unlimited is the limit where nothing is used up.
const unlimited = math.MaxInt64
