package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/order"
	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/ticket"
)

// process is what the jobs of a client share. All methods are safe for concurrent
// use.
type process struct {
	order  order.Order
	ledger *ledger.Writer
	ids    atomic.Int64
	seen   []atomic.Int64 // by offset - 1: UnixNano of the last ID, as now says
	out    io.Writer

	mu    sync.Mutex // guards all below
	calls *os.File
}

func newProcess(o order.Order, out io.Writer) (*process, error) {
	w, err := ledger.Create(o.Ledger)
	if err != nil {
		return nil, err
	}
	calls, err := os.OpenFile(o.Calls, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open calls: %w", err), w.Close())
	}
	return &process{order: o, ledger: w, seen: make([]atomic.Int64, o.Increment), out: out, calls: calls}, nil
}

// statusEvery is how often the driver is told how far the client is.
const statusEvery = 100 * time.Millisecond

// work does all jobs until ctx ends, and closes everything.
func (p *process) work(ctx context.Context) error {
	status, stop := context.WithCancel(context.Background())
	var reporting sync.WaitGroup
	reporting.Go(func() { p.report(status) })
	err := p.draw(ctx)
	stop()
	reporting.Wait()
	return errors.Join(err, p.ledger.Close(), p.calls.Close())
}

// report tells the driver how far the client is.
func (p *process) report(ctx context.Context) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	lines := json.NewEncoder(p.out)
	for {
		st := order.Status{IDs: p.ids.Load(), Seen: make([]time.Time, len(p.seen))}
		for i := range p.seen {
			if ns := p.seen[i].Load(); ns > 0 {
				st.Seen[i] = time.Unix(0, ns)
			}
		}
		if lines.Encode(st) != nil {
			return // the driver is gone, which ends the input too
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// conns is how many connections a pool has to a server.
const conns = 4

// draw opens what the jobs need, and runs them. A process has one fleet: that of its
// oddeven.Client if there is a job for the facade.
func (p *process) draw(ctx context.Context) error {
	if slices.ContainsFunc(p.order.Jobs, func(j order.Job) bool { return j.Kind == order.JobFacade }) {
		return p.throughFacade(ctx)
	}
	cfg := ticket.Config{Timeout: p.order.Timeout, Conns: conns}
	for _, dsn := range p.order.DSNs {
		server, err := mysql.ParseDSN(dsn)
		if err != nil {
			return fmt.Errorf("read DSN of a server: %w", err)
		}
		cfg.Servers = append(cfg.Servers, server)
	}
	fleet, ok := open(ctx, p, "open", func(ctx context.Context) (*ticket.Fleet, error) { return ticket.Open(ctx, cfg) })
	if !ok {
		return nil
	}
	return errors.Join(p.all(ctx, source{fleet: func() (*ticket.Fleet, error) { return fleet, nil }}), fleet.Close())
}

// source is where IDs come from. client may be nil.
type source struct {
	client *oddeven.Client
	fleet  func() (*ticket.Fleet, error)
}

// all does all jobs until ctx ends.
func (p *process) all(ctx context.Context, from source) error {
	errs := make([]error, len(p.order.Jobs))
	var wg sync.WaitGroup
	for i, j := range p.order.Jobs {
		wg.Go(func() { errs[i] = p.job(ctx, from, j) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (p *process) job(ctx context.Context, from source, j order.Job) error {
	if j.Kind == order.JobFacade {
		return p.facade(ctx, from.client, j)
	}
	fleet, ok := open(ctx, p, "open", func(context.Context) (*ticket.Fleet, error) { return from.fleet() })
	if !ok {
		return nil
	}
	switch j.Kind {
	case order.JobTicket:
		return p.tickets(ctx, fleet, j)
	case order.JobSegment:
		return p.segments(ctx, fleet, j)
	case order.JobWorker:
		return p.worker(ctx, fleet, j)
	default:
		return fmt.Errorf("job %q is unknown", j.Kind)
	}
}

// again is how long a client waits after a failure.
const again = 50 * time.Millisecond

// open opens something, again and again; false when ctx ended first. Failures are
// noted like those of calls.
func open[T any](ctx context.Context, p *process, source string, do func(context.Context) (T, error)) (T, bool) {
	for {
		var opened T
		err := p.call(ctx, source, func(ctx context.Context) (err error) {
			opened, err = do(ctx)
			return err
		})
		if err == nil {
			return opened, true
		}
		if !pause.For(ctx, again) {
			return opened, false
		}
	}
}

// saw notes that an ID of a server came.
func (p *process) saw(id int64, bits int) {
	offset := (id >> bits) % p.order.Increment
	p.seen[(offset+p.order.Increment-1)%p.order.Increment].Store(now().UnixNano())
}
