package decode

import (
	"fmt"
	"strconv"
)

// MaxQuoted is the longest text in bytes that an error repeats.
const MaxQuoted = 64

// Error says of a text that no ID can be read from it, and why.
type Error struct {
	// Value is the text. It is not repeated by Error if it is longer than MaxQuoted.
	Value string

	// Problem is the rest of a sentence that begins with the value.
	Problem string

	// Remedy is what to do about it.
	Remedy string
}

// Error names the value, the problem and the remedy, in ASCII and in one line.
func (e *Error) Error() string {
	value := strconv.QuoteToASCII(e.Value)
	if len(e.Value) > MaxQuoted {
		value = fmt.Sprintf("a text of %d bytes", len(e.Value))
	}
	return value + " " + e.Problem + ": " + e.Remedy
}

// newError returns an *Error.
func newError(value, problem, remedy string) error {
	return &Error{Value: value, Problem: problem, Remedy: remedy}
}
