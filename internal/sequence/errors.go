package sequence

import "errors"

// Kinds of an [Error], to test for with errors.Is.
var (
	// ErrExists is returned by Create for a sequence that every server has.
	ErrExists = errors.New("sequence: exists already")
	// ErrUnknown is returned for a sequence that no server has.
	ErrUnknown = errors.New("sequence: unknown")
	// ErrDeleted is returned by Bump for a sequence that is deleted.
	ErrDeleted = errors.New("sequence: deleted")
	// ErrIncomplete is returned by Create for a sequence that some servers have
	// and others do not, and that was made otherwise than asked for.
	ErrIncomplete = errors.New("sequence: some servers have missed a change")
	// ErrFarAhead is returned when a row would have to be followed that lies
	// farther ahead than the other servers believe, or one is held back and nobody
	// says how far its server was.
	ErrFarAhead = errors.New("sequence: a row is far ahead of the others")
	// ErrServers is returned when a change cannot begin because a server of the
	// fleet does not take part, or was not given. Nothing was changed.
	ErrServers = errors.New("sequence: every server must be up")
	// ErrInterrupted is returned when a change was begun and could not be
	// completed. The same command again completes it.
	ErrInterrupted = errors.New("sequence: change not completed")
	// ErrClocks is returned when the clocks of the servers differ by more than
	// clock lines can bear.
	ErrClocks = errors.New("sequence: clocks of the servers differ")
)

// Error says what is wrong with a sequence, and what to do.
type Error struct {
	Sequence string // its name
	Problem  string // a few words
	Remedy   string // a sentence; may be empty
	Kind     error  // a sentinel to test for with errors.Is; not printed
	Err      error  // the cause, one *ticket.ServerError for each server that failed; may be nil
}

// Error is sequence, problem, remedy, and the causes in lines of their own.
func (e *Error) Error() string {
	s := "sequence " + Quote(e.Sequence) + ": " + e.Problem
	if e.Remedy != "" {
		s += ". " + e.Remedy
	}
	if e.Err != nil {
		s += "\n" + e.Err.Error()
	}
	return s
}

// Unwrap returns kind and cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
