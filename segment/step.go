package segment

import (
	"math"
	"time"
)

const (
	maxGrowth = 4 // of a refill over the segment in use
	maxShrink = 2
	maxLeap   = 64 // the same as maxGrowth, of a refill that callers wait for
	// minPeriod bounds the rate: clocks tick coarsely.
	minPeriod = time.Microsecond
)

// pacer is the step rule: how many numbers to reserve at a time, and when. It
// reads no clock; the owner tells it what happened.
//
// The rate is numbers over the time in which they were being used: time that
// callers spent waiting for a refill says nothing about how fast they would be.
// A burst that ends soon looks like a very high rate, so growth is bound to the
// size of the segment in use, which callers do get through, and not to what was
// asked for last.
type pacer struct {
	interval float64 // seconds that a refill is to last
	min, max int64   // bounds of the step
	step     int64   // of the last refill
	current  int64   // numbers in the segment in use; 0 before the first and after forget
	rate     float64 // numbers per second; 0 before it is known
	latency  float64 // seconds that a refill takes, rather too long than too short
}

// used notes that n numbers were used within a period.
func (p *pacer) used(n int64, within time.Duration) {
	if n > 0 {
		p.rate = float64(n) / max(within, minPeriod).Seconds()
	}
}

// refilled notes how long a refill took. What takes longer than usual counts
// at once, what takes less by and by.
func (p *pacer) refilled(took time.Duration) {
	p.latency = max(took.Seconds(), p.latency+(took.Seconds()-p.latency)/8)
}

// began notes that a segment of count numbers comes into use.
func (p *pacer) began(count int64) { p.current = count }

// forget notes that numbers got too old before they were used: what was known
// of the rate is of no use any more.
func (p *pacer) forget() { p.rate, p.current = 0, 0 }

// reserve is how many numbers must be left of count when the next refill
// begins: a quarter of them, or what is used in four times the time a refill
// takes. But a sixteenth is used in any case, because only that shows that a
// burst goes on.
func (p *pacer) reserve(count int64) int64 {
	return min(count-count/16, max(count/4, clamp(4*p.rate*p.latency)))
}

// need is how many numbers are used in an interval.
func (p *pacer) need() int64 { return clamp(p.rate * p.interval) }

// next is the size of the next refill, while ahead numbers are reserved and
// not used: what is used in an interval, not more than 4 times or less than half
// of the segment in use, and never so much that more than one and a half intervals
// would be reserved ahead; within min and max in any case. at least wanted, as
// far as max allows, because somebody waits for so many.
func (p *pacer) next(ahead, wanted int64) int64 {
	n := p.need()
	if p.current > 0 {
		n = min(max(n, p.current/maxShrink), mul(p.current, maxGrowth))
	}
	if p.rate > 0 {
		n = min(n, clamp(1.5*p.rate*p.interval)-ahead)
	}
	n = min(max(n, p.min, wanted), p.max)
	p.step = n
	return n
}

// enlarge is the size of a second refill, when callers wait and coming numbers
// are under way; 0 if those will do. It is as large as what is used in an
// interval, of which the first refill will be a part, but not more than 64 times
// the segment that they have used up.
func (p *pacer) enlarge(coming, wanted int64) int64 {
	n := min(p.need(), mul(p.current, maxLeap), p.max)
	if wanted > coming {
		n = max(n, min(coming+wanted, p.max))
	}
	if n/2 < coming {
		return 0
	}
	p.step = n
	return n
}

// lasts is how long n numbers last at the present rate.
func (p *pacer) lasts(n int64) time.Duration {
	if p.rate <= 0 {
		return math.MaxInt64
	}
	return seconds(float64(n) / p.rate)
}

// seconds is a duration, as long as one can be.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}

// clamp converts to what all bounds are safe with.
func clamp(f float64) int64 { return int64(min(f, 1<<53)) }

// mul multiplies without overflow.
func mul(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
