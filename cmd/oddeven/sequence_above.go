package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/importer"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
)

// aboveFlags name columns and the databases to look for them in.
type aboveFlags struct {
	columns []string // TABLE.COLUMN
	dsnEnv  []string // environment variables
}

func (f *aboveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.columns, "above", nil, "start above the largest number used in `TABLE.COLUMN`; may be given several times")
	flags.StringArrayVar(&f.dsnEnv, "dsn-env", nil, "environment `VARIABLE` that holds the DSN of a database with such tables; may be given several times")
}

// variableName is what an environment variable is called. What does not match
// may be a DSN and is not repeated.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (f *aboveFlags) check(cmd *cobra.Command) error {
	start, err := cmd.Flags().GetInt64("start")
	switch {
	case err != nil:
		return err
	case cmd.Flags().Changed("start") && len(f.columns) > 0:
		return usagef("--start and --above exclude each other")
	case cmd.Flags().Changed("start") && start < 1:
		return usagef("--start %d: must be at least 1", start)
	case len(f.columns) > 0 && len(f.dsnEnv) == 0:
		return usagef("--above needs --dsn-env VARIABLE for each database that has the table")
	case len(f.columns) == 0 && len(f.dsnEnv) > 0:
		return usagef("--dsn-env needs --above TABLE.COLUMN")
	}
	for _, name := range f.dsnEnv {
		if !variableName.MatchString(name) {
			return usagef("--dsn-env takes the name of an environment variable that holds a DSN, not the DSN")
		}
	}
	return nil
}

// configs has one for each column: their names differ. A column is what follows
// the last dot, for names of columns rarely have one.
func (f *aboveFlags) configs(sources []*mysql.Config) ([]importer.Config, error) {
	all := make([]importer.Config, len(f.columns))
	for i, text := range f.columns {
		if at := strings.LastIndex(text, "."); at >= 0 {
			all[i] = importer.Config{Kind: importer.AutoIncrement, Sources: sources, Scattered: true, Tables: []string{text[:at]}, Column: text[at+1:]}
		}
		if all[i].Column == "" || all[i].Check() != nil {
			return nil, usagef("--above %q: write it as TABLE.COLUMN or DATABASE.TABLE.COLUMN, without quotes", text)
		}
	}
	return all, nil
}

// readAbove sets the start above the largest number in use, and returns warnings.
func (a *app) readAbove(ctx context.Context, f *aboveFlags, spec *sequence.Spec) (warnings []string, err error) {
	if len(f.columns) == 0 {
		return nil, nil
	}
	sources, err := a.databases(f.dsnEnv)
	if err != nil {
		return nil, err
	}
	configs, err := f.configs(sources)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	defer a.progress.start("reading the largest numbers in use")()
	for i, cfg := range configs {
		found, err := importer.Read(ctx, cfg)
		if err != nil {
			return nil, err
		}
		n := found[0] // one table, one numbering
		a.sayHighest(f.columns[i], sources, n.Readings)
		warnings = append(warnings, n.Warnings...)
		if spec.Ceiling == 0 && n.Limit < schema.Ceiling-1 {
			warnings = append(warnings, fmt.Sprintf("%s holds numbers up to %d. If the sequence is for it, give --ceiling, or widen the column to BIGINT before.", f.columns[i], n.Limit))
		}
		if n.Highest > 0 {
			spec.Start = max(spec.Start, n.Highest+1)
		}
	}
	return warnings, nil
}

// sayHighest says what was found in every database, on standard error: one that
// was forgotten, or an account that sees too little, has to show.
func (a *app) sayHighest(column string, sources []*mysql.Config, readings []importer.Reading) {
	for _, source := range sources {
		label := dsn.Label(source)
		at := slices.IndexFunc(readings, func(r importer.Reading) bool { return r.Source == label })
		if at < 0 {
			fmt.Fprintf(a.err, "%s: the table of %s is not there, or the account may not read it\n", label, column)
			continue
		}
		fmt.Fprintf(a.err, "%s: the largest number used in %s is %d\n", label, column, readings[at].Highest)
	}
}

// databases reads the DSNs. No error holds any part of one.
func (a *app) databases(variables []string) ([]*mysql.Config, error) {
	var configs []*mysql.Config
	for _, name := range variables {
		text, _ := a.lookup(name)
		if text == "" {
			return nil, usagef("the environment variable %s named by --dsn-env is not set", name)
		}
		cfg, err := dsn.Parse(text)
		if err != nil {
			return nil, usagef("the environment variable %s named by --dsn-env: %w", name, err)
		}
		a.pending.watch(cfg)
		configs = append(configs, cfg)
	}
	return configs, nil
}
