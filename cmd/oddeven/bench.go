package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/bench"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const benchFields = `With -o json the result is an object. Fields that would be empty may be missing:

  client              this program and this machine:
    version, go, os, arch, gomaxprocs
    conns             to each server at most
    duration_seconds  of one measurement
  servers             a list:
    server            host:port/database
    offset            1 to the increment
    version, state, error
  measurements        a list:
    name              round_trip, ticket, refill, segment_next,
                      segment_try_next, generator_next, worker_next or
                      worker_burst
    server, offset    of a round trip
    callers           at the same time
    count             calls that succeeded
    failed, error     calls that did not, and the first reason
    seconds           how long it took
    per_second        calls
    ns_per_id         from memory: how long a call takes
    latency_ns        over the network: at most 1/64 more than the truth and
                      never less; max is exact
      p50, p90, p99, p99_9, max
  failovers           a list:
    variant           refused or silent
    callers, count, failed, error
    longest_call_ns   from the cut on
    first_worker_id_ns
                      from the cut to the first ID of the worker
    outage_ns         how long the client was cut off
    first_segment_id_ns
                      from the end of the outage on
  left_out            what was not measured, a list:
    what, why
  used                what this run has used up:
    tickets, sequence, rounds
  checked             IDs that were compared with all others
  duplicates          IDs that came twice
  first_duplicate     one of them
  interrupted         true after Ctrl-C
  ok                  nothing came twice, nothing failed, not interrupted`

func (a *app) benchCommand() *cobra.Command {
	var cfg bench.Config
	var yes bool
	var f *format
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what this fleet, the network and this machine give",
		Long: `Measure what this fleet, the network and this machine give, with the account that
the application uses. Nothing on the servers changes but that numbers are used
up; the question says how many at most. Run it where the application runs.

Over the network, with calls a second and how long a call takes:

  round trip     a server's reply to DO 1: what anything costs at least; callers
                 are no more than there are connections
  ticket         Next of a fleet: callers at the same time share a statement
  refill         the reservation of one round of a sequence: what an application
                 needs once for thousands of IDs

From memory, with at most as many callers as there are CPUs; nanoseconds are those
of one call, refills included:

  Allocator.Next, Allocator.TryNext, Generator.Next    IDs of a sequence
  Worker.Next, no rest    bound by how many IDs the layout has in a tick
  Worker.TryNext, bursts  what a call costs that need not wait for the next tick

Cut off from all servers: the connections of this client alone are closed and new
ones refused, and then again, replies no longer come. Callers draw on from a
Generator. LONGEST is the longest call from the cut on, WORKER AFTER how long it
takes to the first ID of the Snowflake worker, SEGMENTS AFTER how long from the
end of the outage until IDs come from segments again. Segments last for 50 ms
here, so that they are soon used up; in an application they last for seconds.

All but round trips, tickets and the worker needs a sequence. Take one that is
there for this, because its IDs jump: oddeven sequence create bench. Every ID is
compared with all others, of those from memory one block in 64.

` + benchFields,
		Example: `  oddeven bench
  oddeven bench --sequence bench --duration 10s --callers 1,16,64 --yes`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cfg.Sequence != "" {
				if err := sequence.CheckName(cfg.Sequence); err != nil {
					return err
				}
			}
			if err := checkBench(cfg); err != nil {
				return err
			}
			return a.bench(cmd.Context(), cfg, yes, *f)
		},
	}
	f = addFormat(cmd)
	flags := cmd.Flags()
	flags.StringVar(&cfg.Sequence, "sequence", "", "`NAME` of the sequence to measure with")
	flags.DurationVar(&cfg.Duration, "duration", 3*time.Second, "`TIME` for each measurement, 10ms to 10m")
	flags.IntSliceVar(&cfg.Callers, "callers", []int{1, 64}, "`NUMBERS` of concurrent callers, each 1 to 1000")
	flags.IntVar(&cfg.Conns, "conns", 8, "connections to each server at most, 1 to 1000")
	flags.DurationVar(&cfg.Timeout, "statement-timeout", 2*time.Second, "`TIME` for one statement on one server, as the application has it")
	addYes(cmd, &yes, "use the numbers up, do not ask")
	_ = cmd.RegisterFlagCompletionFunc("sequence", a.completeSequences)
	return cmd
}

// checkBench refuses what [bench.Config] would take for a default: a zero that was
// typed is a mistake.
func checkBench(cfg bench.Config) error {
	switch {
	case cfg.Duration < bench.ShortestDuration || cfg.Duration > bench.LongestDuration:
		return usagef("--duration %s: must be %s to %s", cfg.Duration, bench.ShortestDuration, bench.LongestDuration)
	case cfg.Conns < 1 || cfg.Conns > bench.MostConns:
		return usagef("--conns %d: must be 1 to %d", cfg.Conns, bench.MostConns)
	case cfg.Timeout <= 0:
		return usagef("--statement-timeout %s: must be more than 0", cfg.Timeout)
	}
	return nil
}

func (a *app) bench(ctx context.Context, cfg bench.Config, yes bool, f format) error {
	var err error
	if cfg.Servers, err = a.fleetServers(); err != nil {
		return err
	}
	cfg.Version, cfg.Progress, cfg.Logger = buildVersion(), a.err, a.logger()
	stop := a.progress.start("looking at the servers")
	plan, err := bench.NewPlan(ctx, cfg)
	stop()
	if errors.Is(err, segment.ErrUnknownSequence) {
		return a.onFleet(ctx, job{doing: "reading the sequences"}, func(ctx context.Context, fleet *ticket.Fleet) error {
			return a.unknownSequence(ctx, fleet, cfg.Sequence)
		})
	}
	if err != nil {
		return err
	}
	fmt.Fprint(a.err, planned(plan, cfg))
	if err := a.confirm(ctx, yes, "Use them up?", "nothing was used up"); err != nil {
		return err
	}
	report, err := bench.Run(ctx, cfg)
	if report == nil {
		return err
	}
	if f == formatJSON {
		return errors.Join(printJSON(a.out, report), err)
	}
	return errors.Join(report.Print(a.out), err)
}

// planned says what is going to be used up.
func planned(p bench.Plan, cfg bench.Config) string {
	of := func(n, left int64) string {
		return fmt.Sprintf("%s, one in %s of those left", bench.Grouped(n), bench.Grouped(left/max(1, n)))
	}
	text := fmt.Sprintf("%d of %d servers answer. This takes about %s and uses up, for good, at most about\n", p.Servers, len(cfg.Servers), p.Takes.Round(time.Second))
	if p.TicketsOut == "" {
		text += "  tickets: " + of(p.Tickets, p.TicketsLeft) + "\n"
	}
	if cfg.Sequence != "" {
		text += fmt.Sprintf("  rounds of sequence %s: %s; its IDs jump by what is used\n", sequence.Quote(cfg.Sequence), of(p.Rounds, p.RoundsLeft))
	}
	return text + "A worker number is leased, and released at the end.\n"
}
