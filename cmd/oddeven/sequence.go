package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

func (a *app) sequenceCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "sequence",
		Short: "Show, create and mend the named sequences of a fleet",
		Long: `Show, create and mend the named sequences of a fleet. Every server has a row of
each, and issues the IDs of its own residue class from it.

Names are 1 to 128 bytes of UTF-8 without control characters. They are compared
byte by byte: case and trailing blanks count.`,
	}, a.sequenceList(), a.sequenceShow(), a.sequenceCreate(), a.sequenceBump(), a.sequenceRepair(), a.sequenceDelete())
}

// sequenceName checks the argument of a command.
func sequenceName(cmd *cobra.Command, args []string) error {
	if err := oneArg("the name of a sequence")(cmd, args); err != nil {
		return err
	}
	return sequence.CheckName(args[0])
}

// unknownSequence says which sequences there are that the name may stand for.
func (a *app) unknownSequence(ctx context.Context, fleet *ticket.Fleet, name string) error {
	err := &sequence.Error{
		Sequence: name, Problem: "no server that answers has it", Kind: sequence.ErrUnknown,
		Remedy: fmt.Sprintf("`oddeven sequence create %s` creates it, `oddeven sequence list` shows those there are", sequence.ShellQuote(name)),
	}
	if n, notNumber := strconv.Atoi(name); notNumber == nil && n >= 1 && n <= ticket.MaxN {
		err.Remedy += fmt.Sprintf(". For %d tickets say: oddeven next -n %d", n, n)
	}
	all, _ := sequence.Read(ctx, fleet) // what can't be read can't be meant
	var names []string
	for _, s := range all {
		if !s.State.Deleted {
			names = append(names, s.Name)
		}
	}
	if near := like(name, names); len(near) > 0 {
		for i := range near {
			near[i] = sequence.ShellQuote(near[i])
		}
		err.Remedy = "Did you mean " + strings.Join(near, " or ") + "? " + err.Remedy
	}
	return err
}

func (a *app) sequenceList() *cobra.Command {
	var f *format
	var deleted bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sequences; changes none",
		Long: `List the sequences with the highest ID that any server may have issued. The exit
code is 1 if a server does not answer. "oddeven sequence show" says what is to
be mended. Like every client, the command fences a server that was restarted.

With -o json the result is a list of sequences:

` + sequenceFields,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onFleet(cmd.Context(), job{doing: "reading the sequences"}, func(ctx context.Context, fleet *ticket.Fleet) error {
				all, errs := sequence.Read(ctx, fleet)
				return errors.Join(append(errs, a.printSequences(all, deleted, *f))...)
			})
		},
	}
	f = addFormat(cmd)
	cmd.Flags().BoolVar(&deleted, "deleted", false, "list deleted ones too")
	return cmd
}

func (a *app) sequenceShow() *cobra.Command {
	var f *format
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a sequence on every server; does not change it",
		Long: `Show a sequence on every server, and what is wrong with it. The exit code is 1
if a server does not answer or something is to be mended. Like every client, the
command fences a server that was restarted.

With -o json the result is an object:

` + sequenceFields,
		Args: sequenceName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onFleet(cmd.Context(), job{doing: "reading the sequences"}, func(ctx context.Context, fleet *ticket.Fleet) error {
				all, errs := sequence.Read(ctx, fleet, args[0])
				if len(all) == 0 {
					return errors.Join(append([]error{a.unknownSequence(ctx, fleet, args[0])}, errs...)...)
				}
				return errors.Join(append(errs, a.printSequence(all[0], *f), trouble(all[0]))...)
			})
		},
	}
	cmd.ValidArgsFunction = a.completeSequences
	f = addFormat(cmd)
	return cmd
}

// trouble is an error that says what to do about a sequence that is not in order.
func trouble(s sequence.Sequence) error {
	if s.InOrder() {
		return nil
	}
	remedy := fmt.Sprintf("`oddeven sequence repair %s` mends it", sequence.ShellQuote(s.Name))
	for _, o := range s.Servers {
		for _, p := range o.Problems {
			switch p {
			case sequence.FarAhead:
				remedy = "`oddeven sequence repair` says what can be done about a row that is far ahead"
			case sequence.BornInTheFuture:
				remedy = "A server's clock was wrong when it was created or bumped. If a server forgets before that time, only the other servers and the clients protect it"
			}
		}
	}
	return &sequence.Error{Sequence: s.Name, Problem: "is not in order on every server", Remedy: remedy, Kind: sequence.ErrIncomplete}
}
