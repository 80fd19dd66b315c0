package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// planFunc plans a change, or plans and makes it.
type planFunc func(context.Context, *ticket.Fleet) (sequence.Plan, error)

// changeFlags are shared by the commands that change a sequence.
type changeFlags struct {
	start    string   // what the command calls the start
	warnings []string // of what the change is made from
	format   *format
	dryRun   bool
	yes      bool
	timeout  time.Duration
}

func (f *changeFlags) add(cmd *cobra.Command) {
	f.format = addFormat(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "do not carry it out, print what would be changed")
	cmd.Flags().DurationVar(&f.timeout, "timeout", fleetTimeout, "give up after this `TIME`; the same command again completes what was begun")
}

// change plans or makes a change and prints it. A question, if there is one, is
// asked under the plan; the change is planned anew after the answer.
func (a *app) change(cmd *cobra.Command, f *changeFlags, question string, plan, do planFunc) error {
	if f.timeout <= 0 {
		return usagef("--timeout %s: must be more than 0", f.timeout)
	}
	run := func(doing string, step planFunc) (p sequence.Plan, err error) {
		err = a.onFleet(cmd.Context(), job{doing: doing, timeout: f.timeout}, func(ctx context.Context, fleet *ticket.Fleet) error {
			p, err = step(ctx, fleet)
			p.Warnings = slices.Concat(f.warnings, p.Warnings)
			if config, ok := errors.AsType[*ticket.ConfigError](err); ok && config.Field == "Start" {
				return &ticket.ConfigError{Field: f.start, Value: config.Value, Remedy: config.Remedy}
			}
			return err
		})
		return p, err
	}
	if f.dryRun || question != "" && !f.yes {
		p, err := run("planning the change", plan)
		if err != nil || f.dryRun || p.Empty() {
			return a.report(p, f.dryRun, *f.format, err)
		}
		a.warn(p.Warnings)
		if err := printTable(a.err, planHeader, planRows(p)); err != nil {
			return err
		}
		if err := a.confirm(cmd.Context(), f.yes, question, "not carried out"); err != nil {
			return err
		}
	}
	p, err := run("changing the sequence", do)
	return a.report(p, false, *f.format, err)
}

// report prints a plan unless there was an error.
func (a *app) report(p sequence.Plan, dry bool, f format, err error) error {
	if err != nil {
		return err
	}
	return a.printPlan(p, dry, f)
}

func (a *app) sequenceCreate() *cobra.Command {
	f := &changeFlags{start: "--start"}
	above := &aboveFlags{}
	var spec sequence.Spec
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a sequence on every server of a fleet",
		Long: `Create a sequence on every server of the fleet. All of them must be up. A name
that was deleted goes on above everything it may have issued. What was
interrupted is completed by the same command again. IDs here and in all commands
are without shard bits.

--above reads the largest number in use from your own databases and starts above
it. The counter of an AUTO_INCREMENT column counts too, and so do rows deleted
at the top. Stop what writes to these tables first: what is written later is not
seen. The databases are those that the variables named by --dsn-env lead to;
each table must be in one of them at least. They are only read: SELECT is enough.

` + planFields,
		Example: `  oddeven sequence create orders --description 'order numbers'
  oddeven sequence create users --start 1000000 --ceiling 2147483647
  oddeven sequence create items --above items.id --above old_items.id \
                                --dsn-env SHARD_1_DSN --dsn-env SHARD_2_DSN`,
		Args: sequenceName,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec.Name = args[0]
			if err := above.check(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("ceiling") && spec.Ceiling < 1 {
				return usagef("--ceiling %d: must be more than 0", spec.Ceiling)
			}
			var err error
			if f.warnings, err = a.readAbove(cmd.Context(), above, &spec); err != nil {
				return err
			}
			return a.change(cmd, f, "",
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.PlanCreate(ctx, fleet, spec)
				},
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.Create(ctx, fleet, spec)
				})
		},
	}
	f.add(cmd)
	above.add(cmd)
	flags := cmd.Flags()
	flags.Int64Var(&spec.Start, "start", 0, "issue no `ID` below this one")
	flags.Int64Var(&spec.Ceiling, "ceiling", 0, "issue no `ID` above this one (default: the largest, 2^53 - 1 without shard bits)")
	flags.StringVar(&spec.Description, "description", "", "`TEXT` for people, at most 255 characters")
	_ = flags.SetAnnotation("description", mayBeEmpty, []string{"yes"})
	return cmd
}

func (a *app) sequenceBump() *cobra.Command {
	f := &changeFlags{start: "ID"}
	cmd := &cobra.Command{
		Use:   "bump NAME ID",
		Short: "Raise a sequence, so that nothing below an ID is reserved",
		Long: `Raise a sequence on every server, so that nothing below ID is reserved any more.
Processes first use up what they hold, for up to MaxAge, unless they are restarted.
Nothing can lower it again: the IDs in between are lost. All servers must be up.
It shows what it is going to do, and asks.

` + planFields,
		Example: "  oddeven sequence bump orders 5000000",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s takes two arguments, the name of a sequence and an ID; got %d", cmd.CommandPath(), len(args))
			}
			return sequence.CheckName(args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			start, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || start < 1 {
				return usagef("%q is not an ID, a number of at least 1", args[1])
			}
			question := fmt.Sprintf("Raise sequence %s like this? It cannot be lowered again.", sequence.Quote(args[0]))
			return a.change(cmd, f, question,
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.PlanBump(ctx, fleet, args[0], start)
				},
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.Bump(ctx, fleet, args[0], start)
				})
		},
	}
	cmd.ValidArgsFunction = a.completeSequences
	f.add(cmd)
	addYes(cmd, &f.yes, "do not ask")
	return cmd
}

func (a *app) sequenceRepair() *cobra.Command {
	f := &changeFlags{}
	cmd := &cobra.Command{
		Use:   "repair NAME",
		Short: "Mend the servers that missed a change of a sequence, or forgot it",
		Long: `Mend the servers that missed a change of a sequence, or forgot it: a creation, a
bump, a deletion. What the newest row says is brought to all servers. A row that
is missing or may have forgotten something leaps beyond everything it may have
issued, so IDs jump. All servers must be up. It shows what it is going to do,
and asks. Where nothing is wrong nothing is changed.

` + planFields,
		Args: sequenceName,
		RunE: func(cmd *cobra.Command, args []string) error {
			question := fmt.Sprintf("Repair sequence %s like this? What is raised cannot be lowered again.", sequence.Quote(args[0]))
			return a.change(cmd, f, question,
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.PlanRepair(ctx, fleet, args[0])
				},
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.Repair(ctx, fleet, args[0])
				})
		},
	}
	cmd.ValidArgsFunction = a.completeSequences
	f.add(cmd)
	addYes(cmd, &f.yes, "do not ask")
	return cmd
}

func (a *app) sequenceDelete() *cobra.Command {
	f := &changeFlags{}
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a sequence, leaving a mark of how far it went",
		Long: `Delete a sequence on every server. A mark stays of how far it went, so that the
name goes on above it if it is created again. Applications use up what they have
reserved, and then fail. All servers must be up. It shows what it is going to
do, and asks.

` + planFields,
		Args: sequenceName,
		RunE: func(cmd *cobra.Command, args []string) error {
			question := fmt.Sprintf("Delete sequence %s? Applications that use it will fail.", sequence.Quote(args[0]))
			return a.change(cmd, f, question,
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.PlanDelete(ctx, fleet, args[0])
				},
				func(ctx context.Context, fleet *ticket.Fleet) (sequence.Plan, error) {
					return sequence.Delete(ctx, fleet, args[0])
				})
		},
	}
	cmd.ValidArgsFunction = a.completeSequences
	f.add(cmd)
	addYes(cmd, &f.yes, "do not ask")
	return cmd
}
