package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/migrations"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of its schema",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "oddeven %s (%s, schema %d, client protocol %d)\n", buildVersion(), runtime.Version(), migrations.Latest(), schema.Client)
			return err
		},
	}
}

// buildVersion is the version of the module that this program was built from.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
