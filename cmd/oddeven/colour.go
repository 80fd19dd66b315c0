package main

import (
	"strings"
	"unicode/utf8"
)

// tone is how a word that says a state is meant.
type tone int

const (
	toneNone tone = iota
	toneGood
	toneWarning
	toneBad
)

// escapes are the colours of the tones: green, yellow, red.
var escapes = map[tone]string{toneGood: "\x1b[32m", toneWarning: "\x1b[33m", toneBad: "\x1b[31m"}

// colours says whether words are coloured. The zero value does not.
type colours bool

// colours are used on a terminal only, and not if NO_COLOR is set to anything
// (https://no-color.org).
func (a *app) colours() colours {
	no, _ := a.lookup("NO_COLOR")
	return colours(no == "" && a.screen != nil)
}

// paint colours a text.
func (c colours) paint(t tone, text string) string {
	if !c || escapes[t] == "" {
		return text
	}
	return escapes[t] + text + "\x1b[0m"
}

// cut shortens a line to a number of characters that show; colours do not count,
// and none is left switched on.
func cut(line string, columns int) string {
	shown := 0
	for at := 0; at < len(line); {
		if strings.HasPrefix(line[at:], "\x1b[") {
			at += strings.IndexByte(line[at:], 'm') + 1
			continue
		}
		if shown++; shown > columns {
			if strings.Contains(line[:at], "\x1b[") {
				return line[:at] + "\x1b[0m"
			}
			return line[:at]
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return line
}
