// Package plot draws latencies over time as an SVG image, on its own white
// ground, so that it can be read on light pages and dark ones.
package plot

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"time"
)

// A Chart is panels above one another with one axis of time.
type Chart struct {
	Title  string
	Note   string // a line below the title
	Length time.Duration
	Spans  []Span // above the panels
	Panels []Panel
}

// A Span is a time in which something was so.
type Span struct {
	Row      string // spans with one name share a row
	From, To time.Duration
}

// A Panel has durations on a logarithmic axis.
type Panel struct {
	Title  string
	Series []Series
}

// A Series is points of one colour.
type Series struct {
	Name   string
	Color  string // #rrggbb
	Points []Point
}

// A Point is a duration at a time.
type Point struct{ At, Took time.Duration }

// Sizes in pixels.
const (
	width       = 900
	left, right = 70, 20
	panelHeight = 200
	panelGap    = 46
	rowHeight   = 16
	head        = 64
	foot        = 44
)

// Write writes the chart.
func (c Chart) Write(w io.Writer) error {
	var b strings.Builder
	rows := c.rows()
	top := head + len(rows)*rowHeight + 28
	height := top + len(c.Panels)*(panelHeight+panelGap) - panelGap + foot
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="12" fill="#222">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(c.Title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="6" fill="#fff"/>`+"\n", width, height)
	text(&b, left, 24, `font-size="16" font-weight="bold"`, c.Title)
	text(&b, left, 44, `fill="#555"`, c.Note)
	bottom := height - foot
	c.spans(&b, rows, bottom)
	for i, p := range c.Panels {
		c.panel(&b, p, float64(top+i*(panelHeight+panelGap)))
	}
	c.timeAxis(&b, float64(bottom))
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func text(b *strings.Builder, x, y float64, attributes, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(s))
}

func (c Chart) rows() (names []string) {
	seen := map[string]bool{}
	for _, s := range c.Spans {
		if !seen[s.Row] {
			seen[s.Row], names = true, append(names, s.Row)
		}
	}
	return names
}

func (c Chart) x(at time.Duration) float64 {
	share := min(1, max(0, at.Seconds()/c.Length.Seconds()))
	return left + share*(width-left-right)
}

// spans draws a row of bars for each name, and shades the panels below them.
func (c Chart) spans(b *strings.Builder, rows []string, bottom int) {
	for i, name := range rows {
		y := float64(head + i*rowHeight)
		text(b, left-6, y+11, `text-anchor="end" font-size="11"`, name)
		for _, s := range c.Spans {
			if s.Row != name {
				continue
			}
			x, wide := c.x(s.From), c.x(s.To)-c.x(s.From)
			fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="12" fill="#c0392b"/>`+"\n", x, y, wide)
			fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%.0f" fill="#c0392b" fill-opacity="0.07"/>`+"\n", x, y+12, wide, float64(bottom)-y-12)
			if wide > 40 {
				text(b, x+wide/2, y+10, `text-anchor="middle" font-size="10" fill="#fff"`, "down")
			}
		}
	}
}

// decades are the powers of ten, in seconds, that enclose a panel's points.
func (p Panel) decades() (low, high int) {
	low, high = math.MaxInt, math.MinInt
	for _, s := range p.Series {
		for _, point := range s.Points {
			e := math.Log10(max(point.Took, time.Nanosecond).Seconds())
			low, high = min(low, int(math.Floor(e))), max(high, int(math.Floor(e))+1)
		}
	}
	if low > high {
		return -6, -3
	}
	return low, high
}

func (c Chart) panel(b *strings.Builder, p Panel, top float64) {
	low, high := p.decades()
	y := func(seconds float64) float64 {
		return top + panelHeight*(float64(high)-math.Log10(seconds))/float64(high-low)
	}
	legend(b, p, top)
	for e := low; e <= high; e++ {
		at := y(math.Pow10(e))
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ddd"/>`+"\n", left, at, width-right)
		text(b, left-6, at+4, `text-anchor="end" fill="#555"`, decade(e))
	}
	fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%d" height="%d" fill="none" stroke="#888"/>`+"\n", left, top, width-left-right, panelHeight)
	for _, s := range p.Series {
		if len(s.Points) == 0 {
			continue
		}
		// Dots: lines of no length with round ends.
		fmt.Fprintf(b, `<path fill="none" stroke="%s" stroke-width="3" stroke-linecap="round" d="`, s.Color)
		for _, point := range s.Points {
			fmt.Fprintf(b, "M%.1f %.1fh0", c.x(point.At), y(max(point.Took, time.Nanosecond).Seconds()))
		}
		b.WriteString(`"/>` + "\n")
	}
}

// legend writes the title of a panel and the names of its series in their colours.
func legend(b *strings.Builder, p Panel, top float64) {
	fmt.Fprintf(b, `<text x="%d" y="%.1f"><tspan font-weight="bold">%s</tspan>`, left, top-8, html.EscapeString(p.Title))
	for _, s := range p.Series {
		fmt.Fprintf(b, `<tspan dx="14" fill="%s">●</tspan><tspan dx="3">%s</tspan>`, s.Color, html.EscapeString(s.Name))
	}
	b.WriteString("</text>\n")
}

// decade names a power of ten of seconds.
func decade(e int) string {
	units := []struct {
		exponent int
		name     string
	}{{0, "s"}, {-3, "ms"}, {-6, "µs"}, {-9, "ns"}}
	for _, u := range units {
		if e >= u.exponent {
			return fmt.Sprintf("%.0f %s", math.Pow10(e-u.exponent), u.name)
		}
	}
	return fmt.Sprintf("1e%d s", e)
}

func (c Chart) timeAxis(b *strings.Builder, bottom float64) {
	each := max(1, int(math.Ceil(c.Length.Seconds()/15)))
	for s := 0; float64(s) <= c.Length.Seconds(); s += each {
		x := c.x(time.Duration(s) * time.Second)
		fmt.Fprintf(b, `<path d="M%.1f %.1fv5" stroke="#888"/>`+"\n", x, bottom)
		text(b, x, bottom+18, `text-anchor="middle" fill="#555"`, fmt.Sprint(s))
	}
	text(b, (left+width-right)/2, bottom+36, `text-anchor="middle"`, "seconds")
}
