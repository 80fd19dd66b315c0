package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/importer"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// envSource names the databases with the old tables when --source does not.
	envSource = "ODDEVEN_SOURCE"
	// importTimeout is long: a column without an index is read from end to end.
	importTimeout = 10 * time.Minute
)

// importFlags are the flags of the command.
type importFlags struct {
	from    string
	sources []string
	as      []string
	cfg     importer.Config
	format  *format
	dryRun  bool
	yes     bool
	timeout time.Duration
}

func (a *app) importCommand() *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import --from leaf|auto-increment",
		Short: "Go on where Leaf or AUTO_INCREMENT columns have stopped",
		Long: `Create sequences that go on above numbers which another system has issued.

--from leaf reads Leaf's table: every tag becomes a sequence above its max_id.
--from auto-increment reads tables of your own: each becomes a sequence above
the largest number it holds and the counter has passed, and ends where the
column does. --column names another column than the AUTO_INCREMENT one.

The old tables are in the databases that --source, or DSNs separated by blanks
in ` + envSource + `, lead to. They are only read: SELECT is enough. Of a table
that is on several of them, as shards are, the largest number counts.

The plan is shown first, and carried out after a yes, on every server. All of it
is read back, and the old tables are read again. Stop the old system before:
what it issues after the last reading is not seen. With --margin N it may issue
N numbers more. The same command again completes what was interrupted. Like
every client, the command fences a server that was restarted, also with
--dry-run.

` + importFields,
		Example: `  oddeven import --from leaf --source 'reader:secret@tcp(db9:3306)/leaf'
  oddeven import --from leaf --tag order --as order=orders --dry-run
  oddeven import --from auto-increment --table shop.orders --table shop.items`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runImport(cmd, f) },
	}
	f.add(cmd)
	return cmd
}

func (f *importFlags) add(cmd *cobra.Command) {
	f.format = addFormat(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "`KIND` of the old tables: leaf or auto-increment")
	flags.StringArrayVar(&f.sources, "source", nil, "`DSN` of a database with the old tables; may be given several times")
	flags.StringArrayVar(&f.cfg.Tables, "table", nil, "`TABLE` or DATABASE.TABLE; may be given several times (leaf: "+importer.LeafTable+" unless given)")
	flags.StringVar(&f.cfg.Column, "column", "", "`COLUMN` of the tables that holds the IDs (default: the AUTO_INCREMENT column)")
	flags.StringArrayVar(&f.cfg.Tags, "tag", nil, "import this `TAG` of Leaf only; may be given several times")
	flags.StringArrayVar(&f.as, "as", nil, "`OLD=NEW`: call the sequence of a tag or table so; may be given several times")
	flags.Int64Var(&f.cfg.Margin, "margin", 0, "start so many `IDS` higher, because the old system goes on for a while")
	flags.Int64Var(&f.cfg.Ceiling, "ceiling", 0, "issue no `ID` above this one (default: what the column holds, below 2^53)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "do not carry it out, print what would be created")
	addYes(cmd, &f.yes, "the old system is stopped: do not ask")
	flags.DurationVar(&f.timeout, "timeout", importTimeout, "give up after this `TIME`; the same command again completes what was begun")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions([]string{string(importer.Leaf), string(importer.AutoIncrement)}, cobra.ShellCompDirectiveNoFileComp))
}

// config reads the flags. No error holds any part of a DSN.
func (f *importFlags) config(cmd *cobra.Command, a *app) (importer.Config, error) {
	cfg := f.cfg
	switch {
	case f.from == "":
		return cfg, usagef("--from is missing: say leaf or auto-increment")
	case f.timeout <= 0:
		return cfg, usagef("--timeout %s: must be more than 0", f.timeout)
	case cmd.Flags().Changed("ceiling") && cfg.Ceiling == 0:
		return cfg, usagef("--ceiling 0: must be more than 0")
	}
	cfg.Kind = importer.Kind(f.from)
	cfg.As = map[string]string{}
	for _, text := range f.as {
		old, name, both := strings.Cut(text, "=")
		if !both || old == "" {
			return cfg, usagef("--as %q: write it as OLD=NEW", text)
		}
		if other, twice := cfg.As[old]; twice && other != name {
			return cfg, usagef("--as %q: %q is to be called %q already", text, old, other)
		}
		cfg.As[old] = name
	}
	var err error
	if cfg.Sources, err = f.oldDatabases(a); err != nil {
		return cfg, err
	}
	return cfg, cfg.Check()
}

// oldDatabases are those that are imported from. Whoever waits for one of them is
// told which.
func (f *importFlags) oldDatabases(a *app) (configs []*mysql.Config, err error) {
	value, _ := a.lookup(envSource)
	switch {
	case len(f.sources) > 0:
		configs, err = parseDSNs("--source", f.sources)
	case strings.TrimSpace(value) != "":
		configs, err = parseDSNs(envSource, strings.Fields(value))
	default:
		return nil, usagef("no old database: give --source DSN, or set %s", envSource)
	}
	for _, cfg := range configs {
		a.pending.watch(cfg)
	}
	return configs, err
}

func (a *app) runImport(cmd *cobra.Command, f *importFlags) error {
	cfg, err := f.config(cmd, a)
	if err != nil {
		return err
	}
	var plan importer.Plan
	if f.dryRun || !f.yes {
		err := a.onFleet(cmd.Context(), job{doing: "reading the old tables", timeout: f.timeout}, func(ctx context.Context, fleet *ticket.Fleet) (err error) {
			plan, err = importer.Prepare(ctx, fleet, cfg)
			return err
		})
		if err != nil {
			return err
		}
	}
	if f.dryRun {
		return a.printImport(plan, cfg, importResult{dry: true}, *f.format)
	}
	if !f.yes && !plan.Empty() {
		if err := printImportTables(a.err, plan); err != nil {
			return err
		}
		a.warnOf(plan)
		if err := a.confirm(cmd.Context(), false, importQuestion(cfg), "not carried out"); err != nil {
			return err
		}
	}
	return a.carryOutImport(cmd, f, cfg, plan)
}

func importQuestion(cfg importer.Config) string {
	if cfg.Margin > 0 {
		return fmt.Sprintf("Create the sequences like this? The old system may issue %d numbers more.", cfg.Margin)
	}
	return "Is the old system stopped, and are the sequences to be created like this?"
}

// carryOutImport creates and verifies. before is what was agreed to.
func (a *app) carryOutImport(cmd *cobra.Command, f *importFlags, cfg importer.Config, before importer.Plan) error {
	var done importer.Plan
	err := a.onFleet(cmd.Context(), job{doing: "creating the sequences", timeout: f.timeout}, func(ctx context.Context, fleet *ticket.Fleet) (err error) {
		done, err = importer.Run(ctx, fleet, cfg, before)
		return err
	})
	if len(done.Steps) == 0 {
		return err
	}
	return errors.Join(a.printImport(done, cfg, importResult{verified: err == nil}, *f.format), err)
}
