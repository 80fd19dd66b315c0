package testfleet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/localserver"
)

// Flavor says which family a server belongs to: [MySQL] or [MariaDB].
type Flavor = localserver.Flavor

// The two flavors.
const (
	MySQL   = localserver.MySQL
	MariaDB = localserver.MariaDB
)

// A node is one server, whoever uses it: shared by tests or private to one.
type node struct {
	inst     instance
	name     string // for messages: "server 2 (MariaDB 10.11.19, process)"
	flavor   Flavor
	version  string
	accounts accounts
	root     *sql.DB // around all proxies; keeps no connections, so it survives restarts

	op sync.Mutex // held by operations on the process, one at a time

	mu        sync.Mutex          // guards the fields below
	databases map[string]struct{} // of tests, that exist
	users     int                 // fleets that have this server
	broken    string              // the test that has changed this server's state, if any
	down      bool                // killed or stopped by us
	paused    bool
}

// openNode creates a server and waits until it answers.
func openNode(ctx context.Context, src source, s spec, number int) (*node, error) {
	s.rootPassword = newPassword()
	inst, err := src.create(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("create server %d: %w", number, err)
	}
	suffix := ""
	if src.name() == "servers" {
		suffix = "_" + randomName()
	}
	n, err := newNode(ctx, inst, newAccounts(suffix))
	if err == nil {
		err = n.accounts.create(ctx, n.root)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare server %d: %w", number, err), inst.remove(context.WithoutCancel(ctx)))
	}
	n.name = fmt.Sprintf("server %d (%s, %s)", number, n.version, src.name())
	return n, nil
}

// newNode waits until a new instance answers and asks who it is.
func newNode(ctx context.Context, inst instance, a accounts) (*node, error) {
	n := &node{inst: inst, accounts: a, users: 1, databases: make(map[string]struct{})}
	user, password := inst.rootUser()
	db, err := openDB(inst.addr(), user, password, "")
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(-1)
	n.root = db
	if err := n.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&n.version); err != nil {
		return nil, errors.Join(fmt.Errorf("ask for the version: %w", err), db.Close())
	}
	n.flavor = MySQL
	if strings.Contains(n.version, "MariaDB") {
		n.flavor = MariaDB
	}
	return n, nil
}

// How a starting server is asked whether it is ready.
const (
	readyPoll    = 25 * time.Millisecond // between questions
	readyAttempt = 5 * time.Second       // for an answer
	readyLimit   = 2 * time.Minute       // for all of it
)

// awaitReady asks the server until it answers, its process ends or ctx ends.
func (n *node) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for try := 1; ; try++ {
		err := n.ping(ctx)
		if err == nil {
			return nil
		}
		if try%20 == 0 {
			if dead := n.inst.alive(ctx); dead != nil {
				return dead
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the server: %w (last attempt: %w)", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// ping asks the server once, for something in a table: a Galera node answers before
// it is prepared for that.
func (n *node) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyAttempt)
	defer cancel()
	var users int
	return n.root.QueryRowContext(ctx, "SELECT COUNT(*) FROM mysql.user").Scan(&users)
}

// admit creates a database for a test.
func (n *node) admit(ctx context.Context, database string) error {
	n.mu.Lock()
	n.databases[database] = struct{}{}
	n.mu.Unlock()
	return n.accounts.admit(ctx, n.root, database)
}

// expel drops the database of a test. It may be repeated.
func (n *node) expel(ctx context.Context, database string) error {
	if err := n.accounts.expel(ctx, n.root, database); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.databases, database)
	return nil
}

// close removes the server. From one that is not ours it removes what we have
// put there.
func (n *node) close(ctx context.Context) error {
	var err error
	if _, external := n.inst.(externalInstance); external {
		n.mu.Lock()
		databases := slices.Collect(maps.Keys(n.databases))
		n.mu.Unlock()
		for _, database := range databases {
			err = errors.Join(err, n.expel(ctx, database))
		}
		err = errors.Join(err, n.accounts.drop(ctx, n.root))
	}
	if err = errors.Join(err, n.root.Close(), n.inst.remove(ctx)); err != nil {
		return fmt.Errorf("remove %s: %w", n.name, err)
	}
	return nil
}

// config returns a client configuration.
func config(addr, user, password, database string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "tcp", addr
	cfg.User, cfg.Passwd, cfg.DBName = user, password, database
	return cfg
}

// openDB opens a pool that doesn't report the failures tests provoke.
func openDB(addr, user, password, database string) (*sql.DB, error) {
	cfg := config(addr, user, password, database)
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	return sql.OpenDB(connector), nil
}
