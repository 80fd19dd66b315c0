package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/oddeven/oddeven/migrations"
)

// migrateFields describes reportJSON.
const migrateFields = `With -o json the result is an object:

  fleet             its identity in hexadecimal; left out if there is none yet
  increment         how many servers the fleet can have; left out likewise
  shard_bits        lowest bits of every ID that name a shard
  layout            of Snowflake IDs; left out if there is no fleet yet
  warnings          texts; left out if there are none
  servers           a list, in the order given:
    server          host:port/database
    offset          1 to the increment; left out if it has none
    identity        of the server, in hexadecimal; left out if it has none
    version_before  of the schema, before the command
    version         of the schema now, or after a dry run came true
    version_latest  the newest that this program knows
    state           new, newer, pending, up to date, planned, migrated,
                    unreachable, failed or untouched
    done            what was done, or would be, step by step
    sql             of a dry run: the statements; left out if there are none
    error           what went wrong; left out if nothing did`

// reportJSON is the result of a migrate command with -o json.
type reportJSON struct {
	Fleet     string             `json:"fleet,omitempty"`
	Increment int64              `json:"increment,omitempty"`
	ShardBits int                `json:"shard_bits"`
	Layout    string             `json:"layout,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
	Servers   []serverReportJSON `json:"servers"`
}

type serverReportJSON struct {
	Server   string   `json:"server"`
	Offset   int64    `json:"offset,omitempty"`
	Identity string   `json:"identity,omitempty"`
	Before   int64    `json:"version_before"`
	Version  int64    `json:"version"`
	Latest   int64    `json:"version_latest"`
	State    string   `json:"state"`
	Done     []string `json:"done"`
	SQL      []string `json:"sql,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func (a *app) printReport(r *migrations.Report, f format) error {
	if f == formatJSON {
		out := reportJSON{Fleet: r.Fleet, Increment: r.Increment, ShardBits: r.ShardBits, Layout: r.Layout, Warnings: r.Warnings, Servers: []serverReportJSON{}}
		for _, s := range r.Servers {
			j := serverReportJSON{
				Server: s.Server, Offset: s.Offset, Identity: s.Identity, Before: s.Before, Version: s.Version,
				Latest: s.Latest, State: string(s.State), Done: append([]string{}, s.Done...), SQL: s.SQL,
			}
			if s.Err != nil {
				j.Error = redact(s.Err.Error(), nil)
			}
			out.Servers = append(out.Servers, j)
		}
		return printJSON(a.out, out)
	}
	return a.printReportTables(r)
}

// printReportTables prints SQL to standard output, which then holds nothing else.
func (a *app) printReportTables(r *migrations.Report) error {
	to := a.out
	for _, s := range r.Servers {
		if len(s.SQL) > 0 {
			to = a.err
			if _, err := fmt.Fprintf(a.out, "-- %s\n%s;\n\n", s.Server, strings.Join(withoutSemicolons(s.SQL), ";\n")); err != nil {
				return err
			}
		}
	}
	return a.printReportTable(r, to)
}

func (a *app) printReportTable(r *migrations.Report, to io.Writer) error {
	if r.Fleet != "" {
		// A specification is broken after its fields: it may be longer than a line.
		layout := strings.Replace(r.Layout, ";", ";\n       ", 1)
		fmt.Fprintf(a.err, "fleet %s, increment %d, shard bits %d\nlayout %s\n", r.Fleet, r.Increment, r.ShardBits, layout)
	}
	a.warn(r.Warnings)
	t := table{header: []string{"SERVER", "OFFSET", "SCHEMA", "STATE"}, note: "DONE"}
	for _, s := range r.Servers {
		offset := "-"
		if s.Offset > 0 {
			offset = strconv.FormatInt(s.Offset, 10)
		}
		version := fmt.Sprintf("%d of %d", s.Version, s.Latest)
		if s.State == migrations.StateUnreachable {
			version = "?"
		}
		t.rows = append(t.rows, []string{s.Server, offset, version, string(s.State)})
		t.notes = append(t.notes, summary(s.Done))
	}
	return t.print(to)
}

// withoutSemicolons cuts the statements of the migration files to the form of the others.
func withoutSemicolons(statements []string) []string {
	cut := make([]string, len(statements))
	for i, s := range statements {
		cut[i] = strings.TrimSuffix(strings.TrimSpace(s), ";")
	}
	return cut
}

// summary puts what was done in a few words: the migrations counted, the rest as it is.
func summary(done []string) string {
	var words []string
	counts := map[string]int{}
	for _, d := range done {
		verb, file, _ := strings.Cut(d, " ")
		if !strings.HasSuffix(file, ".sql") {
			words = append(words, d)
			continue
		}
		counts[verb]++
	}
	for _, verb := range []string{"revert", "apply"} {
		switch n := counts[verb]; {
		case n == 1:
			words = append([]string{verb + " 1 migration"}, words...)
		case n > 1:
			words = append([]string{fmt.Sprintf("%s %d migrations", verb, n)}, words...)
		}
	}
	return strings.Join(words, "; ")
}
