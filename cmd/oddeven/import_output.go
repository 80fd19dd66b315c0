package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/oddeven/oddeven/internal/importer"
	"github.com/oddeven/oddeven/internal/sequence"
)

// importResult is what came of a plan.
type importResult struct {
	dry      bool // not carried out
	verified bool // all was read back and is as it should be
}

const importFields = `With -o json the result is an object:

  from          leaf or auto-increment
  dry_run       true if it was not carried out
  verified      true if all was read back and the old tables read again
  margin        what --margin gave
  sequences     a list:
    sequence    its name
    highest     the largest old number
    start       the sequence issues this number or more
    ceiling     no ID is above it
    read        where the old numbers are from, a list:
      source    host:port/database
      old       the tag, or the column
      highest   the largest old number there
    servers     a list:
      server    host:port/database
      offset    1 to the increment
      change    none, create or another one of oddeven sequence create
      first_id  the first ID that is issued after the change
      ceiling   no ID is above it
      base      round from which the clock line rises
      birth     when it does so from, in seconds since 1970
      deleted   true if the sequence is deleted after the change
    warnings    a list of texts`

// importJSON is an import with -o json.
type importJSON struct {
	From      string           `json:"from"`
	DryRun    bool             `json:"dry_run"`
	Verified  bool             `json:"verified"`
	Margin    int64            `json:"margin"`
	Sequences []importStepJSON `json:"sequences"`
}

// importStepJSON is one sequence of an import.
type importStepJSON struct {
	Sequence string           `json:"sequence"`
	Highest  int64            `json:"highest"`
	Start    int64            `json:"start"`
	Ceiling  int64            `json:"ceiling"`
	Read     []importReadJSON `json:"read"`
	Servers  []changeJSON     `json:"servers"`
	Warnings []string         `json:"warnings"`
}

// importReadJSON is an old numbering in one source.
type importReadJSON struct {
	Source  string `json:"source"`
	Old     string `json:"old"`
	Highest int64  `json:"highest"`
}

func importToJSON(p importer.Plan, cfg importer.Config, result importResult) importJSON {
	out := importJSON{From: string(cfg.Kind), DryRun: result.dry, Verified: result.verified, Margin: cfg.Margin, Sequences: []importStepJSON{}}
	for _, s := range p.Steps {
		j := importStepJSON{Sequence: s.Sequence, Highest: s.Highest, Start: s.Start, Ceiling: s.Ceiling, Warnings: append([]string{}, s.Warnings...)}
		for _, r := range s.Readings {
			j.Read = append(j.Read, importReadJSON{Source: r.Source, Old: r.Old, Highest: r.Highest})
		}
		for _, c := range s.Servers {
			j.Servers = append(j.Servers, toChangeJSON(c))
		}
		out.Sequences = append(out.Sequences, j)
	}
	return out
}

// warnOf prints the warnings of a plan.
func (a *app) warnOf(p importer.Plan) {
	for _, s := range p.Steps {
		a.warn(s.Warnings)
	}
}

func (a *app) printImport(p importer.Plan, cfg importer.Config, result importResult, f format) error {
	a.warnOf(p)
	if f == formatJSON {
		return printJSON(a.out, importToJSON(p, cfg, result))
	}
	switch {
	case p.Empty():
		fmt.Fprintln(a.err, "Nothing to do: every sequence is there, above the old numbers.")
	case result.dry:
		fmt.Fprintln(a.err, "Not carried out; this would be:")
	}
	if err := printImportTables(a.out, p); err != nil {
		return err
	}
	if result.verified && !p.Empty() {
		fmt.Fprintln(a.err, "Verified: every server goes on above the old numbers.")
	}
	return nil
}

// printImportTables prints what was read, and what becomes of it.
func printImportTables(w io.Writer, p importer.Plan) error {
	var read, servers [][]string
	for _, s := range p.Steps {
		for _, r := range s.Readings {
			read = append(read, []string{r.Old, r.Source, strconv.FormatInt(r.Highest, 10)})
		}
		for _, c := range s.Servers {
			servers = append(servers, []string{
				sequence.Quote(s.Sequence), c.Server, changeName(c), strconv.FormatInt(c.FirstID(), 10), strconv.FormatInt(s.Ceiling, 10),
			})
		}
	}
	if err := printTable(w, []string{"OLD", "SOURCE", "HIGHEST"}, read); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return printTable(w, []string{"SEQUENCE", "SERVER", "CHANGE", "NEXT ID", "CEILING"}, servers)
}
