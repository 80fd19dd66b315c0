package snowflake

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// parked is where state is put while there is nothing to hand out. Nobody
// accepts a value below zero, and it would take 2^61 claims to get near it.
const parked = math.MinInt64 / 2

// generator makes the IDs of one worker number. Its whole state is one number,
// logical time: tick and sequence together, tick << seqBits | sequence.
//
//	lo            state                    hi
//	│ handed out ...│ may be handed out ... │ later ticks ...
//
// state is the last value that somebody has claimed, by adding 1 to it. Who has
// claimed v looks at hi, then at lo, and may use v if lo ≤ v < hi. A timer, which
// runs only while the worker is used, raises state to the present and hi to
// what may be borrowed of the future; no clock is read in between.
//
// No value is handed out twice:
//
//   - Every change of state is an Add, or a compare-and-swap to something that is
//     not below any value claimed before; parking apart, state never goes down.
//     What is parked is remembered in real, and state goes on at or above it. So
//     no two claims are of the same value, and one claim uses its value once.
//   - A value that was claimed at or above hi may be used by its claimant when hi
//     has been raised, and by nobody else.
//
// No value lies outside the rectangle:
//
//   - lo and hi are its ends in values, hi no more than the end of it.
//   - When another rectangle takes its place, lo is raised before hi. Who sees the
//     new hi sees the new lo as well, and so refuses what was claimed beyond the
//     end of the old rectangle. Who sees the old hi refuses all of the new one.
//
// Nothing that was used lies at or above firstUnused: revoking parks state, so
// every claim of before is at most real, and those at or above hi are refused.
type generator struct {
	_      [64]byte     // state has a cache line of its own
	state  atomic.Int64 // claimed last; parked, or some claims above it, if there is nothing to claim
	_      [64]byte     //
	hi, lo atomic.Int64 // read by everybody, seldom written

	// How an ID is put together from a value; see compose.
	node      int64 // the bits of datacenter and worker in place
	seqMask   int64
	seqBits   uint8
	seqShift  uint8
	timeShift uint8
	flat      bool // time is directly above the sequence: an ID is value << seqShift | node

	// Never changed once there are callers.
	layout Layout
	number int64
	ahead  int64         // how far ticks may be borrowed, in milliseconds
	period time.Duration // of the timer
	strict bool          // never ahead of the clock by more than ahead, not even at the start of a rectangle

	work sync.WaitGroup // the timer's function; Add only under mu and before closed
	_    [64]byte

	mu      sync.Mutex // guards all below and all changes of hi and lo; never held across I/O or a wait
	rect    rectangle
	clock   clock
	err     error // why nothing is handed out: not granted yet, revoked or closed
	closed  bool
	real    int64 // state from before it was parked
	used    int64 // after a revocation: the last value that may have been used
	first   int64 // real at the beginning, for Stats
	skipped int64 // values that were never claimed because time has passed them
	timer   *time.Timer
	armed   bool          // the timer is going to call tick
	due     time.Time     // when
	lastPos int64         // position at the last tick of the timer; unknown: -1
	opens   time.Time     // when hi can be raised again
	wake    chan struct{} // closed when callers that wait should look again; nil if none wait
	waiting int           // callers
	counts  counts
	warning warning
}

// newGenerator makes a generator without a rectangle: until grant is called,
// Next returns errNotGranted. maxAhead is how far ticks may be borrowed. The
// error is a *LayoutError for a layout that can't issue, or a
// *ticket.ConfigError for a number out of range.
func newGenerator(l Layout, number int64, maxAhead time.Duration) (*generator, error) {
	if l.IsZero() {
		return nil, errZeroLayout()
	}
	if err := l.CheckIssue(); err != nil {
		return nil, err
	}
	datacenter, worker, err := l.Node(number)
	if err != nil {
		return nil, &ticket.ConfigError{Field: "number", Value: number,
			Remedy: fmt.Sprintf("must be 0 to %d, the worker numbers of %s", l.MaxWorker(), l)}
	}
	g := &generator{
		node:      l.compose(Parts{Datacenter: datacenter, Worker: worker}),
		seqMask:   l.max(KindSequence),
		seqBits:   l.width[KindSequence],
		seqShift:  l.shift[KindSequence],
		timeShift: l.shift[KindTime],
		layout:    l,
		number:    number,
		ahead:     maxAhead.Milliseconds(),
		period:    max(time.Millisecond, l.Unit()),
		err:       errNotGranted,
		warning:   warning{before: defaultWarnBefore, logger: slog.New(slog.DiscardHandler)},
	}
	if g.seqBits == 0 {
		g.seqShift = g.timeShift
	}
	g.flat = g.timeShift == g.seqShift+g.seqBits
	g.real = rand.Int64N(g.startMask()+1) - 1
	g.first, g.used = g.real, g.real
	g.state.Store(parked)
	return g, nil
}

// compose makes the ID of a value. A shard field stays 0.
func (g *generator) compose(v int64) int64 {
	return v>>(g.seqBits&63)<<(g.timeShift&63) | v&g.seqMask<<(g.seqShift&63) | g.node
}

// owns reports whether a value that the caller has claimed may be used. The
// order of the two loads matters: see generator.
func (g *generator) owns(v int64) bool { return v < g.hi.Load() && v >= g.lo.Load() }

// next returns the next ID. It looks at ctx only when it has to wait.
func (g *generator) next(ctx context.Context) (int64, error) {
	v := g.state.Add(1)
	if g.owns(v) {
		return g.compose(v), nil
	}
	return g.nextOf(ctx, v)
}

// tryNext is next without waiting.
func (g *generator) tryNext() (int64, bool) {
	v := g.state.Add(1)
	if g.owns(v) {
		return g.compose(v), true
	}
	return g.tryNextOf(v)
}

// nextOf is next when the value v that was claimed may not be used, or not yet.
func (g *generator) nextOf(ctx context.Context, v int64) (int64, error) {
	var w waiter
	defer w.end(g)
	for {
		g.mu.Lock()
		settled, ok, err := g.settleLocked(v)
		switch {
		case err != nil:
			g.mu.Unlock()
			return 0, err
		case ok:
			g.mu.Unlock()
			return g.compose(settled), nil
		}
		v = settled
		if err := w.waitUnlocking(ctx, g); err != nil {
			return 0, err
		}
	}
}

// tryNextOf is tryNext when the value v that was claimed may not be used, or not yet.
func (g *generator) tryNextOf(v int64) (int64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok, err := g.settleLocked(v)
	if !ok || err != nil {
		return 0, false
	}
	return g.compose(v), true
}

// settleLocked returns v, or another value if v is of no use, and whether it
// may be used now. A value that may be used later is the caller's to keep.
func (g *generator) settleLocked(v int64) (settled int64, ok bool, err error) {
	g.lastPos = -1
	for {
		if g.owns(v) {
			return v, true, nil
		}
		if err := g.advanceLocked(time.Now()); err != nil {
			return 0, false, err
		}
		if g.owns(v) {
			return v, true, nil
		}
		if v >= g.lo.Load() || isParked(g.state.Load()) {
			return v, false, nil
		}
		v = g.state.Add(1)
	}
}
