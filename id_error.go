package oddeven

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxInputLen is how much of an input an IDError shows, in bytes: more than any
// ID has.
const maxInputLen = 40

// IDError says why something is not an ID. [ParseID], [ParseBase32] and the
// methods of [ID] return it as *IDError; find it with errors.As, also in what
// packages encoding/json and database/sql return. (Of the key of a map that can't
// be written, encoding/json keeps the message only.)
type IDError struct {
	// Input is what is not an ID, without the quotes of JSON. After 40 bytes it
	// is cut off, with "…" at its end.
	Input string

	// Position is the index in bytes of what is wrong in the input, from 0, or
	// -1 if that is not a single character.
	Position int

	// Problem says what is wrong, as the rest of a sentence about the input.
	Problem string

	// Remedy is what to do instead.
	Remedy string
}

// Error names the input, the problem with its position, and the remedy. Bytes
// that a terminal or a log would interpret are escaped.
func (e *IDError) Error() string {
	if e.Position < 0 {
		return fmt.Sprintf("oddeven: ID %q %s: %s", e.Input, e.Problem, e.Remedy)
	}
	return fmt.Sprintf("oddeven: ID %q %s, at position %d: %s", e.Input, e.Problem, e.Position, e.Remedy)
}

func newIDError[T string | []byte](input T, position int, problem, remedy string) *IDError {
	return &IDError{Input: shorten(input), Position: position, Problem: problem, Remedy: remedy}
}

func negativeError(v int64) *IDError {
	return newIDError(strconv.FormatInt(v, 10), -1, "is negative, which no ID is",
		"use IDs as they were issued, without arithmetic on them")
}

// shorten returns at most maxInputLen bytes of s, whole characters as far as it
// has any, and a copy if s is a slice.
func shorten[T string | []byte](s T) string {
	if len(s) <= maxInputLen {
		return string(s)
	}
	end := maxInputLen
	for end > maxInputLen-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return string(s[:end]) + "…"
}

// quoteAt shows the character at index i of s.
func quoteAt[T string | []byte](s T, i int) string {
	r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("the byte 0x%02x", s[i])
	}
	return strconv.QuoteRune(r)
}
