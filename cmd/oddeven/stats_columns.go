package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// cell is one place of a table.
type cell struct {
	text string
	tone tone
}

func plain(text string) cell { return cell{text: text} }

// tableColumn is one column of a table.
type tableColumn struct {
	head  string
	left  bool // flush left, as texts are
	short bool // gives way when the table is too wide
}

// shortest is how narrow a column may be made that gives way.
const shortest = 6

// columns lays out a table of at most reportWidth characters: two blanks between
// columns, one if that is needed; what does not fit is taken from the middle of the
// column that gives way, and if hardly anything were left of it, it is left out.
func columns(paint colours, heads []tableColumn, rows [][]cell) []string {
	widths := make([]int, len(heads))
	for i, h := range heads {
		widths[i] = utf8.RuneCountInString(h.head)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	gap := 2
	total := func() int {
		sum := gap * (len(heads) - 1)
		for _, w := range widths {
			sum += w
		}
		return sum
	}
	if total() > reportWidth {
		gap = 1
	}
	for i, h := range heads {
		over := total() - reportWidth
		if !h.short || over <= 0 {
			continue
		}
		if widths[i]-over < shortest {
			return columns(paint, without(heads, i), withoutCells(rows, i))
		}
		widths[i] -= over
	}
	lines := make([]string, 0, len(rows)+1)
	head := make([]cell, len(heads))
	for i, h := range heads {
		head[i] = plain(h.head)
	}
	for _, row := range append([][]cell{head}, rows...) {
		var line strings.Builder
		for i, c := range row {
			if i > 0 {
				line.WriteString(strings.Repeat(" ", gap))
			}
			line.WriteString(c.aligned(paint, widths[i], heads[i].left))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// without and withoutCells leave column i out.
func without(heads []tableColumn, i int) []tableColumn {
	return slices.Delete(slices.Clone(heads), i, i+1)
}

func withoutCells(rows [][]cell, i int) [][]cell {
	left := make([][]cell, len(rows))
	for n, row := range rows {
		left[n] = slices.Delete(slices.Clone(row), i, i+1)
	}
	return left
}

// aligned is the text in its width.
func (c cell) aligned(paint colours, width int, left bool) string {
	text := middle(c.text, width)
	pad := strings.Repeat(" ", width-utf8.RuneCountInString(text))
	if left {
		return paint.paint(c.tone, text) + pad
	}
	return pad + paint.paint(c.tone, text)
}

// middle takes out the middle of a text that is too long: names differ at their
// beginning or at their end.
func middle(text string, width int) string { return shorten(text, width, (width-len(leftOut))/2) }

// end takes off the end of a text that is too long.
func end(text string, width int) string { return shorten(text, width, 0) }

// leftOut stands for what was taken out of a text.
const leftOut = ".."

// shorten takes out of a text that is too long what is before its last characters.
func shorten(text string, width, last int) string {
	runes := []rune(text)
	switch {
	case len(runes) <= width:
		return text
	case width <= len(leftOut):
		return string(runes[:width])
	}
	return string(runes[:width-len(leftOut)-last]) + leftOut + string(runes[len(runes)-last:])
}

// compact shows a count in at most five characters: 9999, 12.3k, 456M, 9.00P;
// a minus comes on top.
func compact(n int64) string {
	if n < 0 {
		return "-" + compact(max(-n, 0))
	}
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return scaled(float64(n))
}

// scaled has three digits and a unit.
func scaled(v float64) string {
	const units = "kMGTPE"
	unit := -1
	for v >= 999.5 && unit < len(units)-1 {
		v /= 1000
		unit++
	}
	digits := 2
	switch {
	case v >= 99.95:
		digits = 0
	case v >= 9.995:
		digits = 1
	}
	if unit < 0 {
		return fmt.Sprintf("%.*f", digits, v)
	}
	return fmt.Sprintf("%.*f%c", digits, v, units[unit])
}

// perSecond shows a rate.
func perSecond(rate float64) string {
	switch {
	case rate < 0:
		return "-"
	case rate == 0:
		return "0"
	case rate < 0.01:
		return "<0.01"
	}
	return scaled(rate)
}
