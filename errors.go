package oddeven

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrClosed is returned after Close by the methods of a [Client] and its Generators
	// that make or wait for something.
	ErrClosed = errors.New("oddeven: client is closed")
	// ErrUnavailable is the kind of an [*UnavailableError].
	ErrUnavailable = errors.New("oddeven: no IDs available")
	// ErrShard is the kind of a [*ShardError].
	ErrShard = errors.New("oddeven: wrong shard")
	// ErrPlane is the kind of a [*PlaneError].
	ErrPlane = errors.New("oddeven: outside the plane")
	// ErrNotReady is the kind of a [*NotReadyError].
	ErrNotReady = errors.New("oddeven: not ready")
)

// UnavailableError says why neither a server nor the leased worker could make an
// ID. [Open] returns it when no server answers and there is no lease to take up.
type UnavailableError struct {
	// Sequence is the sequence; empty in Open and Tickets.
	Sequence string
	// Servers is why there is none from the servers.
	Servers error
	// Worker is why there is none from the worker: a *snowflake.LeaseEndedError has the
	// time when its lease ended. It is nil if no worker was to be asked.
	Worker error
}

// Error names the sequence and both reasons.
func (e *UnavailableError) Error() string {
	s := ErrUnavailable.Error()
	if e.Sequence != "" {
		s += fmt.Sprintf(" of sequence %q", e.Sequence)
	}
	s += ": " + oneLine(e.Servers)
	if e.Worker != nil {
		s += "; no worker to fall back on: " + oneLine(e.Worker)
	}
	return s
}

// Unwrap returns ErrUnavailable and both reasons.
func (e *UnavailableError) Unwrap() []error { return present(ErrUnavailable, e.Servers, e.Worker) }

// ShardError says that a shard can't be put into an ID of the fleet, or that one
// has to be named.
type ShardError struct {
	// Bits is how many shard bits the fleet has.
	Bits int
	// Shard is the shard that was asked for, and Missing says that none was.
	Shard   int64
	Missing bool
	// Remedy is what to do instead.
	Remedy string
}

// Error names the shard, the range and the remedy.
func (e *ShardError) Error() string {
	if e.Missing {
		return fmt.Sprintf("%s: the fleet has %d shard bits, so an ID needs a shard, 0 to %d: %s", ErrShard, e.Bits, int64(1)<<e.Bits-1, e.Remedy)
	}
	return fmt.Sprintf("%s: shard %d is not 0 to %d, what %d shard bits hold: %s", ErrShard, e.Shard, int64(1)<<e.Bits-1, e.Bits, e.Remedy)
}

// Unwrap returns ErrShard.
func (e *ShardError) Unwrap() error { return ErrShard }

// PlaneError says that IDs of segments and of workers could meet, with the
// arithmetic.
type PlaneError struct {
	// Problem is a sentence with the arithmetic.
	Problem string
	// Remedy is what to do.
	Remedy string
	// Err is the cause; may be nil.
	Err error
}

// Error is the problem, the cause and the remedy.
func (e *PlaneError) Error() string {
	s := fmt.Sprintf("%s: %s", ErrPlane, e.Problem)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

// Unwrap returns ErrPlane and the cause.
func (e *PlaneError) Unwrap() []error { return present(ErrPlane, e.Err) }

// NotReadyError says what a [Client] still lacks.
type NotReadyError struct {
	// Missing has an error for each thing that is missing.
	Missing []error
	// Err is why Ready gave up waiting.
	Err error
}

// Error names all that is missing.
func (e *NotReadyError) Error() string {
	said := make([]string, len(e.Missing))
	for i, err := range e.Missing {
		said[i] = oneLine(err)
	}
	return fmt.Sprintf("%s: %s", ErrNotReady, strings.Join(said, "; "))
}

// Unwrap returns ErrNotReady, what is missing, and why Ready gave up.
func (e *NotReadyError) Unwrap() []error {
	return append(present(ErrNotReady, e.Err), e.Missing...)
}

// present are the errors that are not nil.
func present(errs ...error) []error {
	var all []error
	for _, err := range errs {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// oneLine is an error as one line: joined ones have several.
func oneLine(err error) string {
	if err == nil {
		return "no reason known"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
