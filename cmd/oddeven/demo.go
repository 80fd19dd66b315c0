package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/demo"
)

func (a *app) demoCommand() *cobra.Command {
	cfg := demo.Config{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show it at work: callers draw IDs while servers are killed",
		Long: `Start a fleet of two real servers on this machine and let concurrent callers
draw tickets and IDs of sequences. Kill each server with SIGKILL and start it
again; then kill both, so that a Snowflake worker takes over, and start them
again. Show which source served when, and count duplicates over every ID handed
out. Everything is removed afterwards. It needs mysqld or mariadbd on this
machine.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cfg.Callers < 1 || cfg.Callers > 10_000 {
				return usagef("--callers %d: must be 1 to 10000", cfg.Callers)
			}
			if cfg.Duration < time.Second || cfg.Duration > time.Hour {
				return usagef("--duration %s: must be 1s to 1h", cfg.Duration)
			}
			return a.demo(cmd.Context(), cfg)
		},
	}
	cmd.Flags().IntVar(&cfg.Callers, "callers", 64, "how many callers draw tickets at the same time")
	cmd.Flags().DurationVar(&cfg.Duration, "duration", 30*time.Second, "for how long")
	cmd.Flags().StringVar(&cfg.Binary, "binary", "", "`PATH` of mysqld or mariadbd (default: the first one found)")
	return cmd
}

func (a *app) demo(ctx context.Context, cfg demo.Config) (err error) {
	dir, err := os.MkdirTemp("", "oddeven-demo-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg.Dir, cfg.Out, cfg.Progress, cfg.Logger = dir, a.out, a.err, a.logger()
	return demo.Run(ctx, cfg)
}
