// Command torture runs a fleet of real servers and client processes that draw IDs
// over the public API, makes faults of all kinds by a plan, and proves from what the
// clients were handed that no promise was broken. `make torture` builds and runs it.
//
//	schedule ── plan of the seed ──┐
//	                               v                  kill, freeze, clock
//	servers  <── proxies <──── run (this) ──────────────────────────┐
//	   ^            ^              │ faults, recoveries, calls       v
//	   │            └──────────────┼─────────────────────────── clients (order, client)
//	   └ kill, rewind, promote …   v                                 │ what they were handed
//	                            ledger <─────────────────────────────┘
//	                               │
//	                            verdict
//
// The exit code is 0 if nothing was found, 1 if something was or the run failed,
// and 2 for wrong flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/oddeven/oddeven/integration/torture/schedule"
)

func main() {
	opts, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(2)
	case opts.plan:
		printPlan(os.Stdout, opts)
		return
	case unsupported != nil:
		fmt.Fprintln(os.Stderr, "torture:", unsupported)
		os.Exit(1)
	}
	if opts.mutants == nil {
		if code, done := isolate(os.Args[1:]); done {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var ok bool
	if opts.mutants != nil {
		ok, err = tryMutants(ctx, opts.mutants, os.Stdout, io.Discard)
	} else {
		ok, err = torture(ctx, opts, os.Stdout, os.Stderr)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func printPlan(w io.Writer, o options) {
	steps := o.planned()
	for _, s := range steps {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintf(w, "plan %s: %d faults\n", schedule.Hash(steps), len(steps))
}
