package bench

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// nameWidth is how long the name of a line may be on a terminal of 80 columns.
const nameWidth = 24

// print writes the table for a terminal: alone is one caller, together as many as
// the group has at most.
func (t *table) print(w io.Writer) error {
	b := bufio.NewWriter(w)
	row := func(format string, cells ...any) {
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf(format, cells...), " "))
	}
	const columns = "%-*s %10s %10s %14s %6s %5s %5s"
	for i, g := range t.groups {
		if i > 0 {
			fmt.Fprintln(b)
		}
		last := g.callers[len(g.callers)-1]
		fmt.Fprintf(b, "%s\n", g.title)
		row(columns, nameWidth, "a "+g.unit, "1 caller", fmt.Sprintf("%d callers", last), "cost", "dupli-", "after", "res./")
		row(columns, nameWidth, "", "", "", "ratios", "cates", "kill", "iss.")
		for _, l := range g.lines {
			ratios := ""
			if l.base != "" {
				ratios = times(t.ratio(g, l, 1)) + " " + times(t.ratio(g, l, last))
			}
			row(columns, nameWidth, l.name, figure(l.costs[1]), figure(l.costs[last]), ratios,
				l.duplicates(short), l.after(), l.reserved())
		}
	}
	return b.Flush()
}

// short shows large counts in few characters.
func short(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0f M", float64(n)/1e6)
	case n >= 100_000:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return thousands(n)
}

func (l *line) duplicates(show func(int64) string) string {
	if !l.looked {
		return ""
	}
	return show(l.found.duplicates)
}

func (l *line) after() string {
	if !l.kill {
		return ""
	}
	return short(l.killed)
}

func (l *line) reserved() string {
	if l.reserve == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", l.reserve)
}

// allCallers are the numbers of callers of all groups.
func (t *table) allCallers() []int {
	var all []int
	for _, g := range t.groups {
		all = append(all, g.callers...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// markdown writes the same table with all columns.
func (t *table) markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	callers := t.allCallers()
	fmt.Fprint(b, "| |")
	for _, n := range callers {
		fmt.Fprintf(b, " %s |", plural(n))
	}
	fmt.Fprintln(b, " ratio alone | ratio together | against | duplicates | after a kill | reserved / issued | one operation |")
	fmt.Fprintln(b, "|-|"+strings.Repeat("-:|", len(callers))+"-:|-:|-|-:|-:|-:|-|")
	for _, g := range t.groups {
		fmt.Fprintf(b, "| **%s** |%s\n", g.title, strings.Repeat(" |", len(callers)+7))
		for _, l := range g.lines {
			t.row(b, g, l, callers)
		}
	}
	return b.Flush()
}

func (t *table) row(b *bufio.Writer, g *group, l *line, callers []int) {
	fmt.Fprintf(b, "| %s |", l.name)
	for _, n := range callers {
		cell := ""
		if slices.Contains(g.callers, n) {
			cell = figure(l.costs[n])
		}
		fmt.Fprintf(b, " %s |", cell)
	}
	alone, together, against := "", "", ""
	if base := t.base(g, l); base != nil {
		alone, together = times(t.ratio(g, l, 1)), times(t.ratio(g, l, g.callers[len(g.callers)-1]))
		against = base.name
		if g.line(base.name) == nil {
			against += ", " + t.home(base).title
		}
	}
	found := ""
	if l.looked {
		found = fmt.Sprintf("%s in %s", thousands(l.found.duplicates), thousands(l.found.ids))
	}
	killed := ""
	if l.kill {
		killed = fmt.Sprintf("%s in %s", thousands(l.killed), thousands(killDraws*l.each))
	}
	fmt.Fprintf(b, " %s | %s | %s | %s | %s | %s | %s |\n", alone, together, against, found, killed, l.reserved(), l.does)
}

// home is the group of a line.
func (t *table) home(l *line) *group {
	for _, g := range t.groups {
		if slices.Contains(g.lines, l) {
			return g
		}
	}
	return nil
}

func plural(n int) string {
	if n == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", n)
}
