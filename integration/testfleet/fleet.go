package testfleet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// opLimit bounds every single operation of this package on a server.
const opLimit = 3 * time.Minute

// opContext returns the context of one operation. It is not the test's, which
// ends before cleanup.
func opContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(current.ctx, opLimit)
}

// A Fleet is some servers for one test, with a fresh database of the same
// random name on each, and proxies of its own in front of each.
type Fleet struct {
	Servers  []*Server
	Database string // its name on every server

	t      testing.TB
	copies []*Server // made by StartCopy
}

// An Option changes what New gives.
type Option func(*options)

type options struct {
	versions []string
	server   []string
	env      []string
	files    map[string][]byte
	private  bool
}

// Versions makes a fleet of particular servers, cycled through: "mysql",
// "mariadb", or with a version, as the official images are tagged: "mysql:9",
// "mariadb:11.8", "mariadb:10.11". If the source in use has no such server the
// other kind (Docker, processes) is tried; if that hasn't either the test is
// skipped, loudly.
func Versions(versions ...string) Option {
	return func(o *options) { o.versions = versions }
}

// ServerOptions starts servers with further options, such as
// "--binlog-format=STATEMENT". The fleet is private.
func ServerOptions(opts ...string) Option {
	return func(o *options) { o.server, o.private = append(o.server, opts...), true }
}

// ServerEnv starts server processes with additions to their environment, of
// the form "NAME=value". The fleet is private. Tests are skipped, loudly, with
// sources other than processes.
func ServerEnv(env ...string) Option {
	return func(o *options) { o.env, o.private = append(o.env, env...), true }
}

// ServerFiles gives every server files, by name, in a directory of their own.
// "{files}" in a ServerOptions option stands for that directory. The fleet is
// private.
func ServerFiles(files map[string][]byte) Option {
	return func(o *options) { o.files, o.private = files, true }
}

// Private gives a fleet servers of its own, which takes some seconds. A test
// that breaks servers and wants to call t.Parallel needs it.
func Private() Option {
	return func(o *options) { o.private = true }
}

// New returns a fleet of n servers for this test. They are shared with other
// tests unless an option says otherwise; the database and the proxies are not.
//
// A test that stops, freezes or rewinds a shared server or sets its global
// variables must not call t.Parallel; it is stopped with a message if another
// test uses the server. At cleanup every shared server is put back: resumed,
// started, its global variables as before, and the database is dropped.
//
// All methods of fleets and servers call t.Fatal when something is wrong, so
// they must be called from the test's own goroutine; or t.Skip, loudly, when
// the source of servers cannot do it.
func New(t testing.TB, n int, opts ...Option) *Fleet {
	t.Helper()
	if current == nil {
		t.Fatal("testfleet: TestMain of this package must call testfleet.Main")
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	f := &Fleet{t: t, Database: "oddeventest" + randomName()}
	nodes, err := current.acquire(n, o)
	if len(nodes) > 0 {
		t.Cleanup(func() { f.release(nodes, o.private) })
	}
	f.check("start servers", err)
	ctx, cancel := opContext()
	defer cancel()
	for i, node := range nodes {
		f.check("create database on "+node.name, node.admit(ctx, f.Database))
		f.Servers = append(f.Servers, f.newServer(fmt.Sprintf("server %d of %d", i+1, n), node))
	}
	return f
}

// check ends the test if err is not nil: with a skip if it is for lack of power.
func (f *Fleet) check(what string, err error) {
	f.t.Helper()
	if err == nil {
		return
	}
	if impossible(err) {
		current.skip(f.t, fmt.Errorf("%s: %w", what, err))
	}
	f.t.Fatalf("testfleet: %s: %v", what, err)
}

// DSNs returns the DSNs of the application's account, one per server, through
// the proxies.
func (f *Fleet) DSNs() []string { return f.dsns((*Server).DSN) }

// MigrateDSNs returns the DSNs of the migrating account.
func (f *Fleet) MigrateDSNs() []string { return f.dsns((*Server).MigrateDSN) }

// RootDSNs returns the DSNs of root.
func (f *Fleet) RootDSNs() []string { return f.dsns((*Server).RootDSN) }

func (f *Fleet) dsns(of func(*Server) string) []string {
	dsns := make([]string, len(f.Servers))
	for i, s := range f.Servers {
		dsns[i] = of(s)
	}
	return dsns
}

// release puts everything back at the end of the test.
func (f *Fleet) release(nodes []*node, private bool) {
	all := slices.Concat(f.Servers, f.copies)
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() {
			s.chain.close()
			s.closeDB()
		})
	}
	wg.Wait()
	for _, s := range f.copies {
		f.report(current.discard(s.node))
	}
	if private {
		f.report(current.discard(nodes...))
		return
	}
	for i, n := range nodes {
		if i < len(f.Servers) {
			f.putBack(f.Servers[i])
		}
		n.mu.Lock()
		n.users--
		n.mu.Unlock()
	}
}

// putBack makes a shared server what it was before the test. If that fails the
// test fails, and the server is replaced for the tests that follow.
func (f *Fleet) putBack(s *Server) {
	ctx, cancel := opContext()
	defer cancel()
	err := f.restore(ctx, s)
	if err != nil { // the server may have been about to end when it answered
		err = f.restore(ctx, s)
	}
	if err == nil {
		s.node.mu.Lock()
		defer s.node.mu.Unlock()
		s.node.broken = ""
		return
	}
	if current.ctx.Err() != nil {
		return // the run is being ended; the server is gone or about to
	}
	f.t.Errorf("testfleet: put %s back: %v", s.node.name, err)
	f.report(current.discard(s.node))
}

// restore is one attempt to put a server back. Every step may be repeated.
func (f *Fleet) restore(ctx context.Context, s *Server) error {
	if err := s.node.revive(ctx); err != nil {
		return err
	}
	if err := s.restoreGlobals(ctx); err != nil {
		return err
	}
	return s.node.expel(ctx, f.Database)
}

// report makes the test fail for an error at cleanup.
func (f *Fleet) report(err error) {
	if err != nil {
		f.t.Errorf("testfleet: %v", err)
	}
}
