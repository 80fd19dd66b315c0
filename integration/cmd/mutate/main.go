package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/oddeven/oddeven/integration/mutants"
)

const (
	exitKilled = 0 // every mutant was killed
	exitFailed = 1
	exitUsage  = 2
)

// defaultTimeout bounds one test command, as -timeout of go test does.
const defaultTimeout = 2 * time.Minute

// defaultJobs is more than one, because tests wait for servers and linking takes
// one core only.
const defaultJobs = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	match   *regexp.Regexp
	list    bool
	verbose bool
	timeout time.Duration
	jobs    int
	dir     string // where the search for the repository root starts
}

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var (
		o   options
		pat string
	)
	fs := flag.NewFlagSet("mutate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&pat, "run", "", "run only the mutants whose name matches this `regexp`")
	fs.BoolVar(&o.list, "list", false, "list the mutants and run nothing")
	fs.BoolVar(&o.verbose, "v", false, "print the output of every go command")
	fs.DurationVar(&o.timeout, "timeout", defaultTimeout, "limit of one test command")
	fs.IntVar(&o.jobs, "j", defaultJobs, "mutants at a `time`")
	fs.StringVar(&o.dir, "C", ".", "`directory` in the repository")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.timeout <= 0 {
		return o, fmt.Errorf("-timeout %v: must be above 0", o.timeout)
	}
	if o.jobs < 1 {
		return o, fmt.Errorf("-j %d: must be at least 1", o.jobs)
	}
	match, err := regexp.Compile(pat)
	if err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	o.match = match
	return o, nil
}

// run is main without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitKilled
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return exitUsage
	}
	root, err := mutants.Root(opts.dir)
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return exitFailed
	}
	all, err := mutants.Load(root, opts.match)
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return exitFailed
	}
	if opts.list {
		list(stdout, all)
		return exitKilled
	}
	temp, err := os.MkdirTemp("", "oddeven-mutate-")
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return exitFailed
	}
	defer func() { _ = os.RemoveAll(temp) }()

	r := &runner{root: root, temp: temp, timeout: opts.timeout, jobs: opts.jobs, out: stdout}
	if opts.verbose {
		r.log, r.jobs = stderr, 1 // what belongs together stays together
	}
	if !r.runAll(ctx, all) {
		return exitFailed
	}
	return exitKilled
}

func list(w io.Writer, all []mutants.Mutant) {
	for _, m := range all {
		tests := make([]string, len(m.Tests))
		for i, t := range m.Tests {
			tests[i] = t.String()
		}
		fmt.Fprintf(w, "%s\n\twhy:  %s\n\tfile: %s\n\ttest: %s\n", m.Name, m.Why, m.File, strings.Join(tests, "\n\t      "))
	}
}
