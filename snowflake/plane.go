package snowflake

import (
	"fmt"
	"strconv"
	"time"
)

// WithShardBits derives the layout of a fleet whose IDs carry s shard bits at the lowest end: the
// bits come from the sequence, so that the sum stays the same. The default layout with s = 4
// becomes time:41,worker:10,sequence:8,shard:4. With s equal to the width of the sequence there is
// no sequence left: one ID per worker, shard and tick. With s = 0, or if l has a shard field
// already, the result is l itself after CheckShardBits.
//
// Use it for the default layout or a preset, and CheckShardBits for a layout that the user spelled
// out. The error is a *LayoutError with the arithmetic: s is negative, larger than the sequence, or
// differs from the shard field that is there.
func (l Layout) WithShardBits(s int) (Layout, error) {
	if l.width[KindShard] > 0 || s <= 0 {
		if err := l.CheckShardBits(s); err != nil {
			return Layout{}, err
		}
		return l, nil
	}
	sequence := l.Width(KindSequence)
	if s > sequence {
		return Layout{}, &LayoutError{Field: KindShard.String(), Value: strconv.Itoa(s),
			Problem: fmt.Sprintf("sequence %d - shard %d = %d bits", sequence, s, sequence-s),
			Remedy:  fmt.Sprintf("take at most %d shard bits, or a layout with a shard field of its own", sequence)}
	}
	var fields []Field
	for _, f := range l.Fields() {
		if f.Kind == KindSequence {
			f.Bits -= s
		}
		if f.Bits > 0 {
			fields = append(fields, f)
		}
	}
	return assemble(l.Unit(), l.epoch, append(fields, Field{Kind: KindShard, Bits: s})...), nil
}

// CheckShardBits checks that l fits a fleet whose IDs carry s shard bits: its shard field is the
// lowest and has exactly s bits; with s = 0 it has none. The error is a *LayoutError with the
// arithmetic and, where there is one, the spec of a layout that fits.
func (l Layout) CheckShardBits(s int) error {
	have := l.Width(KindShard)
	if have == s && l.shift[KindShard] == 0 {
		return nil
	}
	e := &LayoutError{Field: KindShard.String(), Value: strconv.Itoa(have)}
	switch {
	case s < 0:
		e.Value = strconv.Itoa(s)
		e.Problem = fmt.Sprintf("shard %d bits; at least 0", s)
		e.Remedy = "give 0 for a fleet without shard bits"
	case have == s:
		e.Problem = fmt.Sprintf("shard %d has %d bits below it; the fleet's shard bits are the lowest", have, l.shift[KindShard])
		e.Remedy = "name the shard field last"
	case have > 0:
		e.Problem = fmt.Sprintf("shard %d bits; the fleet has %d", have, s)
		e.Remedy = fmt.Sprintf("make them %d, at the lowest end", s)
		if s == 0 {
			e.Remedy = "leave the shard field out"
		}
	default:
		e.Problem = fmt.Sprintf("there is no shard field; the fleet has %d shard bits", s)
		e.Remedy = fmt.Sprintf("add shard:%d at the lowest end", s)
		if fit, err := l.WithShardBits(s); err == nil {
			e.Remedy = fmt.Sprintf("take them from the sequence (%d - %d = %d bits): %s",
				l.Width(KindSequence), s, fit.Width(KindSequence), fit)
		}
	}
	return e
}

// CheckIssue checks that IDs can be issued with l and not only decoded: it has a worker field, so
// that two workers never make the same ID. The error is a *LayoutError.
func (l Layout) CheckIssue() error {
	if l.WorkerBits() > 0 {
		return nil
	}
	return &LayoutError{Field: KindWorker.String(), Value: "0",
		Problem: "there is no worker field, so two workers would issue the same IDs; this layout is for decoding only",
		Remedy:  "take a layout with a worker field, such as " + specForm}
}

// CheckAbove checks that every ID composed at the time from or later is at or above ceiling, so
// that it can't meet a ticket or segment ID, all of which are below it. The smallest ID of a tick
// is tick x 2^b, with b bits below the time field; so this is true from tick ceiling / 2^b, rounded
// up, until Exhausted, for every worker number.
//
// The default layout is at or above 2^53 from tick 2^53 / 2^22 = 2^31 on: 24.9 days after its
// epoch. The error is a *LayoutError with this arithmetic for l; it is returned also if from is not
// before Exhausted.
func (l Layout) CheckAbove(ceiling int64, from time.Time) error {
	tick, need := l.TickOf(from), l.ticksTo(ceiling)
	switch {
	case tick > l.MaxTick():
		return l.usedUpError(from)
	case need > l.MaxTick():
		return l.neverAboveError(ceiling, need)
	case tick < need:
		return l.belowError(ceiling, need, from)
	default:
		return nil
	}
}

// ticksTo returns the first tick all of whose IDs are at or above the ceiling.
func (l Layout) ticksTo(ceiling int64) int64 {
	b := l.shift[KindTime]
	need := max(ceiling, 0) >> b
	if need<<b < ceiling {
		need++
	}
	return need
}

// usedUpError is for a time at which nothing can be composed any more.
func (l Layout) usedUpError(from time.Time) error {
	return &LayoutError{Field: KindTime.String(), Value: strconv.Itoa(l.Width(KindTime)),
		Problem: fmt.Sprintf("time %d bits of %s are used up from %s on; it is %s",
			l.Width(KindTime), formatUnit(l.unit), formatTime(l.Exhausted()), formatTime(from)),
		Remedy: "take a later epoch, more time bits or a longer unit"}
}

// neverAboveError is for a layout whose largest tick is below the ceiling.
func (l Layout) neverAboveError(ceiling, need int64) error {
	return &LayoutError{Field: KindTime.String(), Value: strconv.Itoa(l.Width(KindTime)),
		Problem: fmt.Sprintf("IDs never reach the ceiling %d: with %d bits below time that takes tick %d, and the last of %d bits is %d",
			ceiling, l.shift[KindTime], need, l.Width(KindTime), l.MaxTick()),
		Remedy: "take more bits for time or below it"}
}

// belowError is for a time at which IDs are still below the ceiling.
func (l Layout) belowError(ceiling, need int64, from time.Time) error {
	b, rounded := l.shift[KindTime], ""
	if need<<b != ceiling {
		rounded = " (rounded up)"
	}
	days := float64(need) * float64(l.unit) / float64((24 * time.Hour).Milliseconds())
	remedy := "take more bits below time, or a shorter unit"
	if latest := from.UnixMilli() - need*l.unit; latest >= 0 {
		remedy = "take an earlier epoch, at the latest " + formatEpoch(latest)
	}
	return &LayoutError{Field: "epoch", Value: formatEpoch(l.epoch),
		Problem: fmt.Sprintf("IDs reach the ceiling %d at tick %d / 2^%d = %d%s, and %d x %s is %.1f days: the epoch %s makes that %s; it is %s",
			ceiling, ceiling, b, need, rounded, need, formatUnit(l.unit), days,
			formatEpoch(l.epoch), formatTime(l.TimeOf(need)), formatTime(from)),
		Remedy: remedy}
}

// formatTime writes an instant with milliseconds for an error message.
func formatTime(t time.Time) string { return formatEpoch(t.UnixMilli()) }
