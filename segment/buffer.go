package segment

import (
	"math"
	"sync/atomic"
)

// parked is where pos is put while there is nothing to hand out. Nobody accepts
// a number below zero, so however often TryNext is called meanwhile, no number
// of the next range is used up by it.
const parked = math.MinInt64 / 2

// buffer hands out the numbers of one range after the other. It does no I/O and
// reads no clock.
//
// take, takeN and what they are made of, claim and owns, may be called by any
// number of goroutines at any time, without a lock. All other methods need the
// lock of the owner, and so do the fields below the line.
//
// pos is the last number that somebody has claimed, by adding stride. Who
// claims v looks at hi, then at lo, and may have v if lo ≤ v ≤ hi. A switch
// raises pos first, then lo, then hi, and none of these ever goes down (but pos,
// when it is parked):
//
//	old range            new range
//	lo ──────── hi        lo ──────── hi
//	    pos ───────────> pos
//
// So who sees the new hi sees the new lo as well, which is above everything
// claimed before the switch; and who sees the old hi refuses all of the new
// range. Each number is claimed once, so it is handed out at most once; pos only
// grows, so numbers do.
type buffer struct {
	_      [0]atomic.Int64 // aligns the words where integers of 64 bits are not
	pos    word            // on a cache line that nothing else is on
	_      [56]byte
	lo, hi word  // read by everybody, seldom written
	stride int64 // never changes once there are callers

	// --- under the owner's lock

	last int64 // of the current range; hi may still be below it
	real int64 // pos from before it was parked
	lost int64 // numbers that were skipped by switches: of no range any more
}

// init is called once, before there are callers. Everything is to be above.
func (b *buffer) init(stride, above int64) {
	b.stride = stride
	b.real, b.last = above, above
	b.pos.Store(parked)
	b.hi.Store(above)
	b.lo.Store(above + 1)
}

// claim claims the next number, which may be used only if the buffer owns it.
func (b *buffer) claim() int64 { return atomic.AddInt64((*int64)(&b.pos), b.stride) }

// owns reports whether a number that the caller has claimed may be used. The
// order of the two loads matters: see buffer. A number that may not be used now
// may become usable when hi is raised.
func (b *buffer) owns(v int64) bool {
	return v <= atomic.LoadInt64((*int64)(&b.hi)) && v >= atomic.LoadInt64((*int64)(&b.lo))
}

// takeN claims up to n numbers in a row, as many as there are up to hi, and
// returns the first and how many. It never claims beyond hi, which would use up
// numbers of the next range. n must be 1 to MaxN.
func (b *buffer) takeN(n int64) (first, got int64) {
	for {
		pos, hi := b.pos.Load(), b.hi.Load()
		if pos < 0 || pos >= hi {
			return 0, 0
		}
		got = n
		if hi-pos < n*b.stride { // a division takes as long as the rest
			got = (hi - pos) / b.stride
		}
		if got == 0 {
			return 0, 0
		}
		if !b.pos.CompareAndSwap(pos, pos+got*b.stride) {
			continue
		}
		if first, last := pos+b.stride, pos+got*b.stride; last <= b.hi.Load() && first >= b.lo.Load() {
			return first, got
		}
	}
}

// publish makes first … last the current range; nobody gets a number of it
// before reveal. It returns how many numbers there are, which is less than the
// whole if claims have gone beyond first already. If nothing is left it changes
// nothing and returns 0. first must be above the last of the range before.
func (b *buffer) publish(first, last int64) (count int64) {
	for {
		pos := b.pos.Load()
		claimed := pos
		if pos < 0 {
			claimed = b.real
		}
		start := first - b.stride
		if claimed > start {
			start += (claimed - start + b.stride - 1) / b.stride * b.stride
		}
		if start >= last {
			b.lost += (last-first)/b.stride + 1
			return 0
		}
		if !b.pos.CompareAndSwap(pos, start) {
			continue
		}
		b.lost += (start + b.stride - first) / b.stride
		b.last = last
		b.lo.Store(start + b.stride)
		return (last - start) / b.stride
	}
}

// reveal lets callers have the current range but for its last keep numbers.
func (b *buffer) reveal(keep int64) {
	b.hi.Store(max(b.hi.Load(), b.last-keep*b.stride))
}

// hidden reports whether all that is left of the current range is kept back.
// (Who lost a race for the end of the range before comes and asks while callers
// have all they need.)
func (b *buffer) hidden() bool {
	hi := b.hi.Load()
	return hi < b.last && b.pos.Load() >= hi
}

// claimed is the last number claimed.
func (b *buffer) claimed() int64 {
	if pos := b.pos.Load(); pos >= 0 {
		return pos
	}
	return b.real
}

// left is how many numbers of the current range nobody has claimed; 0 while
// parked.
func (b *buffer) left() int64 {
	pos := b.pos.Load()
	if pos < 0 || pos >= b.last {
		return 0
	}
	return (b.last - pos) / b.stride
}

// park gives up what is left of the current range, if anything is, and returns
// how many numbers that was.
func (b *buffer) park() (left int64) {
	for {
		pos := b.pos.Load()
		if pos < 0 {
			// Claims have moved it; put back, it never gets near zero.
			if pos <= parked/2 || b.pos.CompareAndSwap(pos, parked) {
				return 0
			}
			continue
		}
		if b.pos.CompareAndSwap(pos, parked) {
			b.real = pos
			return max(0, b.last-pos) / b.stride
		}
	}
}

// stop ends it: nothing is handed out any more.
func (b *buffer) stop() {
	b.park()
	b.lo.Store(math.MaxInt64)
}

// word is an atomic.Int64 of which claim and owns can be inlined into callers of
// Next: the methods of atomic.Int64 count too much for that. It is read and
// written by its methods and by sync/atomic only.
type word int64

// Load returns the value.
func (w *word) Load() int64 { return atomic.LoadInt64((*int64)(w)) }

// Store changes the value.
func (w *word) Store(v int64) { atomic.StoreInt64((*int64)(w), v) }

// CompareAndSwap changes the value if it is what the caller takes it for.
func (w *word) CompareAndSwap(is, to int64) bool {
	return atomic.CompareAndSwapInt64((*int64)(w), is, to)
}
