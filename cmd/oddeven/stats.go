package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/overview"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

const (
	formatCSV format = "csv"

	// statsTimeout bounds what one server is given: the others have answered long
	// before, and a person waits.
	statsTimeout = 3 * time.Second
)

// statsFormat is the value of -o, which may also be csv here.
type statsFormat struct{ format }

func (f *statsFormat) Set(s string) error {
	if format(s) == formatCSV {
		f.format = formatCSV
		return nil
	}
	if f.format.Set(s) != nil {
		return errors.New("must be table, json or csv")
	}
	return nil
}

func (a *app) statsCommand() *cobra.Command {
	f := statsFormat{formatTable}
	watch := false
	cmd := &cobra.Command{
		Use:   "stats [SEQUENCE...]",
		Short: "Show what is allocated, how fast, where, and when it runs out",
		Long:  statsHelp,
		Example: `  oddeven stats
  oddeven stats orders --watch
  oddeven stats -o json | jq '.sequences[] | {name, forecast, runs_out_at}'`,
		Args: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if err := sequence.CheckName(name); err != nil {
					return err
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch && f.format != formatTable {
				return usagef("--watch draws a table; leave it out with -o %s, and call the command as often as you want a picture", f.format)
			}
			if watch && a.screen == nil {
				return usagef("--watch needs a terminal that can move its cursor; leave it out where the output goes elsewhere, and call the command as often as you want a picture")
			}
			return a.stats(cmd.Context(), args, f.format, watch)
		},
	}
	cmd.ValidArgsFunction = a.completeManySequences
	cmd.Flags().VarP(&f, "output", "o", "`FORMAT` of the result: table, json or csv")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "draw the table anew every second, until Ctrl-C")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// completeManySequences offers the names that are not on the command line yet.
func (a *app) completeManySequences(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, directive := a.completeSequences(cmd, nil, prefix)
	return slices.DeleteFunc(names, func(offered cobra.Completion) bool {
		name, _, _ := strings.Cut(offered, "\t") // the description comes after it
		return slices.Contains(args, name)
	}), directive
}

func (a *app) stats(ctx context.Context, names []string, f format, watch bool) error {
	servers, err := a.fleetServers()
	if err != nil {
		return err
	}
	r := overview.NewReader(ticket.Config{Servers: servers, Timeout: statsTimeout, Logger: a.logger()}, names...)
	if watch {
		return errors.Join(a.watchStats(ctx, r, names), r.Close())
	}
	return errors.Join(a.statsOnce(ctx, r, names, f), r.Close())
}

// statsOnce prints one picture. The error says what is missing in it.
func (a *app) statsOnce(ctx context.Context, r *overview.Reader, names []string, f format) error {
	ctx, cancel := context.WithTimeout(ctx, fleetTimeout)
	defer cancel()
	stop := a.progress.start("asking the servers")
	p, err := r.Read(ctx)
	stop()
	if err != nil {
		return err
	}
	unknown := unknownSequences(ctx, r, p, names)
	if len(names) > 0 && len(p.Sequences) == 0 && p.Up() == len(p.Servers) {
		return unknown
	}
	p.Sequences = shownSequences(p, names)
	switch f {
	case formatJSON:
		err = printJSON(a.out, statsToJSON(p))
	case formatCSV:
		err = printStatsCSV(a.out, p)
	default:
		_, err = fmt.Fprintln(a.out, strings.Join(drawStats(p, a.colours()), "\n"))
	}
	return errors.Join(err, statsProblems(p), unknown)
}

// shownSequences leaves out tombstones that nobody asked for and that are in order.
func shownSequences(p *overview.Picture, names []string) []overview.Sequence {
	return slices.DeleteFunc(p.Sequences, func(s overview.Sequence) bool {
		return s.State.Deleted && s.InOrder() && !slices.Contains(names, s.Name)
	})
}

// statsProblems is an error if a server does not answer or may not issue.
func statsProblems(p *overview.Picture) error {
	var errs []error
	for _, s := range p.Servers {
		errs = append(errs, s.Problem())
	}
	return errors.Join(errs...)
}

// unknownSequences is an error for the names that no server has.
func unknownSequences(ctx context.Context, r *overview.Reader, p *overview.Picture, names []string) error {
	var errs []error
	var all []string
	for i, name := range names {
		has := func(s overview.Sequence) bool { return s.Name == name }
		if slices.ContainsFunc(p.Sequences, has) || slices.Contains(names[:i], name) {
			continue
		}
		if all == nil {
			all = r.Names(ctx)
		}
		remedy := "`oddeven sequence list` shows those there are"
		if near := like(name, all); len(near) > 0 {
			for i := range near {
				near[i] = sequence.Quote(near[i])
			}
			remedy = "Did you mean " + strings.Join(near, " or ") + "?"
		}
		errs = append(errs, &sequence.Error{Sequence: name, Problem: "no server that answers has it", Remedy: remedy, Kind: sequence.ErrUnknown})
	}
	return errors.Join(errs...)
}
