package importer

import "errors"

// Kinds of an [Error], to test for with errors.Is.
var (
	// ErrRow is returned for something in an old table that cannot become a
	// sequence. Nothing was changed.
	ErrRow = errors.New("importer: cannot be imported")
	// ErrMissing is returned for a table, a column or a tag that is not there.
	// Nothing was changed.
	ErrMissing = errors.New("importer: not there")
	// ErrBelow is returned for a sequence that exists already, was never used, and
	// would begin too low. Nothing was changed.
	ErrBelow = errors.New("importer: sequence exists and is too low")
	// ErrInUse is returned for a sequence that has issued IDs where the old table
	// has numbers. Nothing was changed.
	ErrInUse = errors.New("importer: sequence is in use already")
	// ErrRunning is returned when the old system issued numbers between the plan
	// and the creation. Nothing was changed.
	ErrRunning = errors.New("importer: the old system still issues numbers")
	// ErrRisen is returned when the old system rose too far while the sequences
	// were created. They are there, and must not be used before they are bumped.
	ErrRisen = errors.New("importer: the old system has gone on")
	// ErrVerify is returned when a server does not say what was written to it.
	ErrVerify = errors.New("importer: a server is not as it should be")
)

// Error says what is wrong with a part of an import, and what to do.
type Error struct {
	Source  string // host:port/database of the old table; may be empty
	Subject string // what it is about: a row, a table, a sequence
	Problem string // a few words
	Remedy  string // a sentence
	Kind    error  // a sentinel to test for with errors.Is; not printed
}

// Error is one line: source, subject, problem, remedy.
func (e *Error) Error() string {
	s := e.Subject + ": " + e.Problem
	if e.Source != "" {
		s = e.Source + ": " + s
	}
	if e.Remedy != "" {
		s += ". " + e.Remedy
	}
	return s
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }
