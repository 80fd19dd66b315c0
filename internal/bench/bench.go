// Package bench measures what a fleet, the network to it and this machine give:
// round trips, tickets, refills, IDs from memory, and how long it takes to fail
// over. It works on the operator's own fleet with the application's account. It
// uses numbers up, a known number at most, and changes nothing else.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/ticket"
)

// Bounds of what Config may ask for.
const (
	ShortestDuration = 10 * time.Millisecond
	LongestDuration  = 10 * time.Minute
	MostCallers      = 1000
	MostConns        = 1000 // as ticket.Config has it
)

const (
	openWithin  = 30 * time.Second
	defaultRuns = 3 * time.Second
	// defaultConns is that of ticket.Config, said here because the report names it.
	defaultConns = 8
)

// Config says what to measure, and on which fleet.
type Config struct {
	// Servers are all servers of the fleet.
	Servers []*mysql.Config
	// Sequence is the sequence that refills and IDs from memory are measured with.
	// Empty: they are left out.
	Sequence string
	// Duration is how long each measurement takes, 10 ms to 10 minutes. Defaults to
	// 3 seconds.
	Duration time.Duration
	// Callers are the numbers of concurrent callers to measure with, each 1 to 1000.
	// Defaults to 1 and 64.
	Callers []int
	// Conns is how many connections are opened to each server at most. Defaults to
	// 8, as in ticket.Config.
	Conns int
	// Timeout bounds one statement on one server. Defaults to 2 seconds, as in
	// ticket.Config.
	Timeout time.Duration
	// Version is this program's, for the report.
	Version string
	// Progress gets a line for each measurement that begins. Defaults to none.
	Progress io.Writer
	// Logger gets what the packages below log. Defaults to none.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Duration == 0 {
		c.Duration = defaultRuns
	}
	if c.Duration < ShortestDuration || c.Duration > LongestDuration {
		return c, &ticket.ConfigError{Field: "Duration", Value: c.Duration, Remedy: fmt.Sprintf("must be %s to %s; 0 is the default, %s", ShortestDuration, LongestDuration, defaultRuns)}
	}
	if len(c.Callers) == 0 {
		c.Callers = []int{1, 64}
	}
	c.Callers = slices.Compact(slices.Sorted(slices.Values(c.Callers)))
	for _, n := range c.Callers {
		if n < 1 || n > MostCallers {
			return c, &ticket.ConfigError{Field: "Callers", Value: n, Remedy: fmt.Sprintf("must be 1 to %d", MostCallers)}
		}
	}
	if c.Conns == 0 {
		c.Conns = defaultConns
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func (c Config) open(ctx context.Context) (*ticket.Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	return ticket.Open(ctx, ticket.Config{Servers: c.Servers, Conns: c.Conns, Timeout: c.Timeout, Logger: c.Logger})
}

var (
	// ErrDuplicate is returned when an ID came twice.
	ErrDuplicate = errors.New("bench: an ID was handed out twice")
	// ErrFailed is returned when a call failed that should not have.
	ErrFailed = errors.New("bench: calls failed")
	// ErrInterrupted is returned when ctx has ended; the report has what was
	// measured by then.
	ErrInterrupted = errors.New("bench: interrupted")
)

// runner measures. It is used by one goroutine.
type runner struct {
	cfg     Config
	plan    Plan
	fleet   *ticket.Fleet
	facts   facts
	tickets *seen
	ids     *seen // of the sequence, and of workers: their planes do not meet
	report  *Report
	failed  error // of the first call that failed
}

// Run measures, and closes everything that it has opened: a worker number that it
// has leased is released. When ctx ends it stops soon, and the report has what was
// measured by then. The report is nil only if nothing could be measured. Errors:
// those of NewPlan; ErrDuplicate, ErrFailed with the first error, ErrInterrupted.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	plan, err := NewPlan(ctx, cfg)
	if err != nil {
		return nil, err
	}
	fleet, err := cfg.open(ctx)
	if err != nil {
		return nil, err
	}
	r := &runner{cfg: cfg, plan: plan, fleet: fleet, tickets: newSeen(), ids: newSeen(), report: &Report{
		Client: Client{
			Version: cfg.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, GOMAXPROCS: runtime.GOMAXPROCS(0),
			Conns: cfg.Conns, Seconds: cfg.Duration.Seconds(),
		},
		Measurements: []Measurement{}, Failovers: []Failover{}, LeftOut: []LeftOut{}, Used: Used{Sequence: cfg.Sequence},
	}}
	err = errors.Join(r.measure(ctx), fleet.Close())
	return r.report, errors.Join(r.verdict(ctx), err)
}

// measure does one thing after the other. Its errors are those of closing.
func (r *runner) measure(ctx context.Context) error {
	r.readFacts(ctx)
	r.roundTrips(ctx)
	r.drawTickets(ctx)
	var errs []error
	if r.cfg.Sequence != "" {
		r.refill(ctx)
		errs = append(errs, r.fromAllocator(ctx), r.fromGenerator(ctx))
	} else {
		r.leaveOut("refills, IDs from memory and failing over", "give --sequence bench; `oddeven sequence create bench` makes it")
	}
	leased, err := r.fromWorker(ctx)
	errs = append(errs, err)
	if leased && r.cfg.Sequence != "" {
		errs = append(errs, r.failOver(ctx))
	}
	return errors.Join(errs...)
}

// verdict completes the report, and says what is wrong.
func (r *runner) verdict(ctx context.Context) error {
	out := r.report
	for _, set := range []*seen{r.tickets, r.ids} {
		checked, duplicates, first := set.counts()
		out.Checked += checked
		out.Duplicates += duplicates
		if duplicates > 0 && out.FirstTwice == 0 {
			out.FirstTwice = first
		}
	}
	var errs []error
	if out.Duplicates > 0 {
		errs = append(errs, fmt.Errorf("%w: %d times, the first was %d; stop issuing and run `oddeven doctor`", ErrDuplicate, out.Duplicates, out.FirstTwice))
	}
	if ctx.Err() != nil {
		out.Interrupted = true
		errs = append(errs, ErrInterrupted)
	}
	if r.failed != nil {
		errs = append(errs, fmt.Errorf("%w, the first with: %w", ErrFailed, r.failed))
	}
	out.OK = len(errs) == 0
	return errors.Join(errs...)
}

// begin says what is measured next, and reports false if ctx has ended.
func (r *runner) begin(ctx context.Context, format string, args ...any) bool {
	if ctx.Err() != nil {
		return false
	}
	fmt.Fprintf(r.cfg.Progress, "measuring "+format+" …\n", args...)
	return true
}

// add puts a measurement into the report, unless there is nothing in it.
func (r *runner) add(ctx context.Context, m Measurement, err error) {
	if err != nil && ctx.Err() == nil {
		m.Error = err.Error()
		if r.failed == nil {
			r.failed = err
		}
	}
	switch {
	case m.Count > 0 || m.Failed > 0:
		r.report.Measurements = append(r.report.Measurements, m)
	case ctx.Err() == nil:
		r.leaveOut(fmt.Sprintf("%s, %s", m.Name, number(m.Callers)), "no call came to its end")
	}
}

// leaveOut notes what can't be measured.
func (r *runner) leaveOut(what, why string) {
	r.report.LeftOut = append(r.report.LeftOut, LeftOut{What: what, Why: why})
}
