package bench

import (
	"math"
	"math/bits"
	"time"
)

const (
	// fineBits makes 64 buckets out of every power of two, so that a bucket is
	// at most 1/64 of what is in it wide.
	fineBits = 6
	fine     = 1 << fineBits
	// coarsest is the power of two, in nanoseconds, that nothing is told apart
	// above: 18 minutes.
	coarsest = 40
)

// latencies records durations in memory that does not grow: exact below 64 ns
// and to 1/64, 1.6 %, from there on. Rejected: to keep every one, which grows with
// the rate, and to keep a sample, which loses the rare ones that p99.9 is about.
// Not safe for concurrent use: every caller has its own, merged in the end.
type latencies struct {
	buckets [fine + (coarsest-fineBits)*fine]int64
	count   int64
	max     time.Duration // exact
}

// bucketOf is the bucket of a duration.
func bucketOf(d time.Duration) int {
	v := uint64(min(max(0, d), 1<<coarsest-1))
	if v < fine {
		return int(v)
	}
	power := bits.Len64(v) - 1 - fineBits
	return fine + power*fine + int(v>>power)&(fine-1)
}

// boundOf is the largest duration of a bucket.
func boundOf(i int) time.Duration {
	if i < fine {
		return time.Duration(i)
	}
	power, rest := (i-fine)/fine, (i-fine)%fine
	return time.Duration(fine+rest+1)<<power - 1
}

func (l *latencies) add(d time.Duration) {
	l.buckets[bucketOf(d)]++
	l.count++
	l.max = max(l.max, d)
}

func (l *latencies) merge(other *latencies) {
	for i, n := range other.buckets {
		l.buckets[i] += n
	}
	l.count += other.count
	l.max = max(l.max, other.max)
}

// quantile is what the share q, 0 to 1, of the durations did not exceed: not
// less than the truth, and at most 1/64 more. 0 if there are none.
func (l *latencies) quantile(q float64) time.Duration {
	if l.count == 0 {
		return 0
	}
	left := max(1, int64(math.Ceil(q*float64(l.count))))
	for i, n := range l.buckets {
		if left -= n; left <= 0 {
			return min(boundOf(i), l.max)
		}
	}
	return l.max
}

// summary is what the report says of them; nil if there are none.
func (l *latencies) summary() *Latency {
	if l.count == 0 {
		return nil
	}
	return &Latency{
		P50: l.quantile(0.5).Nanoseconds(), P90: l.quantile(0.9).Nanoseconds(), P99: l.quantile(0.99).Nanoseconds(),
		P999: l.quantile(0.999).Nanoseconds(), Max: l.max.Nanoseconds(),
	}
}
