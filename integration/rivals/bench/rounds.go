package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oddeven/oddeven/integration/measure"
)

// Options say how long to measure.
type Options struct {
	Window   time.Duration // of one line in one round
	Rounds   int           // that count; one more warms up
	IDs      int           // of a product in this process, for duplicates
	Paced    time.Duration // of drawing at a steady rate, for what is reserved
	Kill     bool          // kill servers and draw on
	Scenes   []scene       // of the failover
	Flavors  []string      // of servers; none: what there is
	Progress io.Writer
}

// A memory is a line whose operation needs no server, or not often: each caller
// has a loop of its own.
type memory struct {
	*line
	caller func() func(n int) error
	before func() // a turn, or nil
	n      int    // IDs of a turn
}

// turns measures lines of memory with a number of callers: in each sweep every
// line has a turn of a fraction of a millisecond or a few, so that all of them meet
// the same machine.
func (o Options) turns(lines []memory, callers int) error {
	for round := range o.Rounds + 1 {
		costs := make([][]float64, len(lines))
		for began := time.Now(); time.Since(began) < o.Window*time.Duration(len(lines)); {
			for i, l := range lines {
				cost, err := l.turn(callers)
				if err != nil {
					return fmt.Errorf("measure %s: %w", l.name, err)
				}
				costs[i] = append(costs[i], cost)
			}
		}
		for i, l := range lines {
			l.note(round, callers, measure.Median(costs[i]))
		}
		fmt.Fprintf(o.Progress, "  %s: round %d of %d\n", plural(callers), round, o.Rounds)
	}
	return nil
}

func (l memory) turn(callers int) (float64, error) {
	if l.before != nil {
		l.before()
	}
	loops := make([]func(int) error, callers)
	for i := range loops {
		loops[i] = l.caller()
	}
	took, err := measure.SharedBatch(l.n, loops)
	return took.Seconds() / float64(l.n*callers), err
}

// note keeps the cost of a round; the first one, 0, only warms up.
func (l *line) note(round, callers int, cost float64) {
	if round == 0 {
		return
	}
	l.rounds[callers] = append(l.rounds[callers], cost)
	l.costs[callers] = measure.Median(l.rounds[callers])
}

// A draw is a line whose operation asks a server. It returns the first of the
// numbers that it got; every one is kept.
type draw struct {
	*line
	next   func(context.Context) (int64, error)
	stride int64     // see find; 0: what it returns are no IDs
	sparse bool      // numbers between IDs say nothing
	kept   [][]int64 // by caller
}

// rounds lets the lines of servers take turns, whose order changes from round to
// round.
func (o Options) rounds(ctx context.Context, lines []*draw, callers int) error {
	for round := range o.Rounds + 1 {
		for i := range lines {
			l := lines[(i+round)%len(lines)]
			cost, err := measure.PerCaller(ctx, callers, o.Window, l.keep(callers))
			if errors.Is(err, measure.ErrNothing) { // deadlock after deadlock
				cost, err = o.Window.Seconds(), nil
			}
			if err != nil {
				return fmt.Errorf("measure %s: %w", l.name, err)
			}
			l.note(round, callers, cost)
		}
		fmt.Fprintf(o.Progress, "  %s: round %d of %d\n", plural(callers), round, o.Rounds)
	}
	return nil
}

// keep is the operation of a caller, who keeps what it gets in a slice of its own.
func (d *draw) keep(callers int) func(context.Context, int) error {
	for len(d.kept) < callers {
		d.kept = append(d.kept, nil)
	}
	return func(ctx context.Context, caller int) error {
		first, err := d.next(ctx)
		if err == nil && d.stride != 0 {
			d.kept[caller] = append(d.kept[caller], first)
		}
		return err
	}
}

// all is what the callers have kept.
func (d *draw) all() []int64 { return slices.Concat(d.kept...) }

// look finds duplicates among all that was kept.
func (d *draw) look() {
	if d.stride == 0 { // no IDs
		return
	}
	d.found, d.looked = find(d.all(), d.each, d.stride), true
	if d.found.ids > 0 && !d.sparse {
		d.reserve = float64(d.found.passed) / float64(d.found.ids)
	}
}

const (
	killDraws = 100 // operations
	killLimit = time.Minute
	killPause = 10 * time.Millisecond // between attempts while a server comes back
)

// survive lets kill do its work and draws again: killed is how many of these IDs
// have been handed out before, in the whole run.
func survive(ctx context.Context, lines []*draw, kill func()) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	kill()
	for _, l := range lines {
		again := make([]int64, 0, killDraws)
		for range killDraws {
			first, err := insist(ctx, l.next)
			if err != nil {
				return fmt.Errorf("draw %s after a kill: %w", l.name, err)
			}
			again = append(again, first)
		}
		if l.stride != 0 {
			all := find(slices.Concat(l.all(), again), l.each, l.stride)
			l.killed, l.kill = all.duplicates-l.found.duplicates, true
		}
	}
	return nil
}

// insist repeats a draw until it succeeds or ctx ends.
func insist(ctx context.Context, next func(context.Context) (int64, error)) (int64, error) {
	tick := time.NewTicker(killPause)
	defer tick.Stop()
	for {
		first, err := next(ctx)
		if err == nil || ctx.Err() != nil {
			return first, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, err
		}
	}
}
