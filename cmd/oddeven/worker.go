package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

func (a *app) workerCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "worker",
		Short: "Show who has the Snowflake worker numbers, and free one",
	}, a.workerList(), a.workerRelease())
}

func (a *app) workerList() *cobra.Command {
	var f *format
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the worker numbers that are leased or parked",
		Long: `Show the worker numbers that are leased or parked, and by whom they are held.
Times are the servers', in UTC. The last tick is the one known at the last
renewal. A parked number is kept back because its server was restarted: like
every client, the command fences such a server, which parks its numbers.

` + workerFields,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onFleet(cmd.Context(), job{doing: "reading the worker numbers"}, func(ctx context.Context, fleet *ticket.Fleet) error {
				leases, errs := snowflake.Leases(ctx, fleet)
				return errors.Join(a.printLeases(leases, *f, all), errors.Join(errs...))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show the free numbers too")
	f = addFormat(cmd)
	return cmd
}

// workerFields describes leaseJSON.
const workerFields = `With -o json the result is a list of worker numbers. Times are RFC 3339; what is
not known is left out:

  number     the worker number
  server     host:port/database of the server that grants it
  state      leased, parked or free
  until      end of what was granted or parked
  host       of the last holder
  process    of the last holder: ID and name
  since      when it was granted
  renewed    when it was last renewed
  last_tick  the tick used last, as of the last renewal or the release`

// leaseJSON is one number of `worker list -o json`.
type leaseJSON struct {
	Number  int64      `json:"number"`
	Server  string     `json:"server"`
	State   string     `json:"state"`
	Until   *time.Time `json:"until,omitempty"`
	Host    string     `json:"host,omitempty"`
	Process string     `json:"process,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	Renewed *time.Time `json:"renewed,omitempty"`
	Last    *time.Time `json:"last_tick,omitempty"`
}

func (a *app) printLeases(leases []snowflake.Lease, f format, all bool) error {
	out := []leaseJSON{}
	t := table{header: []string{"NUMBER", "STATE", "SINCE (UTC)", "UNTIL (UTC)", "LAST TICK (UTC)"}}
	for _, l := range leases {
		if l.State == snowflake.LeaseFree && !all {
			continue
		}
		out = append(out, leaseJSON{
			Number: l.Number, Server: l.Server, State: string(l.State), Until: some(l.Until), Host: l.Host, Process: l.Process,
			Since: some(l.Since), Renewed: some(l.Renewed), Last: some(l.Last),
		})
		t.rows = append(t.rows, []string{strconv.FormatInt(l.Number, 10), string(l.State), moment(l.Since), moment(l.Until), moment(l.Last)})
		t.notes = append(t.notes, leaseHolder(l))
	}
	if f == formatJSON {
		return printJSON(a.out, out)
	}
	return t.print(a.out)
}

// leaseHolder says who has, or had, a number.
func leaseHolder(l snowflake.Lease) string {
	switch {
	case l.Host == "" && l.Process == "":
		return ""
	case l.State == snowflake.LeaseHeld:
		return fmt.Sprintf("process %s on %s", l.Process, l.Host)
	}
	return fmt.Sprintf("last: process %s on %s", l.Process, l.Host)
}

// moment is a time for a table.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func (a *app) workerRelease() *cobra.Command {
	var force, yes bool
	cmd := &cobra.Command{
		Use:   "release NUMBER",
		Short: "Free a worker number whose holder is dead",
		Long: `Free a worker number whose holder is dead, before its lease ends by itself.

A lease that can still be in use is released with --force only, which asks. Give
it only if that process is surely dead: if it is alive after all, also frozen or
cut off from the network, it makes the same IDs as the next one that gets the
number. If it had a state file, remove that file as well: started again while
this server does not answer, the process would take the lease up from it. The
number is free two minutes later at most.`,
		Example: "  oddeven worker release 17 --force",
		Args:    oneArg("a worker number"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || number < 0 {
				return usagef("%q is not a worker number", args[0])
			}
			return a.releaseNumber(cmd.Context(), number, force, yes)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "release it although it can still be in use; asks first")
	addYes(cmd, &yes, "do not ask; the holder is dead")
	cmd.ValidArgsFunction = a.completeWorkers
	return cmd
}

func (a *app) releaseNumber(ctx context.Context, number int64, force, yes bool) error {
	l, err := a.findLease(ctx, number)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("Worker number %d on %s is %s until %s", number, l.Server, l.State, moment(l.Until))
	if l.Host != "" {
		what += fmt.Sprintf(", and was last held by process %s on %s", l.Process, l.Host)
	}
	switch {
	case l.State == snowflake.LeaseFree:
		_, err = fmt.Fprintf(a.out, "worker number %d is free\n", number)
		return err
	case !force:
		return errors.New(what + ". Its ticks can still be in use: wait until then, or give --force if the holder is dead")
	}
	fmt.Fprintf(a.err, "%s.\nIf a process with this number is alive, frozen or cut off, it makes the same IDs as the next one that gets the number.\n", what)
	fmt.Fprintf(a.err, "If it had a state file, remove the file too: started again while this server does not answer, it would take the lease up from there.\n")
	if l.State == snowflake.LeaseParked {
		fmt.Fprintf(a.err, "The server was restarted: it may have forgotten who has the number, so this goes for every process that ever had it.\n")
	}
	if err := a.confirm(ctx, yes, "Are they all dead, and will they stay so?", "not released"); err != nil {
		return err
	}
	// Opened anew, because the answer may have taken a while.
	return a.onFleet(ctx, job{doing: "releasing the number"}, func(ctx context.Context, fleet *ticket.Fleet) error {
		free, err := snowflake.ForceRelease(ctx, fleet, l)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.out, "worker number %d is free from %s (UTC) on\n", number, moment(free))
		return err
	})
}

// findLease is the lease of one number.
func (a *app) findLease(ctx context.Context, number int64) (found snowflake.Lease, err error) {
	err = a.onFleet(ctx, job{doing: "reading the worker numbers"}, func(ctx context.Context, fleet *ticket.Fleet) error {
		leases, errs := snowflake.Leases(ctx, fleet)
		for _, l := range leases {
			if l.Number == number {
				found = l
				return nil
			}
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("find worker number %d: %w", number, err)
		}
		return usagef("there is no worker number %d: the fleet has %d of them", number, len(leases))
	})
	return found, err
}
