package snowflake

import (
	"math"
	"time"
)

// Unit returns the length of a tick, a whole number of milliseconds.
func (l Layout) Unit() time.Duration { return time.Duration(l.unit) * time.Millisecond }

// Epoch returns the time of tick 0 in UTC.
func (l Layout) Epoch() time.Time { return time.UnixMilli(l.epoch).UTC() }

// MaxTick returns the last tick that fits into the time field: 2^bits − 1.
func (l Layout) MaxTick() int64 { return l.max(KindTime) }

// Exhausted returns the first instant that can't be represented, in UTC: MaxTick has ended then,
// and no ID can be composed any more.
func (l Layout) Exhausted() time.Time {
	return time.UnixMilli(l.epoch + (l.MaxTick()+1)*l.unit).UTC()
}

// TimeOf returns the instant at which a tick begins, in UTC. A negative tick gives Epoch, one
// past MaxTick gives Exhausted.
func (l Layout) TimeOf(tick int64) time.Time {
	tick = min(max(tick, 0), l.MaxTick()+1)
	return time.UnixMilli(l.epoch + tick*l.unit).UTC()
}

// TickOf returns the tick that t lies in. It is negative before the epoch and larger than MaxTick
// from Exhausted on; Compose refuses both.
func (l Layout) TickOf(t time.Time) int64 {
	if l.unit == 0 {
		return 0 // the zero Layout
	}
	// Milliseconds and their difference to the epoch, which is not negative, overflow only here,
	// 292 million years around 1970. NewLayout sees to it that time ends before that.
	const last = math.MaxInt64 / 1000
	var milli int64
	switch sec := t.Unix(); {
	case sec >= last:
		milli = math.MaxInt64
	case sec <= -last:
		milli = math.MinInt64 + l.epoch
	default:
		milli = max(t.UnixMilli(), math.MinInt64+l.epoch)
	}
	return floorDiv(milli-l.epoch, l.unit)
}

// floorDiv divides towards minus infinity, so that the instants just before the epoch are tick −1
// and not tick 0. b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
