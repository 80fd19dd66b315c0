package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

func (a *app) nextCommand() *cobra.Command {
	var n int
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "next [NAME]",
		Short: "Draw tickets, or IDs of a sequence, and print them, one per line",
		Long: `Draw tickets, or with NAME IDs of that sequence, and print them, one per line. A
number printed is used: it is never handed out again. Of a sequence more IDs may
be reserved than are printed; the rest is a gap.`,
		Example: "  oddeven next\n  oddeven next -n 100\n  oddeven next orders -n 100",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%s takes at most one argument, the name of a sequence; got %d", cmd.CommandPath(), len(args))
			}
			if len(args) == 1 {
				return sequence.CheckName(args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if n < 1 || n > ticket.MaxN {
				return usagef("-n %d: must be 1 to %d", n, ticket.MaxN)
			}
			if timeout <= 0 {
				return usagef("--timeout %s: must be more than 0", timeout)
			}
			if len(args) == 0 {
				return a.next(cmd.Context(), timeout, n, (*ticket.Fleet).NextN)
			}
			return a.next(cmd.Context(), timeout, n, func(fleet *ticket.Fleet, ctx context.Context, ids []int64) error {
				return a.drawSequence(ctx, fleet, args[0], ids)
			})
		},
	}
	cmd.ValidArgsFunction = a.completeSequences
	cmd.Flags().IntVarP(&n, "number", "n", 1, fmt.Sprintf("how many, 1 to %d", ticket.MaxN))
	cmd.Flags().DurationVar(&timeout, "timeout", fleetTimeout, "give up after this `TIME`")
	return cmd
}

// drawTimeout bounds one statement on one server; then the next one is asked.
const drawTimeout = 2 * time.Second

// next draws numbers and prints them, all or none.
func (a *app) next(ctx context.Context, timeout time.Duration, n int, draw func(*ticket.Fleet, context.Context, []int64) error) error {
	ids := make([]int64, n)
	j := job{doing: "drawing numbers", timeout: timeout, statement: drawTimeout}
	err := a.onFleet(ctx, j, func(ctx context.Context, fleet *ticket.Fleet) error {
		for _, s := range fleet.Stats().Servers {
			if s.State != ticket.StateUp {
				fmt.Fprintf(a.err, "Going on without one: %s\n", told(s.Err))
			}
		}
		return draw(fleet, ctx, ids)
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	for _, id := range ids {
		fmt.Fprintln(out, id)
	}
	return out.Flush()
}

// drawSequence fills ids from one segment of about their number; the next one,
// which may be fetched ahead, is no larger.
func (a *app) drawSequence(ctx context.Context, fleet *ticket.Fleet, name string, ids []int64) error {
	n := int64(len(ids))
	allocator, err := segment.Open(ctx, fleet, name, segment.Config{MinStep: n, MaxStep: n, FailFast: true, Logger: a.logger()})
	if errors.Is(err, segment.ErrUnknownSequence) {
		return a.unknownSequence(ctx, fleet, name)
	}
	if err != nil {
		return err
	}
	return errors.Join(allocator.NextN(ctx, ids), allocator.Close())
}
