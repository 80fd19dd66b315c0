package testfleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A run is one execution of a test binary: its sources, its shared servers,
// and everything that has to be gone at its end.
type run struct {
	ctx    context.Context // ends when the run is closed
	cancel context.CancelFunc
	owner  owner

	filling sync.Mutex     // held while shared servers start, so that none starts twice
	closing sync.Mutex     // held by close
	opening sync.WaitGroup // servers that are starting; Add only under mu, unless closed

	mu      sync.Mutex // guards the fields below; not held while servers start or end
	dir     string     // for data and snapshots; "" before the first server
	reaper  *reaper
	sources map[string]source
	chosen  source             // for servers without a version
	shared  map[string][]*node // by version
	nodes   []*node            // all that exist, private ones included
	number  int                // of the last server
	skipped int
	closed  bool
}

// current is the run of this process, set by Main.
var current *run

func newRun() *run {
	ctx, cancel := context.WithCancel(context.Background())
	return &run{
		ctx: ctx, cancel: cancel, owner: self(),
		sources: make(map[string]source), shared: make(map[string][]*node),
	}
}

// randomName returns a name that is used once and stands for itself in SQL and
// in GRANT's patterns.
func randomName() string { return strings.ToLower(rand.Text()[:10]) }

// skip skips a test that cannot be done with this source of servers, loudly.
func (r *run) skip(t testing.TB, reason error) {
	t.Helper()
	r.mu.Lock()
	r.skipped++
	r.mu.Unlock()
	fmt.Fprintf(os.Stderr, "testfleet: SKIPPED %s: %v\n", t.Name(), reason)
	t.Skipf("testfleet: %v", reason)
}

// prepare makes the directory and starts the reaper. Caller must hold mu.
func (r *run) prepare() error {
	if r.closed {
		return errors.New("the run is over")
	}
	if r.dir != "" {
		return nil
	}
	if err := removeOrphanedDirs(); err != nil {
		fmt.Fprintf(os.Stderr, "testfleet: cannot remove what an earlier run left: %v\n", err)
	}
	dir, err := r.owner.makeDir()
	if err != nil {
		return err
	}
	if r.reaper, err = startReaper(r.owner, dir); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	r.dir = dir
	return nil
}

// open creates servers at once, one for each spec.
func (r *run) open(specs []spec) ([]*node, error) {
	nodes, errs := make([]*node, len(specs)), make([]error, len(specs))
	var wg sync.WaitGroup
	for i, s := range specs {
		candidates, number, err := r.beginOpen(s)
		if err != nil {
			errs[i] = err
			continue
		}
		wg.Go(func() {
			defer r.opening.Done()
			nodes[i], errs[i] = openFirst(r.ctx, candidates, s, number)
			if errs[i] == nil {
				r.register(nodes[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		made := slices.DeleteFunc(nodes, func(n *node) bool { return n == nil })
		return nil, errors.Join(err, r.discard(made...))
	}
	for _, n := range nodes {
		fmt.Fprintf(os.Stderr, "testfleet: %s at %s\n", n.name, n.inst.addr())
	}
	return nodes, nil
}

// beginOpen returns the sources to try for a server, and its number.
func (r *run) beginOpen(s spec) ([]source, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.prepare(); err != nil {
		return nil, 0, err
	}
	candidates, err := r.candidates(s)
	if err != nil {
		return nil, 0, err
	}
	r.opening.Add(1)
	r.number++
	return candidates, r.number, nil
}

// register makes sure that a new server is removed at the end.
func (r *run) register(n *node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes = append(r.nodes, n)
}

// openFirst creates a server from the first source that can.
func openFirst(ctx context.Context, candidates []source, s spec, number int) (*node, error) {
	began := time.Now()
	var impossible []error
	for _, src := range candidates {
		n, err := openNode(ctx, src, s, number)
		if err == nil {
			n.name = strings.TrimSuffix(n.name, ")") + fmt.Sprintf(", up in %.1f s)", time.Since(began).Seconds())
			return n, nil
		}
		if !errors.Is(err, errImpossible) {
			return nil, err
		}
		impossible = append(impossible, err)
	}
	return nil, errors.Join(impossible...)
}

// discard removes servers for good.
func (r *run) discard(nodes ...*node) error {
	var err error
	for _, n := range nodes {
		if !r.forget(n) {
			continue // the run was closed meanwhile
		}
		ctx, cancel := context.WithTimeout(context.Background(), opLimit)
		err = errors.Join(err, n.close(ctx))
		cancel()
	}
	return err
}

// forget takes a server out of all lists; false if it is in none.
func (r *run) forget(n *node) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := func(other *node) bool { return other == n }
	if !slices.ContainsFunc(r.nodes, gone) {
		return false
	}
	r.nodes = slices.DeleteFunc(r.nodes, gone)
	for version, list := range r.shared {
		r.shared[version] = slices.DeleteFunc(list, gone)
	}
	return true
}

// close removes everything and reports what could not be removed. A second
// close waits for the first.
func (r *run) close() error {
	r.cancel() // ends starts that are under way
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.opening.Wait()
	r.closing.Lock()
	defer r.closing.Unlock()
	r.mu.Lock()
	nodes, sources, dir := slices.Clone(r.nodes), r.sources, r.dir
	r.sources, r.dir = nil, ""
	r.mu.Unlock()
	err := r.discard(nodes...)
	for _, src := range sources {
		if d, ok := src.(*dockerSource); ok {
			err = errors.Join(err, d.nothingLeft())
		}
		err = errors.Join(err, src.close())
	}
	if dir != "" {
		err = errors.Join(err, os.RemoveAll(dir), r.reaper.dismiss())
	}
	return err
}
