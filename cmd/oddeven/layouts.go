package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/snowflake"
)

func (a *app) layoutsCommand() *cobra.Command {
	var f *format
	cmd := &cobra.Command{
		Use:   "layouts",
		Short: "List the Snowflake layouts known by name",
		Long: `List the Snowflake layouts known by name: the fields from the highest bit to the
lowest, with their widths and ranges, and the day that the time runs out.

--layout of "oddeven migrate up" and "oddeven decode" takes these names, or a
specification of the same form as "spec" in -o json.

With -o json the result is a list of layouts:

  name      for --layout
  about     whose it is, in a sentence
  source    address of its description
  spec      specification
  unit_ms   milliseconds in a tick
  epoch     when time 0 is, RFC 3339
  runs_out  when the time bits are used up, RFC 3339
  issues    false if oddeven reads such IDs but does not issue them
  fields    a list, the highest bits first:
    field   time, datacenter, worker, sequence or shard
    bits    its width
    max     its largest value; the smallest is 0`,
		Example: "  oddeven layouts\n  oddeven layouts -o json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if *f == formatJSON {
				return printJSON(a.out, layoutsJSON())
			}
			return printLayouts(a.out, time.Now())
		},
	}
	f = addFormat(cmd)
	return cmd
}

// layoutJSON is one layout of `layouts -o json`.
type layoutJSON struct {
	Name    string      `json:"name"`
	About   string      `json:"about"`
	Source  string      `json:"source"`
	Spec    string      `json:"spec"`
	UnitMS  int64       `json:"unit_ms"`
	Epoch   time.Time   `json:"epoch"`
	RunsOut time.Time   `json:"runs_out"`
	Issues  bool        `json:"issues"` // false: for decoding only
	Fields  []fieldJSON `json:"fields"` // the highest first
}

type fieldJSON struct {
	Field string `json:"field"`
	Bits  int    `json:"bits"`
	Max   int64  `json:"max"` // the smallest value is 0
}

func layoutsJSON() []layoutJSON {
	presets := snowflake.Presets()
	all := make([]layoutJSON, len(presets))
	for i, p := range presets {
		l := p.Layout
		all[i] = layoutJSON{
			Name: p.Name, About: p.About, Source: p.Source, Spec: l.String(), UnitMS: l.Unit().Milliseconds(),
			Epoch: l.Epoch(), RunsOut: l.Exhausted(), Issues: l.CheckIssue() == nil,
		}
		for _, f := range l.Fields() {
			all[i].Fields = append(all[i].Fields, fieldJSON{Field: f.Kind.String(), Bits: f.Bits, Max: largest(f)})
		}
	}
	return all
}

// largest is the largest value of a field.
func largest(f snowflake.Field) int64 { return int64(1)<<f.Bits - 1 }

// printLayouts writes a block of lines for each layout.
func printLayouts(w io.Writer, now time.Time) error {
	var out bytes.Buffer
	for i, p := range snowflake.Presets() {
		if i > 0 {
			fmt.Fprintln(&out)
		}
		l := p.Layout
		verb := "runs out"
		if !l.Exhausted().After(now) {
			verb = "ran out"
		}
		fmt.Fprintln(&out, p.Name)
		fmt.Fprintln(&out, wrap(p.About, reportWidth, "  ", "  "))
		fmt.Fprintf(&out, "  ticks of %s since %s; %s on %s\n", l.Unit(), l.Epoch().Format("2006-01-02T15:04:05.999Z"), verb, l.Exhausted().Format(time.DateOnly))
		for _, f := range l.Fields() {
			fmt.Fprintf(&out, "    %-10s  %2d bits  0 to %d\n", f.Kind, f.Bits, largest(f))
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}
