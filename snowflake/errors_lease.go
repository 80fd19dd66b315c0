package snowflake

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoNumber is the kind of a [*NoNumberError].
	ErrNoNumber = errors.New("snowflake: no worker number is free")
	// ErrLeaseLost is the kind of a [*LeaseLostError].
	ErrLeaseLost = errors.New("snowflake: lease lost")
	// ErrStateFile is the kind of a [*StateFileError].
	ErrStateFile = errors.New("snowflake: state file")
)

// NoNumberError is returned by Open when every worker number of every server
// that could be reached is leased or parked.
type NoNumberError struct {
	// Next is when the first of them is free, by the clock of its server, unless
	// its holder renews before; in UTC. It is zero if the servers have no numbers.
	Next time.Time
	// In is how long that is from now on.
	In time.Duration
	// Parked says that the servers keep numbers back because they were restarted;
	// these do become free at that time if their holders are gone.
	Parked bool
}

// Error says when to try again.
func (e *NoNumberError) Error() string {
	if e.Next.IsZero() {
		return ErrNoNumber.Error() + ": the servers have no worker numbers; run `oddeven migrate up`"
	}
	why := "all are leased"
	if e.Parked {
		why = "all are leased, or parked because a server was restarted"
	}
	return fmt.Sprintf("%s: %s; the next may be at %s, in %s. Wait, close workers that are not needed, take shorter leases, or a layout with more worker bits",
		ErrNoNumber, why, formatTime(e.Next), e.In.Round(time.Millisecond))
}

// Unwrap returns ErrNoNumber.
func (e *NoNumberError) Unwrap() error { return ErrNoNumber }

// LeaseLostError is why a Worker has stopped for good: the server no longer has
// its lease, which was released by an operator, or forgotten by the server and
// passed on. Open gets another one.
type LeaseLostError struct {
	// Worker is the worker number.
	Worker int64
	// Problem is what was found instead.
	Problem string
}

// Error says which lease and why.
func (e *LeaseLostError) Error() string {
	return fmt.Sprintf("%s: worker number %d: %s. Close the worker and open another", ErrLeaseLost, e.Worker, e.Problem)
}

// Unwrap returns ErrLeaseLost.
func (e *LeaseLostError) Unwrap() error { return ErrLeaseLost }

// LayoutConflictError is returned by Open when Config.Layout is not the layout
// of the fleet.
type LayoutConflictError struct {
	// Config is the layout that was asked for.
	Config Layout
	// Fleet is the layout in the servers' rows, by which all workers issue.
	Fleet Layout
}

// Error names both.
func (e *LayoutConflictError) Error() string {
	return fmt.Sprintf("snowflake: Layout = %s: the fleet has %s; leave it out, or give the fleet's", e.Config, e.Fleet)
}

// StateFileError says what is wrong with Config.StateFile. Open returns it when
// the file can't be used at all, and a Worker when it can neither be written nor
// removed any more.
type StateFileError struct {
	// Path is the file.
	Path string
	// Problem is what went wrong.
	Problem string
	// Remedy is what to do.
	Remedy string
	// Err is the cause; may be nil.
	Err error
}

// Error is one line: path, problem, cause, remedy.
func (e *StateFileError) Error() string {
	s := fmt.Sprintf("%s %s: %s", ErrStateFile, e.Path, e.Problem)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		s += ". " + e.Remedy
	}
	return s
}

// Unwrap returns ErrStateFile and the cause.
func (e *StateFileError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrStateFile}
	}
	return []error{ErrStateFile, e.Err}
}
