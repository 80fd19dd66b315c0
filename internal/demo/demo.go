// Package demo shows a fleet at work: callers draw tickets and the IDs of
// sequences from real servers while each of them is killed and comes back, and
// then all of them at once; every number is checked.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/internal/devfleet"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// Config says how to run the demo.
type Config struct {
	Dir      string        // for the servers' data
	Binary   string        // path of mysqld or mariadbd; empty: the first one found
	Callers  int           // concurrent callers
	Duration time.Duration // how long they draw
	Out      io.Writer     // the summary
	Progress io.Writer     // what is happening
	Logger   *slog.Logger
}

const (
	servers      = 2
	startTimeout = 3 * time.Minute
	stopTimeout  = 30 * time.Second
	openTimeout  = 10 * time.Second
	returnWithin = 30 * time.Second
	longestLease = time.Minute // outlasts the outage
)

// ErrFailed is returned when a number came twice or a call failed.
var ErrFailed = errors.New("demo: failed")

// Run runs the demo and prints the summary; its last line begins with
// "demo: ok" or "demo: FAILED". It stops all it started.
func Run(ctx context.Context, cfg Config) (err error) {
	fmt.Fprintf(cfg.Progress, "Starting %d database servers on this machine …\n", servers)
	start, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	fleet, err := devfleet.Open(start, devfleet.Config{Dir: cfg.Dir, Servers: servers, Binary: cfg.Binary, LongestLease: longestLease, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, fleet.Close(stop))
	}()
	var configs []*mysql.Config
	for i, s := range fleet.Servers {
		fmt.Fprintf(cfg.Progress, "  server %d: %s %s, %s\n", i+1, s.Installation().Flavor, s.Version(), s.Addr())
		configs = append(configs, fleet.App(i))
	}
	open, cancelOpen := context.WithTimeout(ctx, openTimeout)
	defer cancelOpen()
	client, err := oddeven.Open(open, oddeven.Config{
		Servers: configs, Conns: 16, Segment: segment.Config{Create: true, Interval: 500 * time.Millisecond}, Logger: cfg.Logger,
	})
	if err != nil {
		return err
	}
	result, stats, err := play(ctx, cfg, fleet, client)
	closed := client.Close() // fails if the servers are only just back; what was drawn has been checked all the same
	if err != nil {
		return errors.Join(err, closed)
	}
	return errors.Join(result.print(cfg.Out, stats), closed)
}

// play lets the callers draw while the director kills and restarts.
func play(ctx context.Context, cfg Config, fleet *devfleet.Fleet, client *oddeven.Client) (*result, ticket.Stats, error) {
	tickets, err := client.Tickets()
	if err != nil {
		return nil, ticket.Stats{}, err
	}
	streams, err := openStreams(ctx, client)
	if err != nil {
		return nil, ticket.Stats{}, err
	}
	ready, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := client.Ready(ready); err != nil {
		return nil, ticket.Stats{}, err
	}
	fmt.Fprintf(cfg.Progress, "%d callers draw tickets, three more draw from sequences, for %s:\n", cfg.Callers, cfg.Duration)
	drawing, stop := context.WithCancel(ctx)
	defer stop()
	ticketing, stopTickets := context.WithCancel(drawing)
	defer stopTickets()
	callers := make([]caller, cfg.Callers)
	var queue, all sync.WaitGroup
	began := time.Now()
	var took time.Duration
	for i := range callers {
		queue.Go(func() { callers[i].draw(ticketing, tickets.Next) })
	}
	startStreams(drawing, streams, began, &all)
	d := director{fleet: fleet, progress: cfg.Progress, callers: callers, streams: streams, began: began}
	d.endTickets = func() {
		stopTickets()
		queue.Wait()
		took = time.Since(began)
	}
	err = d.direct(ctx, cfg.Duration)
	stop()
	queue.Wait()
	all.Wait()
	r := collect(callers, took)
	r.events, r.sequences, r.back = d.events, collectStreams(streams, time.Since(began)), d.back
	return r, tickets.Stats(), err
}

// director makes things happen at their time.
type director struct {
	fleet    *devfleet.Fleet
	progress io.Writer
	callers  []caller
	streams  []*stream
	began    time.Time
	events   []string

	endTickets func()        // joins the callers of tickets
	back       time.Duration // when the first server was back after all were down
}

// direct kills each server once and starts it again, then both at once, without
// callers of tickets, which come from servers only.
func (d *director) direct(ctx context.Context, duration time.Duration) error {
	scenes := []struct {
		at  time.Duration
		act func(context.Context) error
	}{
		{1 * duration / 9, func(context.Context) error { return d.kill(0) }},
		{2 * duration / 9, func(ctx context.Context) error { return d.restart(ctx, 0) }},
		{3 * duration / 9, func(context.Context) error { return d.kill(1) }},
		{4 * duration / 9, func(ctx context.Context) error { return d.restart(ctx, 1) }},
		{6 * duration / 9, func(context.Context) error { return d.killAll() }},
		{7 * duration / 9, d.restartAll},
		{duration, d.awaitSegments},
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for _, scene := range scenes {
		due := time.NewTimer(time.Until(d.began.Add(scene.at)))
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				due.Stop()
				return ctx.Err()
			case <-tick.C:
				d.report()
			case <-due.C:
				waiting = false
			}
		}
		if err := scene.act(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *director) say(format string, args ...any) {
	line := fmt.Sprintf("%5.1fs  ", time.Since(d.began).Seconds()) + fmt.Sprintf(format, args...)
	d.events = append(d.events, line)
	fmt.Fprintln(d.progress, line)
}

func (d *director) kill(i int) error {
	if err := d.fleet.Servers[i].Kill(); err != nil {
		return err
	}
	d.say("server %d killed (SIGKILL)", i+1)
	return nil
}

func (d *director) restart(ctx context.Context, i int) error {
	if err := d.fleet.Servers[i].Start(ctx); err != nil {
		return err
	}
	d.say("server %d started again", i+1)
	return nil
}

// killAll kills every server; from then on the worker makes the IDs.
func (d *director) killAll() error {
	d.endTickets()
	d.say("no more tickets: they come from servers only")
	for i := range d.fleet.Servers {
		if err := d.kill(i); err != nil {
			return err
		}
	}
	return nil
}

func (d *director) restartAll(ctx context.Context) error {
	for i := range d.fleet.Servers {
		if err := d.restart(ctx, i); err != nil {
			return err
		}
		if i == 0 {
			d.back = time.Since(d.began)
		}
	}
	return nil
}

// awaitSegments gives every sequence the time to come back to segments.
func (d *director) awaitSegments(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, returnWithin)
	defer cancel()
	tick := time.NewTicker(slot)
	defer tick.Stop()
	for _, s := range d.streams {
		for s.generator.Stats().Plane != oddeven.PlaneSegment {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("sequence %s is not back on segments after %s: %w", s.name, returnWithin, ctx.Err())
			}
		}
	}
	return nil
}

// report shows how much has been drawn so far.
func (d *director) report() {
	var sum int64
	for i := range d.callers {
		sum += d.callers[i].count.Load()
	}
	fmt.Fprintf(d.progress, "%5.1fs  %d tickets", time.Since(d.began).Seconds(), sum)
	for _, s := range d.streams {
		fmt.Fprintf(d.progress, ", %d %s", s.callers[0].count.Load(), s.name)
	}
	fmt.Fprintln(d.progress)
}
