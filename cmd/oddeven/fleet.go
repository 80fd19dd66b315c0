package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/ticket"
)

func (a *app) fleetCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "fleet",
		Short: "Show the servers of a fleet, and let one back in",
	}, a.fleetStatus(), a.fleetAccept(), a.fleetSingleWriter())
}

func (a *app) fleetStatus() *cobra.Command {
	var f *format
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how every server stands; changes nothing",
		Long: `Show what every server is and whether it may issue. Nothing is changed. The exit
code is 1 if a server is out or cannot be reached.

` + fleetFields,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := a.inspect(cmd.Context())
			if err != nil {
				return err
			}
			return errors.Join(a.printFleet(found, *f), fleetProblems(found))
		},
	}
	f = addFormat(cmd)
	return cmd
}

// fleetProblems is an error if a server does not answer or may not issue.
func fleetProblems(found []ticket.Inspection) error {
	var errs []error
	for _, i := range found {
		if err := errors.Join(i.Err, i.Verdict); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// fleetFields describes inspectionJSON.
const fleetFields = `With -o json the result is a list of servers, in the order given. What is not
known of a server, or is 0 or false, is left out:

  server          host:port/database
  state           ok, to be fenced, read-only, out or unreachable
  error           why it is out or unreachable
  fleet           identity of the fleet, in hexadecimal
  identity        of the server, in hexadecimal
  offset          1 to the increment
  increment       how many servers the fleet can have
  schema          its version
  gen             generation: how often the server was fenced, or heard of one
  gen_remembered  the newest generation that another server remembers of it
  uuid            server_uuid of MySQL, server_uid of MariaDB
  started         start of the server process, RFC 3339 like all times
  fenced_at       the last fence
  fence_reason    why it was fenced
  fenced_by       the client that did it
  highest_ticket  the largest ticket that it may have issued
  clock_line      where a fence would move the tickets to now
  ceiling         tickets stay at or below it
  read_only       true if the server is read-only`

// inspectionJSON is one server of `fleet status -o json`.
type inspectionJSON struct {
	Server      string     `json:"server"`
	State       string     `json:"state"`
	Error       string     `json:"error,omitempty"`
	Fleet       string     `json:"fleet,omitempty"`
	Identity    string     `json:"identity,omitempty"`
	Offset      int64      `json:"offset,omitempty"`
	Increment   int64      `json:"increment,omitempty"`
	Schema      int64      `json:"schema,omitempty"`
	Gen         int64      `json:"gen,omitempty"`
	Remembered  int64      `json:"gen_remembered,omitempty"`
	UUID        string     `json:"uuid,omitempty"`
	Started     *time.Time `json:"started,omitempty"`
	FencedAt    *time.Time `json:"fenced_at,omitempty"`
	FenceReason string     `json:"fence_reason,omitempty"`
	FencedBy    string     `json:"fenced_by,omitempty"`
	Top         int64      `json:"highest_ticket,omitempty"`
	Line        int64      `json:"clock_line,omitempty"`
	Ceiling     int64      `json:"ceiling,omitempty"`
	ReadOnly    bool       `json:"read_only,omitempty"`
}

// fleetState says in a word how a server stands.
func fleetState(i ticket.Inspection) string {
	switch {
	case i.Err != nil:
		return "unreachable"
	case i.Verdict != nil:
		return "out"
	case i.ReadOnly:
		return "read-only"
	case i.Fence != "":
		return "to be fenced"
	}
	return "ok"
}

func (a *app) printFleet(found []ticket.Inspection, f format) error {
	if f == formatJSON {
		out := make([]inspectionJSON, len(found))
		for n, i := range found {
			out[n] = inspectionJSON{
				Server: i.Server, State: fleetState(i), Fleet: i.Fleet, Identity: i.Identity, Offset: i.Offset, Increment: i.Increment,
				Schema: i.Schema, Gen: i.Gen, Remembered: i.Remembered, UUID: i.UUID, Started: some(i.Started), FencedAt: some(i.FencedAt),
				FenceReason: i.FenceReason, FencedBy: i.FencedBy, Top: i.Top, Line: i.Line, Ceiling: i.Ceiling, ReadOnly: i.ReadOnly,
			}
			if err := errors.Join(i.Err, i.Verdict); err != nil {
				out[n].Error = redact(err.Error(), nil)
			}
		}
		return printJSON(a.out, out)
	}
	t := table{header: []string{"SERVER", "OFFSET", "GEN", "STATE", "LAST TICKET", "STARTED (UTC)"}}
	for _, i := range found {
		row, note := []string{i.Server, "-", "-", fleetState(i), "-", "-"}, ""
		if i.Err == nil {
			row[1] = fmt.Sprintf("%d of %d", i.Offset, i.Increment)
			row[2] = strconv.FormatInt(i.Gen, 10)
			row[4] = strconv.FormatInt(i.Top, 10)
			row[5] = minute(i.Started)
		}
		if i.Err == nil && !i.FencedAt.IsZero() {
			note = fmt.Sprintf("last fence %s: %s", moment(i.FencedAt), i.FenceReason)
		}
		t.rows, t.notes = append(t.rows, row), append(t.notes, note)
	}
	return t.print(a.out)
}

// some is nil for the zero time.
func some(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *app) fleetAccept() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "accept SERVER",
		Short: "Let a server issue that is not the one known before",
		Long: `Let a server issue that is out: it is another server in the place of the one
known, or may be a second copy of it. SERVER is host:port/database as "oddeven
fleet status" shows it.

Only do so when the old one is dead and will stay so. Two live copies issue the
same numbers. The server's numbers go on above everything the old one may have
issued.`,
		Example: "  oddeven fleet accept db1:3306/oddeven",
		Args:    oneArg("a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.accept(cmd.Context(), args[0], yes)
		},
	}
	addYes(cmd, &yes, "do not ask; the old server is dead")
	cmd.ValidArgsFunction = a.completeServers
	return cmd
}

// accept lets a server in. The servers are asked anew after the answer, which
// may have taken a while.
func (a *app) accept(ctx context.Context, name string, yes bool) error {
	found, err := a.inspect(ctx)
	if err != nil {
		return err
	}
	if err := a.acceptable(found, name); err != nil {
		return err
	}
	question := "Is the server that was known before at " + name + " dead, and will it stay so?"
	if err := a.confirm(ctx, yes, question, "not accepted"); err != nil {
		return err
	}
	servers, err := a.fleetServers()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fleetTimeout)
	defer cancel()
	stop := a.progress.start("accepting the server")
	err = ticket.Accept(ctx, ticket.Config{Servers: servers, Logger: a.logger()}, name)
	stop()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "accepted %s\n", name)
	return err
}

func (a *app) fleetSingleWriter() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "single-writer on|off",
		Short: "Say whether every server is guaranteed to have one live copy",
		Long: `Say whether something outside guarantees that there is never more than one live
copy of a server: managed failover, Group Replication with a majority, a volume
that can be attached only once. Another server in the place of one is then
fenced and goes on by itself, without "oddeven fleet accept". If the guarantee
does not hold, two copies issue the same numbers.`,
		Args: oneArg("on or off"),
		RunE: func(cmd *cobra.Command, args []string) error {
			on := args[0] == "on"
			if !on && args[0] != "off" {
				return usagef("%q is neither on nor off", args[0])
			}
			servers, err := a.fleetServers()
			if err != nil {
				return err
			}
			if err := a.confirm(cmd.Context(), yes || !on, "Is it guaranteed that no server ever has two live copies?", "not marked"); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), fleetTimeout)
			defer cancel()
			defer a.progress.start("marking the servers")()
			if err := ticket.SetSingleWriter(ctx, ticket.Config{Servers: servers, Logger: a.logger()}, on); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "single writer: %s\n", args[0])
			return err
		},
	}
	addYes(cmd, &yes, "do not ask; it is guaranteed")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"on", "off"}, cobra.ShellCompDirectiveNoFileComp)
	return cmd
}

// acceptable finds out whether there is anything to ask about.
func (a *app) acceptable(found []ticket.Inspection, name string) error {
	var names []string
	for _, i := range found {
		names = append(names, i.Server)
		switch {
		case i.Server != name:
		case i.Err != nil:
			return i.Err
		case i.Verdict == nil:
			return fmt.Errorf("%w: server %s is in order", ticket.ErrNothingToAccept, name)
		case !errors.Is(i.Verdict, ticket.ErrNotAccepted):
			return i.Verdict
		default:
			fmt.Fprintln(a.err, told(i.Verdict))
			return nil
		}
	}
	return usagef("%q is none of the fleet's servers: %s%s", name, strings.Join(names, ", "), didYouMean("", like(name, names)))
}
