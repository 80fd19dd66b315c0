package main

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reportWidth is how many columns everything fits in that is written for people.
const reportWidth = 80

const (
	columnGap  = 2
	noteIndent = "    "
)

// table is for people. The first column names something. Where a name leaves no
// room for the rest it stands in a line of its own, whole, so that it can be
// searched for and pasted; a name that is longer than a line runs over.
type table struct {
	header []string
	rows   [][]string
	notes  []string // for each row a text, or none
	note   string   // header of a column for the notes, if they all fit; else each stands below its row
}

// printTable writes rows under a header, in columns.
func printTable(w io.Writer, header []string, rows [][]string) error {
	return table{header: header, rows: rows}.print(w)
}

func (t table) print(w io.Writer) error {
	t = t.printable()
	if inline := t.withNotes(); inline.width() <= reportWidth {
		t = inline
	}
	widths := t.widths()
	rest := 0
	for _, width := range widths[1:] {
		rest += columnGap + width
	}
	widths[0] = t.nameWidth(reportWidth - rest)
	var out bytes.Buffer
	writeRow(&out, t.header, widths)
	for i, row := range t.rows {
		if utf8.RuneCountInString(row[0]) > widths[0] {
			out.WriteString(row[0] + "\n")
			row = slices.Concat([]string{""}, row[1:])
		}
		writeRow(&out, row, widths)
		if i < len(t.notes) && t.notes[i] != "" {
			out.WriteString(wrap(t.notes[i], reportWidth, noteIndent, noteIndent+"  ") + "\n")
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

// nameWidth is that of the first column where there is room for so much: of the
// names, only those that fit count.
func (t table) nameWidth(room int) int {
	width := utf8.RuneCountInString(t.header[0])
	for _, row := range t.rows {
		if n := utf8.RuneCountInString(row[0]); n <= room {
			width = max(width, n)
		}
	}
	return width
}

// withNotes has the notes in a column, if they may be in one.
func (t table) withNotes() table {
	if t.note == "" {
		return t
	}
	inline := table{header: slices.Concat(t.header, []string{t.note})}
	for i, row := range t.rows {
		inline.rows = append(inline.rows, slices.Concat(row, []string{t.notes[i]}))
	}
	return inline
}

// widths are those of the columns.
func (t table) widths() []int {
	widths := make([]int, len(t.header))
	for _, row := range slices.Concat([][]string{t.header}, t.rows) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// width is that of the table with nothing broken.
func (t table) width() int {
	sum := -columnGap
	for _, w := range t.widths() {
		sum += columnGap + w
	}
	return sum
}

// printable has a question mark for every character that a terminal would obey:
// some cells come from rows that anybody may have written.
func (t table) printable() table {
	rows := make([][]string, len(t.rows))
	for i, row := range t.rows {
		rows[i] = printable(row)
	}
	t.rows, t.notes = rows, printable(t.notes)
	return t
}

func printable(cells []string) []string {
	clean := make([]string, len(cells))
	for i, cell := range cells {
		clean[i] = oneLine(cell)
	}
	return clean
}

// obedient is a text in which nothing can be taken for a command by a terminal:
// only what shows, and blanks. Lines stay.
func obedient(text string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) && r != '\n' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// oneLine is an obedient text whose lines do not stay.
func oneLine(text string) string { return strings.ReplaceAll(obedient(text), "\n", "?") }

func writeRow(out *bytes.Buffer, row []string, widths []int) {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(cell)
		if i < len(row)-1 {
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+columnGap))
		}
	}
	out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
