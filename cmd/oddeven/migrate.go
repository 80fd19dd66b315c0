package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/migrations"
)

const migrateTimeout = 10 * time.Minute

// migrateFlags are shared by the migrate commands.
type migrateFlags struct {
	format    *format
	dryRun    bool
	yes       bool
	destroy   bool
	timeout   time.Duration
	lockWait  time.Duration
	increment int64
	shardBits int
	layout    string
	lease     time.Duration
	retired   []int64
}

func (a *app) migrateCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "migrate",
		Short: "Set up and change the schema of all servers of a fleet",
	}, a.migrateUp(), a.migrateDown(), a.migrateTo(), a.migrateStatus(), a.migrateAdopt())
}

// common adds the flags that every migrate command has.
func (f *migrateFlags) common(cmd *cobra.Command, changes bool) {
	f.format = addFormat(cmd)
	cmd.Flags().DurationVar(&f.timeout, "timeout", migrateTimeout, "give up after this `TIME`; what was begun is finished by the next run")
	if changes {
		cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "change nothing, print the SQL")
		addYes(cmd, &f.yes, "do not ask")
		cmd.Flags().DurationVar(&f.lockWait, "lock-timeout", 30*time.Second, "wait this `TIME` for another migration to end")
	}
}

// settings adds the flags that a fleet is made with.
func (f *migrateFlags) settings(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int64Var(&f.increment, "increment", 0, "capacity of the fleet in `SERVERS` (default: as many as are given, at least 2)")
	flags.IntVar(&f.shardBits, "shard-bits", 0, "lowest `BITS` of every ID that name a shard")
	flags.StringVar(&f.layout, "layout", "", "Snowflake layout, a preset's `NAME` or a specification (default: oddeven)")
	flags.DurationVar(&f.lease, "longest-lease", 0, "longest lease of a worker number; after a restart a server grants none for this `TIME` (default: 4h)")
	flags.Int64SliceVar(&f.retired, "retired", nil, "`OFFSET` whose former server is dead for good, so that a new one may have it")
	flags.Lookup("retired").DefValue = "" // not "(default [])"
	completeLayout(cmd)
}

func (f *migrateFlags) config(cmd *cobra.Command, a *app) (migrations.Config, error) {
	servers, err := a.fleetServers()
	if err != nil {
		return migrations.Config{}, err
	}
	cfg := migrations.Config{
		Servers: servers, DryRun: f.dryRun, DestroyAllocations: f.destroy, LockTimeout: f.lockWait, Retired: f.retired, Logger: a.logger(),
		Settings: migrations.Settings{Increment: f.increment, Layout: f.layout, LongestLease: f.lease},
	}
	if cmd.Flags().Changed("shard-bits") {
		cfg.Settings.ShardBits = new(f.shardBits)
	}
	return cfg, f.check(cmd)
}

// check refuses what the library takes for a field that is not set, or does not
// look at because the version asked for is not the newest.
func (f *migrateFlags) check(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	switch {
	case given("increment") && f.increment < 1:
		return usagef("--increment %d: must be at least 1", f.increment)
	case given("shard-bits") && f.shardBits < 0:
		return usagef("--shard-bits %d: must be at least 0", f.shardBits)
	case given("longest-lease") && f.lease <= 0:
		return usagef("--longest-lease %s: must be at least 1s", f.lease)
	}
	for _, offset := range f.retired {
		if offset < 1 {
			return usagef("--retired %d: is no offset; the first is 1", offset)
		}
	}
	return nil
}

// migration is what one migrate command does.
type migration struct {
	doing string
	run   func(context.Context, migrations.Config) (*migrations.Report, error)
	// ask says what to ask about a plan; nothing to ask if it is nil or says "".
	ask func(*migrations.Report) string
}

// perform runs one migrate command and prints its report. If there is something
// to ask, the plan of a dry run is shown first.
func (f *migrateFlags) perform(cmd *cobra.Command, a *app, m migration) error {
	if f.timeout <= 0 {
		return usagef("--timeout %s: must be more than 0", f.timeout)
	}
	if f.lockWait < 0 {
		return usagef("--lock-timeout %s: must be at least 0", f.lockWait)
	}
	cfg, err := f.config(cmd, a)
	if err != nil {
		return err
	}
	if m.ask != nil && !f.yes && !f.dryRun {
		if done, err := f.askFirst(cmd.Context(), a, m, cfg); done {
			return err
		}
	}
	return a.reportOn(f.work(cmd.Context(), a, m, cfg, m.doing), *f.format)
}

// outcome is what a migration came to.
type outcome struct {
	report *migrations.Report // nil if nothing was begun
	err    error
}

func (f *migrateFlags) work(ctx context.Context, a *app, m migration, cfg migrations.Config, doing string) outcome {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	defer a.progress.start(doing)()
	report, err := m.run(ctx, cfg)
	return outcome{report, err}
}

func (a *app) reportOn(o outcome, f format) error {
	if o.report == nil {
		return o.err
	}
	return errors.Join(o.err, a.printReport(o.report, f))
}

// askFirst plans, shows the plan and asks. It has done all there is to do if the
// plan is to change nothing, or the answer is not yes.
func (f *migrateFlags) askFirst(ctx context.Context, a *app, m migration, cfg migrations.Config) (done bool, err error) {
	cfg.DryRun = true
	plan := f.work(ctx, a, m, cfg, "planning the change")
	planned := false
	if plan.report != nil {
		for i := range plan.report.Servers {
			s := &plan.report.Servers[i]
			planned = planned || s.State == migrations.StatePlanned
			s.SQL = nil
		}
	}
	if !planned {
		return true, a.reportOn(plan, *f.format)
	}
	question := m.ask(plan.report)
	if question == "" {
		return false, nil
	}
	if err := a.printReportTable(plan.report, a.err); err != nil {
		return true, err
	}
	if plan.err != nil {
		fmt.Fprintf(a.err, "%s\n", told(plan.err))
	}
	err = a.confirm(ctx, false, question, "nothing was changed")
	return err != nil, err
}

// askDown asks before tables are dropped.
func (f *migrateFlags) askDown(r *migrations.Report) string {
	reverts := false
	for _, s := range r.Servers {
		for _, done := range s.Done {
			reverts = reverts || strings.HasPrefix(done, "revert ")
		}
	}
	switch {
	case !reverts:
		return ""
	case f.destroy:
		return "Take this back, and with it the record of the numbers that have been issued? " +
			"Each of them may then be issued a second time."
	}
	return "Take this back? Applications that need the schema stop."
}

// retiring is askRetired where it has something to ask: else nothing is planned
// first, and `migrate up` looks at the servers once.
func (f *migrateFlags) retiring() func(*migrations.Report) string {
	if len(f.retired) == 0 {
		return nil
	}
	return f.askRetired
}

// askRetired asks before the offset of a server is given away.
func (f *migrateFlags) askRetired(*migrations.Report) string {
	if len(f.retired) == 0 {
		return ""
	}
	offsets := make([]string, len(f.retired))
	for i, o := range f.retired {
		offsets[i] = strconv.FormatInt(o, 10)
	}
	return fmt.Sprintf("Is the former server of offset %s dead, and will it stay so? Its successor issues the same numbers.", strings.Join(offsets, " and of "))
}

// askAdopt asks before a table is renamed.
func askAdopt(*migrations.Report) string {
	return "Take over from the table? What still writes to it fails from here on, and the tickets never go back."
}

func (a *app) migrateUp() *cobra.Command {
	f := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring every server to the newest schema; make a fleet of new ones",
		Long: `Bring every server to the newest schema. Servers without one get it, with one
identity for the fleet and an offset for each server. It may be repeated, run by
two people at once, and killed at any moment: the next run finishes it.

--increment, --shard-bits, --layout and --longest-lease are chosen when the
fleet is made, and for good. With --retired it shows what it is going to do, and
asks.

` + migrateFields,
		Example: `  oddeven migrate up --server 'migrate:secret@tcp(db1:3306)/oddeven' \
                     --server 'migrate:secret@tcp(db2:3306)/oddeven'
  oddeven migrate up --config fleet.yaml --increment 8 --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.perform(cmd, a, migration{"migrating the servers", migrations.Up, f.retiring()})
		},
	}
	f.common(cmd, true)
	f.settings(cmd)
	return cmd
}

func (a *app) migrateDown() *cobra.Command {
	f := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Take back the newest migration of every server",
		Long: `Take back the newest migration of every server. It shows what it is going to do,
and asks. A table that says which numbers have been issued is not dropped unless
--destroy-allocations is given.

` + migrateFields,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.perform(cmd, a, migration{"migrating the servers", migrations.Down, f.askDown})
		},
	}
	f.common(cmd, true)
	cmd.Flags().BoolVar(&f.destroy, "destroy-allocations", false, "drop tables even if they say which numbers have been issued; these can then be issued again")
	return cmd
}

func (a *app) migrateTo() *cobra.Command {
	f := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "to VERSION",
		Short: "Bring every server to one version, up or down",
		Long: `Bring every server to one version of the schema, up or down; 0 is none. On the
way down it shows what it is going to do, and asks. A table that says which
numbers have been issued is not dropped unless --destroy-allocations is given.

` + migrateFields,
		Example: "  oddeven migrate to 3 --dry-run",
		Args:    oneArg("a version"),
		RunE: func(cmd *cobra.Command, args []string) error {
			version, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usagef("%q is not a version; `oddeven migrate status` shows them", args[0])
			}
			run := func(ctx context.Context, cfg migrations.Config) (*migrations.Report, error) {
				return migrations.To(ctx, cfg, version)
			}
			ask := func(r *migrations.Report) string { return cmp.Or(f.askDown(r), f.askRetired(r)) }
			return f.perform(cmd, a, migration{"migrating the servers", run, ask})
		},
	}
	cmd.ValidArgsFunction = completeVersions
	f.common(cmd, true)
	f.settings(cmd)
	cmd.Flags().BoolVar(&f.destroy, "destroy-allocations", false, "drop tables even if they say which numbers have been issued; these can then be issued again")
	return cmd
}

func (a *app) migrateStatus() *cobra.Command {
	f := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far the schema of every server is; changes nothing",
		Long:  "Show how far the schema of every server is. Nothing is changed.\n\n" + migrateFields,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.perform(cmd, a, migration{"looking at the servers", migrations.Status, nil})
		},
	}
	f.common(cmd, false)
	return cmd
}

func (a *app) migrateAdopt() *cobra.Command {
	f := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "adopt TABLE",
		Short: "Take over from a ticket table written with REPLACE",
		Long: `Take over from a ticket table of Flickr's kind: one with an AUTO_INCREMENT
column that is written with REPLACE, on every server of the fleet.

The table is renamed to TABLE` + migrations.AdoptedSuffix + ` first, so that a writer that was
forgotten fails. Then the tickets of every server start above the largest value
of all of them, which is read back. Run "oddeven migrate up" before. TABLE may
be DATABASE.TABLE. It shows what it is going to do, and asks. It may be repeated
and killed at any moment.

` + migrateFields,
		Example: "  oddeven migrate adopt flickr.Tickets64",
		Args:    oneArg("a table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			run := func(ctx context.Context, cfg migrations.Config) (*migrations.Report, error) {
				return migrations.Adopt(ctx, cfg, args[0])
			}
			return f.perform(cmd, a, migration{"taking over from the table", run, askAdopt})
		},
	}
	f.common(cmd, true)
	return cmd
}
