package ticket

import (
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/fault"
)

var (
	// ErrClosed is returned by every method of a [Fleet] after Close.
	ErrClosed = errors.New("ticket: fleet is closed")
	// ErrUnavailable is returned when no server of the fleet could do what was
	// asked. The error wraps it together with one [*ServerError] for each server
	// that was tried.
	ErrUnavailable = errors.New("ticket: no server available")
	// ErrNotAccepted is the kind of a [*ServerError] for a server that may not
	// issue before an operator has accepted it with `oddeven fleet accept`.
	ErrNotAccepted = errors.New("ticket: server not accepted")
	// ErrBehind is the kind of a [*ServerError] for a server whose tickets are so far
	// behind those of the others that it has forgotten what it issued, or another
	// counter was damaged. It stays out until an operator has decided.
	ErrBehind = errors.New("ticket: server too far behind")
	// ErrScheme is the kind of a [*ServerError] for a server that returned a number
	// that breaks the scheme. The number was not used.
	ErrScheme = errors.New("ticket: number breaks the scheme")
	// ErrForeign is the kind of a [*ServerError] for a server that does not belong
	// into the fleet: of another fleet, given twice, or with an offset that is taken.
	ErrForeign = errors.New("ticket: server does not belong to the fleet")
	// ErrExhausted is returned when the tickets have reached their ceiling.
	ErrExhausted = errors.New("ticket: ceiling reached")
)

// ServerError says what is wrong with one server of a fleet, and what to do.
type ServerError struct {
	Server  string // host:port/database
	Problem string // a few words: "connection refused", "offset taken"
	Remedy  string // a sentence; may be empty
	Kind    error  // a sentinel to test for with errors.Is; may be nil; not printed
	Err     error  // the cause; may be nil
}

// Error is one line: server, problem, cause, remedy. It never holds a password.
func (e *ServerError) Error() string {
	s := "server " + e.Server
	if e.Problem != "" {
		s += ": " + e.Problem
	}
	if e.Err != nil && e.Err.Error() != e.Problem {
		s += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		s += ". " + e.Remedy
	}
	return s
}

// Unwrap returns kind and cause.
func (e *ServerError) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// NewServerError explains err as a problem of server. An err that is a
// *ServerError already is returned as it is.
func NewServerError(server string, err error) *ServerError {
	if have, ok := errors.AsType[*ServerError](err); ok {
		if have.Server == "" {
			named := *have
			named.Server = server
			return &named
		}
		return have
	}
	problem, remedy := fault.Explain(err)
	return &ServerError{Server: server, Problem: problem, Remedy: remedy, Err: err}
}

// ConfigError says which field of a configuration is wrong, its value, and
// what to write instead.
type ConfigError struct {
	Field  string // "Servers[1]", "Conns"
	Value  any    // as given; never a password
	Remedy string // what is wrong with it and what to do
}

// Error is one line: field, value, remedy.
func (e *ConfigError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("%s: %s", e.Field, e.Remedy)
	}
	return fmt.Sprintf("%s = %v: %s", e.Field, e.Value, e.Remedy)
}
