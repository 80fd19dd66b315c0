package segment

import (
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/ticket"
)

var (
	// ErrClosed is returned by Next and NextN of an [Allocator] after Close.
	ErrClosed = errors.New("segment: allocator is closed")
	// ErrUnavailable is returned when the IDs at hand are used up and no more
	// could be reserved. The error wraps it together with the cause.
	ErrUnavailable = errors.New("segment: no IDs available")
	// ErrExhausted is returned when a sequence has reached its ceiling.
	ErrExhausted = errors.New("segment: ceiling of the sequence reached")
	// ErrUnknownSequence is the kind of an [*UnknownSequenceError].
	ErrUnknownSequence = errors.New("segment: unknown sequence")
	// ErrScheme is returned for a range that breaks the scheme. None of it was used.
	ErrScheme = errors.New("segment: range breaks the scheme")
)

// UnknownSequenceError is returned by [Open] when no server that answers has the
// sequence, and by the methods of an [Allocator], once the IDs at hand are used up,
// when every server answers and none has it any more, because it was deleted.
type UnknownSequenceError struct {
	Sequence string
	Err      error // one *ticket.ServerError for each server
}

// Error names the sequence and the command that creates it.
func (e *UnknownSequenceError) Error() string {
	return fmt.Sprintf("segment: unknown sequence %q: create it with `oddeven sequence create`, or set Config.Create (%v)", e.Sequence, e.Err)
}

// Unwrap returns ErrUnknownSequence and what each server said.
func (e *UnknownSequenceError) Unwrap() []error { return []error{ErrUnknownSequence, e.Err} }

// errDeleted is in the error of a server that has a tombstone.
var errDeleted = fmt.Errorf("%w: deleted", ErrUnknownSequence)

// isFinal reports whether waiting alone does not help.
func isFinal(err error) bool {
	if errors.Is(err, ticket.ErrUnavailable) {
		return false // what one server said does not count while others are down
	}
	return errors.Is(err, ticket.ErrClosed) || errors.Is(err, ErrExhausted) || errors.Is(err, ErrUnknownSequence)
}
