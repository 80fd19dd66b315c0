package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/schedule"
	"github.com/oddeven/oddeven/internal/localserver"
	"github.com/oddeven/oddeven/ticket"
)

// run is one run of the suite.
type run struct {
	opts     options
	progress io.Writer
	began    time.Time
	dir      string // of everything
	logs     string // of the ledger, in dir
	binary   string // of the client
	secrets  secrets
	servers  []*server
	clients  []*client
	ledger   *ledger.Writer // of faults and calls
	opened   bool           // all clients have issued
	health   *health
	work     sync.WaitGroup
	places   []place         // at the end
	forget   chan struct{}   // held while a server forgets, until clients use it again
	witness  []chan struct{} // of a server that remembers for it, held meanwhile; guarded by forget

	mu      sync.Mutex            // guards all below
	found   []string              // what is wrong, beside what the ledger shows
	made    map[schedule.Kind]int // faults
	skipped map[schedule.Kind]int // that can't be made
	late    int                   // that did not begin in time
}

// torture runs the suite and reports whether nothing was found. Everything is ended
// when it returns, and removed but for what clean keeps.
func torture(ctx context.Context, opts options, out, progress io.Writer) (ok bool, err error) {
	r := &run{opts: opts, progress: progress, began: time.Now(), secrets: newSecrets(), forget: make(chan struct{}, 1), made: map[schedule.Kind]int{}, skipped: map[schedule.Kind]int{}}
	steps := opts.planned()
	fmt.Fprintf(out, "seed %d, plan %s: %d faults in %s\n", opts.seed, schedule.Hash(steps), len(steps), opts.duration)
	defer func() {
		ok, err = r.clean(ok, err)
	}()
	if err := errors.Join(privateMounts(), r.makeDir()); err != nil {
		return false, err
	}
	if err := r.open(ctx); err != nil {
		return false, errors.Join(err, r.close(ctx))
	}
	r.opened = true
	err = r.perform(ctx, steps)
	took := time.Since(r.began)
	if err = errors.Join(err, r.close(ctx)); err != nil {
		return false, err
	}
	return r.verdict(ctx, out, took)
}

func (r *run) makeDir() (err error) {
	if r.opts.dir != "" {
		r.dir, err = filepath.Abs(r.opts.dir)
		err = errors.Join(err, os.MkdirAll(r.dir, 0o700))
	} else {
		r.dir, err = os.MkdirTemp("", "oddeven-torture-") // short: it has unix sockets in it
	}
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	r.logs = filepath.Join(r.dir, ledgerDir)
	if err := os.Mkdir(r.logs, 0o700); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if r.ledger, err = ledger.Create(filepath.Join(r.logs, "driver"+ledgerExtension)); err != nil {
		return err
	}
	r.health = newHealth(r.ledger, r.opts.servers)
	return nil
}

// say tells how far the run is.
func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%8.3fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// find notes that something is wrong.
func (r *run) find(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.say("FOUND: %s", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, text)
}

// open builds the client, makes the fleet, and starts the clients.
func (r *run) open(ctx context.Context) error {
	began := time.Now()
	built := make(chan error, 1)
	go func() {
		var err error
		r.binary, err = build(ctx, r.dir, r.opts.mutant)
		built <- err
	}()
	err := r.openFleet(ctx)
	if err = errors.Join(err, <-built); err != nil {
		return err
	}
	r.say("fleet of %d servers and client built in %.1fs", len(r.servers), time.Since(began).Seconds())
	for i := range r.opts.clients {
		c := r.newClient(i)
		r.clients = append(r.clients, c)
		if err := c.start(); err != nil {
			return err
		}
	}
	if err := r.until(ctx, "all clients issue", func() bool {
		for _, c := range r.clients {
			if !c.issues() {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	for _, v := range r.servers {
		if err := v.snapshot(ctx); err != nil {
			return err
		}
	}
	return nil
}

// untilLimit bounds what must come to be.
const untilLimit = 2 * time.Minute

// until waits until something is so.
func (r *run) until(ctx context.Context, what string, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, untilLimit)
	defer cancel()
	for !so() {
		if wait(ctx, 20*time.Millisecond); ctx.Err() != nil {
			return fmt.Errorf("wait until %s: %w", what, ctx.Err())
		}
	}
	return nil
}

// openFleet starts the servers side by side and makes a fleet of them.
func (r *run) openFleet(ctx context.Context) error {
	installation, err := findInstallation(ctx)
	if err != nil {
		return err
	}
	r.servers = make([]*server, r.opts.servers)
	errs := make([]error, r.opts.servers)
	var wg sync.WaitGroup
	for i := range r.servers {
		start := startServer
		if r.opts.cluster && i == len(r.servers)-1 {
			start = startCluster
		}
		wg.Go(func() { r.servers[i], errs[i] = start(ctx, i, r.dir, installation, r.secrets) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.setUp(ctx)
}

// binaryEnv names the server binary to use.
const binaryEnv = "ODDEVEN_TEST_SERVER_BINARY"

func findInstallation(ctx context.Context) (localserver.Installation, error) {
	if path := os.Getenv(binaryEnv); path != "" {
		return localserver.Inspect(ctx, path)
	}
	found, err := localserver.Find(ctx)
	if err != nil {
		return localserver.Installation{}, err
	}
	return found[0], nil
}

// tickets is how the driver reaches the fleet: like a client.
func (r *run) tickets() ticket.Config {
	cfg := ticket.Config{Timeout: 5 * time.Second, Conns: 2}
	for _, v := range r.servers {
		cfg.Servers = append(cfg.Servers, v.app())
	}
	return cfg
}

// close ends the clients in order, and the servers.
func (r *run) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var wg sync.WaitGroup
	errs := make([]error, len(r.clients)+len(r.servers))
	for i, c := range r.clients {
		wg.Go(func() {
			errs[i] = c.thaw()
			if c.running() {
				errs[i] = errors.Join(errs[i], c.stop())
			}
		})
	}
	wg.Wait()
	for i, v := range r.servers {
		if v != nil {
			wg.Go(func() { errs[len(r.clients)+i] = v.close(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
