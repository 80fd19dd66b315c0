package snowflake

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// MaxBits is the largest sum of the field widths of a layout: an ID is a signed 64-bit integer
// and never negative.
const MaxBits = 63

// Kind says what a field of an ID holds.
type Kind uint8

// The kinds of fields. Only KindTime is required; each may occur once, in any order.
const (
	// KindTime is the number of ticks, of one unit each, since the epoch.
	KindTime Kind = iota + 1

	// KindDatacenter is the upper part of a worker number (see Layout.Node).
	KindDatacenter

	// KindWorker is the worker number, or its lower part if there is a datacenter field.
	KindWorker

	// KindShard is the database shard that the row with this ID lives in.
	KindShard

	// KindSequence counts IDs within a tick.
	KindSequence

	kindEnd
)

// kindCount is the largest number of fields in a layout.
const kindCount = int(kindEnd) - 1

// String returns the name used in specs and errors: "time", "datacenter", "worker", "shard" or
// "sequence".
func (k Kind) String() string {
	switch k {
	case KindTime:
		return "time"
	case KindDatacenter:
		return "datacenter"
	case KindWorker:
		return "worker"
	case KindShard:
		return "shard"
	case KindSequence:
		return "sequence"
	default:
		return "kind " + strconv.Itoa(int(k))
	}
}

// Field is one field of a layout.
type Field struct {
	// Kind is what the field holds.
	Kind Kind

	// Bits is its width, at least 1. A field without bits is left out of the layout.
	Bits int
}

// Layout says how the bits of an ID are divided into fields, how long a tick is and when tick 0
// was. It is an immutable value made by NewLayout, ParseLayout, Preset or Default; two layouts are
// equal (==) exactly if their Strings are. The zero Layout is no layout: it has no fields and
// nothing can be composed with it. All methods are safe for concurrent use.
type Layout struct {
	kinds [kindCount]Kind // highest field first, 0 after the last
	width [kindEnd]uint8  // bits, by kind; 0 for a field that is not there
	shift [kindEnd]uint8  // bits below the field, by kind
	unit  int64           // milliseconds
	epoch int64           // milliseconds of Unix time
}

// NewLayout returns the layout with the given fields, highest first.
//
// unit is the length of a tick, a positive whole number of milliseconds. epoch is the time of
// tick 0, a whole number of milliseconds, not before 1970 and not after the year 9999. There must
// be a time field, no kind may occur twice, every width is at least 1 and their sum at most
// MaxBits, and the end of time (see Exhausted) must fit into a 64-bit number of milliseconds.
// If time is the highest field, IDs are ordered by tick.
//
// The error is a *LayoutError.
func NewLayout(unit time.Duration, epoch time.Time, fields ...Field) (Layout, error) {
	if err := checkFields(fields); err != nil {
		return Layout{}, err
	}
	if err := checkTime(unit, epoch); err != nil {
		return Layout{}, err
	}
	l := assemble(unit, epoch.UnixMilli(), fields...)
	if hi, lo := bits.Mul64(uint64(l.unit), 1<<l.width[KindTime]); hi != 0 || lo > uint64(math.MaxInt64-l.epoch) {
		return Layout{}, &LayoutError{
			Field:   KindTime.String(),
			Value:   strconv.Itoa(l.Width(KindTime)),
			Problem: fmt.Sprintf("2^%d ticks of %s after the epoch exceed 2^63 milliseconds of Unix time", l.Width(KindTime), formatUnit(l.unit)),
			Remedy:  "take fewer time bits or a shorter unit",
		}
	}
	return l, nil
}

// assemble puts a layout together from values known to be valid.
func assemble(unit time.Duration, epochMilli int64, fields ...Field) Layout {
	l := Layout{unit: unit.Milliseconds(), epoch: epochMilli}
	below := 0
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		l.kinds[i] = f.Kind
		l.width[f.Kind] = uint8(f.Bits)
		l.shift[f.Kind] = uint8(below)
		below += f.Bits
	}
	return l
}

// checkFields checks kinds and widths, and their sum last, so that its arithmetic is about
// otherwise sound fields.
func checkFields(fields []Field) error {
	var seen [kindEnd]bool
	sum := 0
	for _, f := range fields {
		if f.Kind == 0 || f.Kind >= kindEnd {
			return &LayoutError{Field: f.Kind.String(), Value: strconv.Itoa(f.Bits),
				Problem: f.Kind.String() + " is not a field",
				Remedy:  "take time, datacenter, worker, shard or sequence"}
		}
		if seen[f.Kind] {
			return &LayoutError{Field: f.Kind.String(), Value: strconv.Itoa(f.Bits),
				Problem: f.Kind.String() + " occurs twice",
				Remedy:  "name each field once"}
		}
		seen[f.Kind] = true
		if f.Bits < 1 || f.Bits > MaxBits {
			return widthError(f)
		}
		sum += f.Bits
	}
	if !seen[KindTime] {
		return &LayoutError{Field: KindTime.String(), Value: "0",
			Problem: "there is no time field",
			Remedy:  "add one, such as time:41"}
	}
	if sum > MaxBits {
		return sumError(fields, sum)
	}
	return nil
}

// widthError is for a width that is wrong whatever the other fields are.
func widthError(f Field) error {
	e := &LayoutError{Field: f.Kind.String(), Value: strconv.Itoa(f.Bits)}
	if f.Bits < 1 {
		e.Problem = fmt.Sprintf("%s %d bits; at least 1", f.Kind, f.Bits)
		e.Remedy = "leave a field without bits out"
		return e
	}
	e.Problem = fmt.Sprintf("%s %d bits; at most %d", f.Kind, f.Bits, MaxBits)
	e.Remedy = "take fewer bits"
	return e
}

// sumError is for fields that are sound each but too many bits together.
func sumError(fields []Field, sum int) error {
	terms := make([]string, len(fields))
	for i, f := range fields {
		terms[i] = fmt.Sprintf("%s %d", f.Kind, f.Bits)
	}
	remedy := fmt.Sprintf("take %d bits away", sum-MaxBits)
	if sum == MaxBits+1 {
		remedy = "take 1 bit away; of a layout published with 64 bits drop the top bit of time"
	}
	return &LayoutError{
		Field:   "bits",
		Value:   strconv.Itoa(sum),
		Problem: fmt.Sprintf("%s = %d bits; at most %d", strings.Join(terms, " + "), sum, MaxBits),
		Remedy:  remedy,
	}
}

// checkTime checks unit and epoch.
func checkTime(unit time.Duration, epoch time.Time) error {
	if unit <= 0 || unit%time.Millisecond != 0 {
		return &LayoutError{Field: "unit", Value: unit.String(),
			Problem: fmt.Sprintf("unit %s is not a positive whole number of milliseconds", unit),
			Remedy:  "take 1ms, 10ms or 1s"}
	}
	if year := epoch.UTC().Year(); year < 1970 || year > 9999 || epoch.Nanosecond()%int(time.Millisecond) != 0 {
		return &LayoutError{Field: "epoch", Value: epoch.UTC().Format(time.RFC3339Nano),
			Problem: fmt.Sprintf("epoch %s is not a whole millisecond between the years 1970 and 9999", epoch.UTC().Format(time.RFC3339Nano)),
			Remedy:  "take one, such as " + formatEpoch(defaultEpoch)}
	}
	return nil
}

// IsZero reports whether l is the zero Layout, which stands for "not given" in configurations.
func (l Layout) IsZero() bool { return l == Layout{} }

// Fields returns the fields, highest first. The slice is the caller's.
func (l Layout) Fields() []Field {
	fields := make([]Field, 0, kindCount)
	for _, k := range l.kinds {
		if k != 0 {
			fields = append(fields, Field{Kind: k, Bits: l.Width(k)})
		}
	}
	return fields
}

// Width returns the width of a field in bits, 0 if the layout has no such field.
func (l Layout) Width(k Kind) int {
	if k >= kindEnd {
		return 0
	}
	return int(l.width[k])
}

// Bits returns the sum of all widths, at most MaxBits.
func (l Layout) Bits() int {
	sum := 0
	for _, w := range l.width {
		sum += int(w)
	}
	return sum
}

// max returns the largest value of a field, 0 if the layout has no such field.
func (l Layout) max(k Kind) int64 { return 1<<l.width[k] - 1 }
