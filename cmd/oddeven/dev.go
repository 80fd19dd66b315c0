package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/devfleet"
)

const (
	devStartTimeout = 3 * time.Minute
	devStopTimeout  = 30 * time.Second
)

func (a *app) devCommand() *cobra.Command {
	cfg := devfleet.Config{}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a local fleet of real servers for development",
		Long: `Run a local fleet: real server processes on 127.0.0.1, set up and migrated, with
their DSNs printed ready to paste. Ctrl-C stops it. The data stays in --dir; a
second start finds it again. It needs mysqld or mariadbd on this machine.`,
		Example: "  oddeven dev\n  oddeven dev --servers 3 --dir /tmp/fleet",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cfg.Servers < 1 || cfg.Servers > 16 {
				return usagef("--servers %d: must be 1 to 16", cfg.Servers)
			}
			cfg.Logger = a.logger()
			return a.dev(cmd.Context(), cfg)
		},
	}
	cmd.Flags().IntVar(&cfg.Servers, "servers", 2, "how many, 1 to 16")
	cmd.Flags().StringVar(&cfg.Dir, "dir", "oddeven-dev", "`DIRECTORY` that holds everything")
	cmd.Flags().StringVar(&cfg.Binary, "binary", "", "`PATH` of mysqld or mariadbd (default: the first one found)")
	return cmd
}

func (a *app) dev(ctx context.Context, cfg devfleet.Config) (err error) {
	fmt.Fprintf(a.err, "Starting %d servers in %s …\n", cfg.Servers, cfg.Dir)
	start, cancel := context.WithTimeout(ctx, devStartTimeout)
	defer cancel()
	fleet, err := devfleet.Open(start, cfg)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(a.err, "Stopping …")
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), devStopTimeout)
		defer cancel()
		if stopErr := fleet.Close(stop); err == nil {
			err = stopErr
		}
	}()
	a.describe(fleet)
	for i, s := range fleet.Servers {
		go func() {
			select {
			case <-s.Exited():
				if ctx.Err() == nil {
					fmt.Fprintf(a.err, "Server %d has ended; its last words:\n%s\n", i+1, s.LogTail(5))
				}
			case <-ctx.Done():
			}
		}()
	}
	<-ctx.Done()
	return nil
}

// describe prints what to paste.
func (a *app) describe(fleet *devfleet.Fleet) {
	var app, migrate []string
	for i, s := range fleet.Servers {
		fmt.Fprintf(a.err, "server %d: %s %s on %s\n", i+1, s.Installation().Flavor, s.Version(), s.Addr())
		app = append(app, fleet.App(i).FormatDSN())
		migrate = append(migrate, fleet.Migrate(i).FormatDSN())
	}
	fmt.Fprintln(a.err, "\nFor applications and `oddeven next`, paste this into another terminal:")
	fmt.Fprintf(a.out, "export ODDEVEN_SERVERS='%s'\n", strings.Join(app, " "))
	fmt.Fprintf(a.err, "\nFor `oddeven migrate`, this:\nexport ODDEVEN_SERVERS='%s'\n", strings.Join(migrate, " "))
	fmt.Fprintln(a.err, "\nRunning. Ctrl-C stops it.")
}
