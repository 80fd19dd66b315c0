package sequence

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oddeven/oddeven/ticket"
)

const (
	// MaxName is the length of the longest name, in bytes.
	MaxName = 128
	// MaxDescription is the length of the longest description, in characters.
	MaxDescription = 255
)

// CheckName returns a *ticket.ConfigError with Field "sequence" unless name can
// name a sequence: 1 to 128 bytes of UTF-8 without control characters and line
// or paragraph separators. Names are compared byte by byte: case and trailing
// blanks are significant, and nothing is normalised.
func CheckName(name string) error {
	switch {
	case name == "":
		return &ticket.ConfigError{Field: "sequence", Remedy: fmt.Sprintf("has no name; give it 1 to %d bytes", MaxName)}
	case len(name) > MaxName:
		return &ticket.ConfigError{Field: "sequence", Value: quoted(name), Remedy: fmt.Sprintf("is %d bytes long; a name has at most %d", len(name), MaxName)}
	}
	return checkText("sequence", name)
}

// checkDescription is CheckName for descriptions, which may be empty.
func checkDescription(text string) error {
	if n := utf8.RuneCountInString(text); n > MaxDescription {
		return &ticket.ConfigError{Field: "Description", Value: quoted(text), Remedy: fmt.Sprintf("is %d characters long; it has at most %d", n, MaxDescription)}
	}
	return checkText("Description", text)
}

func checkText(field, text string) error {
	if !utf8.ValidString(text) {
		return &ticket.ConfigError{Field: field, Value: quoted(text), Remedy: "is not UTF-8"}
	}
	for i, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return &ticket.ConfigError{Field: field, Value: quoted(text), Remedy: fmt.Sprintf("has a control character or line separator, U+%04X, at byte %d; leave it out", r, i)}
		}
	}
	return nil
}

// quoted shows a text that may hold anything, in one line.
func quoted(text string) string {
	const shown = 60 // bytes
	if len(text) > shown {
		return strconv.Quote(text[:shown]) + "…"
	}
	return strconv.Quote(text)
}

// Quote shows a name so that it can be told from any other: as it is, or as a Go
// string if it has characters that do not show.
func Quote(name string) string {
	plain := name != "" && name == strings.TrimSpace(name) && name[0] != '"'
	for _, r := range name {
		plain = plain && r != utf8.RuneError && strconv.IsPrint(r)
	}
	if plain {
		return name
	}
	return strconv.Quote(name)
}

// ShellQuote writes a name as a shell takes it, for an argument of a command.
func ShellQuote(name string) string {
	flag := ""
	if strings.HasPrefix(name, "-") {
		flag = "-- "
	}
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/") == "" {
		return flag + name
	}
	return flag + "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
