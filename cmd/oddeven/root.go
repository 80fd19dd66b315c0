package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// streams are where a command reads and writes: results to out, the rest to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer

	answers bool // in is a terminal: somebody is there to answer a question
	width   int  // of err, in columns, if it is a terminal that can redraw a line; else 0

	screen func() (columns, lines int) // the present size of out, if it is a terminal; else nil
}

// app is what every command needs.
type app struct {
	streams
	lookup   func(string) (string, bool) // an environment variable
	servers  []string                    // --server
	config   string                      // --config
	verbose  bool                        // --verbose
	quiet    bool                        // --quiet
	pending  pending
	progress *progress // nil: none
	warned   []string  // warnings that were printed
}

// usageError is a mistake in the command line: exit code 2 and a hint.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, s streams, lookup func(string) (string, bool)) int {
	a := &app{streams: s, lookup: lookup}
	a.progress = &progress{to: s.err, width: s.width, waits: a.pending.servers}
	a.out, a.err = a.progress.above(s.out), a.progress.above(s.err)
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(a.err, "oddeven: %s\n", told(inFlags(err), args...))
	if isUsage(err) {
		fmt.Fprintf(a.err, "Try: %s --help\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailure
}

// flagNames are the flags behind the fields that library errors name.
var flagNames = map[string]string{
	"Increment": "--increment", "ShardBits": "--shard-bits", "Layout": "--layout", "LongestLease": "--longest-lease",
	"LockTimeout": "--lock-timeout", "Retired": "--retired", "version": "VERSION", "table": "TABLE", "server": "SERVER",
	"Duration": "--duration", "Callers": "--callers", "Conns": "--conns",
	"sequence": "NAME", "Ceiling": "--ceiling", "Description": "--description",
	"Kind": "--from", "Sources": "--source", "Tables": "--table", "Column": "--column", "Tags": "--tag", "As": "--as", "Margin": "--margin",
}

// inFlags names the flag instead of the field.
func inFlags(err error) error {
	if config, ok := errors.AsType[*ticket.ConfigError](err); ok {
		if name, known := flagNames[config.Field]; known {
			return &ticket.ConfigError{Field: name, Value: config.Value, Remedy: config.Remedy}
		}
	}
	if layout, ok := errors.AsType[*snowflake.LayoutError](err); ok {
		return usagef("--layout: %s: %s", layout.Problem, layout.Remedy)
	}
	return err
}

// isUsage reports whether err is a mistake in what the caller wrote.
func isUsage(err error) bool {
	var usage *usageError
	var config *ticket.ConfigError
	var layout *snowflake.LayoutError
	return errors.As(err, &usage) || errors.As(err, &config) || errors.As(err, &layout)
}

func (a *app) root() *cobra.Command {
	cmd := parent(&cobra.Command{
		Use:   "oddeven",
		Short: "Unique 64-bit IDs from a fleet of MySQL or MariaDB ticket servers",
		Long: `oddeven sets up, inspects and tries out a fleet of ticket servers.

Servers are given by --server DSN (repeatable), by --config FILE, or by the
environment variable ODDEVEN_SERVERS (DSNs separated by blanks). A DSN is
user:password@tcp(host:port)/database. Results go to standard output, everything
else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: a.begin,
	})
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), "Flags.FlagUsages ", fmt.Sprintf("Flags.FlagUsagesWrapped %d ", reportWidth)))
	flags := cmd.PersistentFlags()
	flags.StringArrayVar(&a.servers, "server", nil, "`DSN` of a server; give it once for each server of the fleet")
	flags.StringVar(&a.config, "config", "", "YAML `FILE` that lists the servers")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log what happens to standard error")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "do not say what is being waited for")
	cmd.AddCommand(
		a.migrateCommand(), a.nextCommand(), a.sequenceCommand(), a.workerCommand(),
		a.fleetCommand(), a.statsCommand(), a.doctorCommand(), a.benchCommand(), a.importCommand(),
		a.decodeCommand(), a.layoutsCommand(), a.devCommand(), a.demoCommand(), a.versionCommand(),
	)
	cmd.SetHelpCommand(helpCommand())
	cmd.InitDefaultCompletionCmd("completion")
	strictCompletion(cmd)
	everyBelow(cmd, func(c *cobra.Command) { c.Long = narrow(c.Long) })
	completions(cmd)
	return cmd
}

// everyBelow visits a command and all below it.
func everyBelow(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		everyBelow(c, visit)
	}
}

// narrow breaks the lines that are too long. Ours are not; those that cobra
// has written for the completion scripts are.
func narrow(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len([]rune(line)) > reportWidth {
			lines[i] = wrap(line, reportWidth, "", "")
		}
	}
	return strings.Join(lines, "\n")
}

// begin is run before every command.
func (a *app) begin(cmd *cobra.Command, args []string) error {
	if a.quiet {
		a.progress = nil
	}
	return checkFlags(cmd, args)
}

// logger logs to standard error with --verbose, else nowhere.
func (a *app) logger() *slog.Logger {
	if !a.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(a.err, nil))
}

// noArgs and oneArg are cobra's checks, as usage errors.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one argument, %s; got %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
