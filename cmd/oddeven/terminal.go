package main

import (
	"os"

	"golang.org/x/term"
)

// terminals finds out which of the standard streams are terminals.
func terminals(lookup func(string) (string, bool)) streams {
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	s.answers = isTerminal(os.Stdin)
	kind, _ := lookup("TERM")
	smart := kind != "dumb" // it moves its cursor
	if smart && isTerminal(os.Stdout) {
		s.screen = func() (columns, lines int) { return terminalSize(os.Stdout) }
	}
	if smart && isTerminal(os.Stderr) {
		columns, _ := terminalSize(os.Stderr)
		s.width = min(columns, reportWidth)
	}
	return s
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// terminalSize is the size of a terminal. One that does not say is as wide as our
// tables, and has no end.
func terminalSize(f *os.File) (columns, lines int) {
	columns, lines, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		columns = reportWidth
	}
	if err != nil || lines <= 0 {
		lines = 1 << 20
	}
	return columns, lines
}
