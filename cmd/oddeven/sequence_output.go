package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/sequence"
)

// sequenceFields describes sequenceJSON.
const sequenceFields = `  name           as it was created
  state          ok, deleted or to be mended
  highest_id     that any server may have issued
  ceiling        no ID is above it
  used           share of the IDs up to the ceiling, 0 to 1
  description    text for people; left out if there is none
  base           round from which the clock line rises
  birth          when it does so from, RFC 3339 like all times
  servers        a list; of a server without a row only the first three and
                 server_gen are there, and what is 0 or empty is left out:
    server       host:port/database
    offset       1 to the increment
    problems     a list of texts, empty if nothing is wrong
    highest_id   that the server may have issued
    rounds       the last round reserved
    gen          generation of the row
    server_gen   generation of the server
    base, birth, ceiling, description
                 as above, as this server has them
    step         rounds last reserved at a time
    refills      how often rounds were reserved
    refilled_at  when last
    refilled_by  by which client
    created_at   when the row was made
    deleted_at   when the sequence was deleted`

// planFields describes planJSON, after a sentence on all commands that print it.
const planFields = `Like every client, the command fences a server that was restarted, also with
--dry-run.

With -o json the result is an object:

  sequence    its name
  dry_run     true if it was not carried out
  warnings    a list of texts
  servers     a list:
    server    host:port/database
    offset    1 to the increment
    change    none, create, create by a leap, raise, leap, update, delete or
              revive
    first_id  the first ID that is issued after the change
    ceiling   no ID is above it
    base      round from which the clock line rises
    birth     when it does so from, in seconds since 1970
    deleted   true if the sequence is deleted after the change`

// sequenceJSON is a sequence with -o json.
type sequenceJSON struct {
	Name        string               `json:"name"`
	State       string               `json:"state"`
	HighestID   int64                `json:"highest_id"`
	Ceiling     int64                `json:"ceiling"`
	Used        float64              `json:"used"`
	Description string               `json:"description,omitempty"`
	Base        int64                `json:"base"`
	Birth       time.Time            `json:"birth"`
	Servers     []sequenceServerJSON `json:"servers"`
}

// sequenceServerJSON is a sequence on one server.
type sequenceServerJSON struct {
	Server      string     `json:"server"`
	Offset      int64      `json:"offset"`
	Problems    []string   `json:"problems"`
	HighestID   int64      `json:"highest_id,omitempty"`
	Rounds      int64      `json:"rounds,omitempty"`
	Gen         int64      `json:"gen,omitempty"`
	ServerGen   int64      `json:"server_gen"`
	Base        int64      `json:"base,omitempty"`
	Birth       *time.Time `json:"birth,omitempty"`
	Ceiling     int64      `json:"ceiling,omitempty"`
	Description string     `json:"description,omitempty"`
	Step        int64      `json:"step,omitempty"`
	Refills     int64      `json:"refills,omitempty"`
	RefilledAt  *time.Time `json:"refilled_at,omitempty"`
	RefilledBy  string     `json:"refilled_by,omitempty"`
	CreatedAt   *time.Time `json:"created_at,omitempty"`
	DeletedAt   *time.Time `json:"deleted_at,omitempty"`
}

func toJSON(s sequence.Sequence) sequenceJSON {
	out := sequenceJSON{
		Name: s.Name, State: sequenceState(s), HighestID: s.HighestID(), Ceiling: s.State.Ceiling, Used: used(s), Description: s.State.Description,
		Base: s.State.Base, Birth: time.Unix(s.State.Birth, 0).UTC(),
	}
	for _, o := range s.Servers {
		j := sequenceServerJSON{Server: o.Server, Offset: o.Class.Offset, ServerGen: o.Gen, Problems: problemNames(o), HighestID: o.HighestID()}
		if r := o.Row; r != nil {
			j.Rounds, j.Gen, j.Base, j.Ceiling, j.Description = r.Rounds, r.Gen, r.Base, r.Ceiling, r.Description
			j.Step, j.Refills, j.RefilledBy = r.Step, r.Refills, r.RefilledBy
			j.Birth, j.RefilledAt, j.CreatedAt, j.DeletedAt = new(time.Unix(r.Birth, 0).UTC()), some(r.RefilledAt), some(r.CreatedAt), some(r.DeletedAt)
		}
		out.Servers = append(out.Servers, j)
	}
	return out
}

// sequenceState says in a word how a sequence stands.
func sequenceState(s sequence.Sequence) string {
	switch {
	case !s.InOrder():
		return "to be mended"
	case s.State.Deleted:
		return "deleted"
	}
	return "ok"
}

func problemNames(o sequence.OnServer) []string {
	names := make([]string, len(o.Problems))
	for i, p := range o.Problems {
		names[i] = string(p)
	}
	return names
}

// used is the share of the space below the ceiling, 0 to 1.
func used(s sequence.Sequence) float64 {
	if s.State.Ceiling <= 0 {
		return 1
	}
	return min(1, float64(s.HighestID())/float64(s.State.Ceiling))
}

// minute shows a time in UTC; "-" for none.
func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func (a *app) printSequences(all []sequence.Sequence, deleted bool, f format) error {
	rows, out := [][]string{}, []sequenceJSON{}
	for _, s := range all {
		if s.State.Deleted && !deleted && s.InOrder() {
			continue
		}
		var refilled time.Time
		for _, o := range s.Servers {
			if o.Row != nil && o.Row.RefilledAt.After(refilled) {
				refilled = o.Row.RefilledAt
			}
		}
		out = append(out, toJSON(s))
		rows = append(rows, []string{
			sequence.Quote(s.Name), strconv.FormatInt(s.HighestID(), 10), fmt.Sprintf("%.1f %%", 100*used(s)), minute(refilled), sequenceState(s),
		})
	}
	if f == formatJSON {
		return printJSON(a.out, out)
	}
	return printTable(a.out, []string{"SEQUENCE", "HIGHEST ID", "USED", "LAST REFILL (UTC)", "STATE"}, rows)
}

func (a *app) printSequence(s sequence.Sequence, f format) error {
	if f == formatJSON {
		return printJSON(a.out, toJSON(s))
	}
	head := [][2]string{
		{"sequence", sequence.Quote(s.Name)}, {"description", s.State.Description}, {"state", sequenceState(s)},
		{"highest ID", fmt.Sprintf("%d, %.1f %% of the ceiling", s.HighestID(), 100*used(s))}, {"ceiling", strconv.FormatInt(s.State.Ceiling, 10)},
		{"born", fmt.Sprintf("%s UTC at round %d", minute(time.Unix(s.State.Birth, 0)), s.State.Base)},
	}
	for _, line := range head {
		if line[1] != "" {
			fmt.Fprintln(a.out, wrap(oneLine(line[1]), reportWidth, fmt.Sprintf("%-12s ", line[0]), strings.Repeat(" ", 13)))
		}
	}
	t := table{header: []string{"SERVER", "OFFSET", "STATE", "HIGHEST ID", "STEP", "LAST REFILL (UTC)"}}
	for _, o := range s.Servers {
		row := []string{o.Server, strconv.FormatInt(o.Class.Offset, 10), "ok", "-", "-", "-"}
		if len(o.Problems) > 0 {
			row[2] = "to be mended"
		}
		if r := o.Row; r != nil {
			row[3], row[4], row[5] = strconv.FormatInt(o.HighestID(), 10), strconv.FormatInt(r.Step, 10), minute(r.RefilledAt)
		}
		t.rows, t.notes = append(t.rows, row), append(t.notes, strings.Join(problemNames(o), ", "))
	}
	fmt.Fprintln(a.out)
	return t.print(a.out)
}

// planJSON is what a command has done, or would do.
type planJSON struct {
	Sequence string       `json:"sequence"`
	DryRun   bool         `json:"dry_run"`
	Servers  []changeJSON `json:"servers"`
	Warnings []string     `json:"warnings"`
}

// changeJSON is the part of a plan on one server.
type changeJSON struct {
	Server  string `json:"server"`
	Offset  int64  `json:"offset"`
	Change  string `json:"change"`
	FirstID int64  `json:"first_id"`
	Ceiling int64  `json:"ceiling"`
	Base    int64  `json:"base"`
	Birth   int64  `json:"birth"`
	Deleted bool   `json:"deleted"`
}

func toChangeJSON(c sequence.Change) changeJSON {
	return changeJSON{
		Server: c.Server, Offset: c.Class.Offset, Change: changeName(c), FirstID: c.FirstID(),
		Ceiling: c.To.Ceiling, Base: c.To.Base, Birth: c.To.Birth, Deleted: c.To.Deleted,
	}
}

// changeName says in a few words what becomes of a row.
func changeName(c sequence.Change) string {
	switch {
	case !c.Changes():
		return "none"
	case c.From == nil && !c.Leap:
		return "create"
	case c.From == nil:
		return "create by a leap"
	case c.To.Deleted && !c.From.Deleted:
		return "delete"
	case c.From.Deleted && !c.To.Deleted:
		return "revive"
	case c.Leap:
		return "leap"
	case c.From.Rounds < c.To.Rounds:
		return "raise"
	}
	return "update"
}

// printPlan prints what was done, or would be.
func (a *app) printPlan(p sequence.Plan, dry bool, f format) error {
	a.warn(p.Warnings)
	if f == formatJSON {
		out := planJSON{Sequence: p.Sequence, DryRun: dry, Warnings: append([]string{}, p.Warnings...)}
		for _, c := range p.Changes {
			out.Servers = append(out.Servers, toChangeJSON(c))
		}
		return printJSON(a.out, out)
	}
	if dry {
		fmt.Fprintln(a.err, "Not carried out; this would be:")
	}
	return printTable(a.out, planHeader, planRows(p))
}

// warn prints warnings, each once: a plan is made before a question and after it.
func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		if !slices.Contains(a.warned, w) {
			a.warned = append(a.warned, w)
			fmt.Fprintln(a.err, wrap("Warning: "+w, reportWidth, "", "  "))
		}
	}
}

var planHeader = []string{"SERVER", "OFFSET", "CHANGE", "NEXT ID BEFORE", "NEXT ID AFTER"}

func planRows(p sequence.Plan) [][]string {
	rows := make([][]string, len(p.Changes))
	for i, c := range p.Changes {
		before, after := "-", "-"
		if c.From != nil && !c.From.Deleted {
			before = strconv.FormatInt(sequence.Change{Class: c.Class, To: c.From}.FirstID(), 10)
		}
		if !c.To.Deleted {
			after = strconv.FormatInt(c.FirstID(), 10)
		}
		rows[i] = []string{c.Server, strconv.FormatInt(c.Class.Offset, 10), changeName(c), before, after}
	}
	return rows
}
