package snowflake

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrClosed is returned by Next and NextN of a [Worker] after Close.
	ErrClosed = errors.New("snowflake: worker is closed")
	// ErrLeaseEnded is what a [*LeaseEndedError] is.
	ErrLeaseEnded = errors.New("snowflake: lease of the worker number has ended")
	// ErrExhausted is what an [*ExhaustedError] is.
	ErrExhausted = errors.New("snowflake: time bits of the layout are used up")
)

// LeaseEndedError says that the ticks leased for a worker number are over, so
// that somebody else may have the number by now. No ID was made beyond them.
type LeaseEndedError struct {
	// Worker is the worker number.
	Worker int64

	// Until is the end of the lease in UTC, by the server's clock.
	Until time.Time
}

// Error says which number, until when, and what to do.
func (e *LeaseEndedError) Error() string {
	return fmt.Sprintf("snowflake: lease of worker number %d ended at %s: it could not be renewed in time; see that a server is reachable, or lease for longer",
		e.Worker, formatTime(e.Until))
}

// Is reports whether target is ErrLeaseEnded.
func (e *LeaseEndedError) Is(target error) bool { return target == ErrLeaseEnded }

// ExhaustedError says that a layout has no ticks left. There is no wrap: no ID
// can be made any more.
type ExhaustedError struct {
	// Layout is the layout whose time bits are used up.
	Layout Layout

	// At is the first instant that it can't represent, in UTC.
	At time.Time
}

// Error says which layout, since when, and what to do.
func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("snowflake: time %d bits of %s are used up from %s on: take a layout with a later epoch, more time bits or a longer unit (%s)",
		e.Layout.Width(KindTime), formatUnit(e.Layout.unit), formatTime(e.At), e.Layout)
}

// Is reports whether target is ErrExhausted.
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

// LayoutError says what is wrong with a layout, with the arithmetic, and what to do about it.
// NewLayout, ParseLayout, Preset, Layout.WithShardBits, Layout.CheckShardBits, Layout.CheckIssue
// and Layout.CheckAbove return it as *LayoutError, as do Compose and Decompose of the zero Layout;
// find it with errors.As.
type LayoutError struct {
	// Field is what is wrong: the name of a field ("time", "datacenter", "worker", "shard",
	// "sequence"), or "bits" (their sum), "unit", "epoch", "spec" or "preset".
	Field string

	// Value is the offending value as text, without its unit when the unit is bits.
	Value string

	// Problem is a sentence with the field, the value and the arithmetic.
	Problem string

	// Remedy is what to do instead.
	Remedy string
}

// Error returns the problem and the remedy in one line.
func (e *LayoutError) Error() string {
	return "snowflake: layout: " + e.Problem + ": " + e.Remedy
}

// RangeError says that a number does not fit into its field of a layout. Layout.Compose,
// Layout.Decompose, Layout.Node and Layout.Number return it as *RangeError; find it with errors.As.
type RangeError struct {
	// Field is the name of the field, "id" for an ID as a whole, or "worker number" for
	// datacenter and worker together.
	Field string

	// Value is the number that does not fit.
	Value int64

	// Max is the largest number that does, the smallest being 0 always. It is 0 if the layout has
	// no such field.
	Max int64
}

// Error names the field, the value and the range.
func (e *RangeError) Error() string {
	if e.Max == 0 {
		return fmt.Sprintf("snowflake: %s %d out of range: the layout has no such field", e.Field, e.Value)
	}
	return fmt.Sprintf("snowflake: %s %d out of range: 0 to %d in this layout", e.Field, e.Value, e.Max)
}
