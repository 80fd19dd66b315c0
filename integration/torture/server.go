package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/account"
	"github.com/oddeven/oddeven/internal/localserver"
)

const (
	database    = "oddeven"
	migrateUser = "oddeven_migrate"
	appUser     = "oddeven_app"
)

// opLimit bounds every operation on a server.
const opLimit = time.Minute

// secrets are the passwords of all servers. They have what scripts/no-passwords looks for.
type secrets struct{ root, migrate, app string }

func newSecrets() secrets {
	return secrets{root: testfleet.ShortPassword(), migrate: testfleet.ShortPassword(), app: testfleet.ShortPassword()}
}

// server is one ticket server: a process, or for a cluster the node that is its
// primary, behind a proxy with a fixed address.
type server struct {
	number  int // from 0; the offset is one more
	secrets secrets
	proxy   *testfleet.Proxy

	use     chan struct{} // held by the fault of the server's process or settings, if there is one
	network chan struct{} // held by the fault of its network

	gate    gate
	cluster *cluster // nil if it is a single process

	mu        sync.Mutex // guards all below; not held while processes start or end
	process   *localserver.Server
	config    localserver.Config
	disk      disk
	root      *sql.DB // around the proxy; keeps no connections, so it survives restarts
	snapshots []string
	copies    int       // replicas and snapshots so far, for names
	taken     time.Time // of the last snapshot
}

// startServer starts a server in a directory of its own.
func startServer(ctx context.Context, number int, dir string, installation localserver.Installation, s secrets) (_ *server, err error) {
	v := &server{number: number, secrets: s, use: make(chan struct{}, 1), network: make(chan struct{}, 1)}
	v.config = localserver.Config{
		Installation: installation, Dir: filepath.Join(dir, fmt.Sprintf("s%d", number+1)),
		RootPassword: s.root, InitSQL: s.initSQL(), Options: replicationOptions(number+1, 0),
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start server %d: %w", number+1, err), v.close(context.WithoutCancel(ctx)))
		}
	}()
	if v.disk, err = newDisk(v.config.Dir); err != nil {
		return nil, err
	}
	if v.process, err = localserver.Open(ctx, v.config); err != nil {
		return nil, err
	}
	if v.root, err = v.connect(v.process.Addr()); err != nil {
		return nil, err
	}
	if v.proxy, err = testfleet.NewProxy(v.process.Addr()); err != nil {
		return nil, err
	}
	v.gate.proxy = v.proxy
	return v, nil
}

// replicationOptions are what a server needs to be the source of a replica, or one.
func replicationOptions(offset, copies int) []string {
	return []string{
		"--server-id=" + strconv.Itoa(offset*1000+copies), "--log-bin=binlog", "--binlog-format=ROW",
		"--max-binlog-size=16M", "--max-connections=" + strconv.Itoa(most),
	}
}

// initSQL makes the database and its accounts.
func (s secrets) initSQL() []string {
	all := []string{"CREATE DATABASE IF NOT EXISTS `" + database + "`"}
	all = append(all, account.Create(migrateUser, s.migrate, account.MigratePrivileges, database)...)
	return append(all, account.Create(appUser, s.app, account.AppPrivileges, database)...)
}

// name is what events call it.
func (v *server) name() string { return strconv.Itoa(v.number + 1) }

// app is how applications reach it, migrate how `oddeven migrate` does.
func (v *server) app() *mysql.Config { return v.login(v.proxy.Addr(), appUser, v.secrets.app) }

func (v *server) migrate() *mysql.Config {
	return v.login(v.proxy.Addr(), migrateUser, v.secrets.migrate)
}

func (v *server) login(addr, user, password string) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = user, password, "tcp", addr, database
	c.Logger = &mysql.NopLogger{}
	return c
}

// connect is a pool of root, around the proxy.
func (v *server) connect(addr string) (*sql.DB, error) {
	cfg := v.login(addr, "root", v.secrets.root)
	cfg.DBName = ""
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(-1)
	return db, nil
}

// now is the process that is the server at present.
func (v *server) now() *localserver.Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.process
}

// db is the pool of root.
func (v *server) db() *sql.DB {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.root
}

// kill ends the process as a crash does. Connections are refused until start.
func (v *server) kill() error {
	err := v.now().Kill()
	v.gate.shut(gateDown)
	return err
}

// start starts it again.
func (v *server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	if err := v.now().Start(ctx); err != nil {
		return err
	}
	return v.gate.open(gateDown)
}

// exec runs a statement as root.
func (v *server) exec(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	if _, err := v.db().ExecContext(ctx, query); err != nil {
		return fmt.Errorf("%s on server %s: %w", query, v.name(), err)
	}
	return nil
}

// freshEnough is how old the newest snapshot may be.
const freshEnough = 10 * time.Second

// snapshot copies the data of the server as a crash at this moment would leave it:
// it is frozen meanwhile. The oldest and the newest are kept.
func (v *server) snapshot(ctx context.Context) (err error) {
	if v.cluster != nil {
		return nil
	}
	v.mu.Lock()
	p, have := v.process, len(v.snapshots)
	if have > 0 && time.Since(v.taken) < freshEnough {
		v.mu.Unlock()
		return nil
	}
	v.copies++
	path := filepath.Join(filepath.Dir(v.config.Dir), fmt.Sprintf("snapshot-%s-%d", v.name(), v.copies))
	v.mu.Unlock()
	// Binary logs grow with every statement; replicas need the last seconds' only.
	if err := v.exec(ctx, "PURGE BINARY LOGS BEFORE NOW() - INTERVAL 30 SECOND"); err != nil {
		return err
	}
	if err := v.copyData(ctx, p, path); err != nil {
		return fmt.Errorf("snapshot of server %s: %w", v.name(), err)
	}
	v.mu.Lock()
	old := v.snapshots
	v.snapshots, v.taken = []string{path}, time.Now()
	if len(old) > 0 {
		v.snapshots, old = []string{old[0], path}, old[1:]
	}
	v.mu.Unlock()
	for _, path := range old {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// copyData copies the data directory of a process, frozen meanwhile.
func (v *server) copyData(ctx context.Context, p *localserver.Server, path string) (err error) {
	if err := p.Pause(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Resume()) }()
	return p.Snapshot(ctx, path)
}

// rewind kills the server and gives it the data of a snapshot.
func (v *server) rewind(ctx context.Context, which int64) error {
	v.mu.Lock()
	p, have := v.process, v.snapshots
	v.mu.Unlock()
	if len(have) == 0 {
		return fmt.Errorf("rewind server %s: there is no snapshot", v.name())
	}
	if err := v.kill(); err != nil {
		return err
	}
	return p.RestoreFrom(ctx, have[min(int(which), len(have)-1)])
}

// close ends everything.
func (v *server) close(ctx context.Context) error {
	var errs []error
	if v.proxy != nil {
		v.proxy.Close()
	}
	if v.root != nil {
		errs = append(errs, v.root.Close())
	}
	if v.process != nil {
		errs = append(errs, v.process.Kill())
	}
	if v.cluster != nil {
		errs = append(errs, v.cluster.kill())
	}
	if v.disk != nil {
		errs = append(errs, v.disk.close())
	}
	return errors.Join(errs...)
}
