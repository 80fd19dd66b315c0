package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oddeven/oddeven/integration/replication"
	"github.com/oddeven/oddeven/internal/localserver"
)

// caughtUp bounds the wait until a replica has what its source had.
const caughtUp = 20 * time.Second

// promote lets a replica follow the server, by real replication, stops it, waits for
// a while in which the server goes on, kills that for good, and puts the replica in
// its place. What the server did in that while is forgotten.
func (v *server) promote(ctx context.Context, lag time.Duration, failed func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*opLimit)
	defer cancel()
	old, oldDisk := v.now(), v.disk
	replica, cfg, d, db, err := v.follow(ctx)
	if err != nil {
		return fmt.Errorf("make replica of server %s: %w", v.name(), err)
	}
	wait(ctx, lag)
	if err := failed(); err != nil {
		return errors.Join(err, db.Close(), replica.Kill(), d.close())
	}
	err = v.kill()
	v.mu.Lock()
	oldRoot, drop := v.root, v.snapshots
	v.process, v.config, v.disk, v.root = replica, cfg, d, db
	v.snapshots, v.taken = nil, time.Time{}
	v.mu.Unlock()
	err = errors.Join(err, oldRoot.Close(), oldDisk.close(), os.RemoveAll(old.Dir()))
	for _, path := range drop {
		err = errors.Join(err, os.RemoveAll(path)) // another server's
	}
	return errors.Join(err, v.proxy.Retarget(replica.Addr()))
}

// follow starts a replica, waits until it has caught up, and stops its replication.
func (v *server) follow(ctx context.Context) (_ *localserver.Server, cfg localserver.Config, d disk, db *sql.DB, err error) {
	v.mu.Lock()
	v.copies++
	source, cfg := v.process, v.config
	cfg.Dir = filepath.Join(filepath.Dir(cfg.Dir), fmt.Sprintf("s%d-%d", v.number+1, v.copies))
	cfg.Options = replicationOptions(v.number+1, v.copies)
	v.mu.Unlock()
	cfg.Port = 0
	var replica *localserver.Server
	defer func() {
		if err == nil {
			return
		}
		if replica != nil {
			err = errors.Join(err, replica.Kill())
		}
		if d != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d, err = newDisk(cfg.Dir); err != nil {
		return nil, cfg, nil, nil, err
	}
	at, err := v.copyAt(ctx, source, filepath.Join(cfg.Dir, "copy"))
	if err != nil {
		return nil, cfg, d, nil, err
	}
	data := filepath.Join(cfg.Dir, "data")
	if err := os.Rename(filepath.Join(cfg.Dir, "copy"), data); err != nil {
		return nil, cfg, d, nil, err
	}
	if err := os.RemoveAll(filepath.Join(data, "auto.cnf")); err != nil { // MySQL keeps its identity there
		return nil, cfg, d, nil, err
	}
	if replica, err = localserver.Open(ctx, cfg); err != nil {
		return nil, cfg, d, nil, err
	}
	if db, err = v.connect(replica.Addr()); err != nil {
		return nil, cfg, d, nil, err
	}
	return replica, cfg, d, db, v.replicate(ctx, db, source, at)
}

// copyAt copies the data of the server at a position of its binary log: nothing is
// committed meanwhile.
func (v *server) copyAt(ctx context.Context, source *localserver.Server, path string) (at replication.Position, err error) {
	conn, err := v.db().Conn(ctx)
	if err != nil {
		return at, err
	}
	defer conn.Close() //nolint:errcheck // gives up the lock at the latest
	if _, err := conn.ExecContext(ctx, "FLUSH TABLES WITH READ LOCK"); err != nil {
		return at, fmt.Errorf("lock tables: %w", err)
	}
	if at, err = replication.Next(ctx, conn, source.Installation().Flavor); err != nil {
		return at, err
	}
	if err := v.copyData(ctx, source, path); err != nil {
		return at, err
	}
	if _, err := conn.ExecContext(ctx, "UNLOCK TABLES"); err != nil {
		return at, fmt.Errorf("unlock tables: %w", err)
	}
	return at, nil
}

// replicate lets a replica follow from a position until it has all that the source
// has at that time, and stops it for good.
func (v *server) replicate(ctx context.Context, replica *sql.DB, source *localserver.Server, at replication.Position) error {
	flavor := source.Installation().Flavor
	if err := (replication.Source{DB: v.db(), Addr: source.Addr(), Flavor: flavor}).Follow(ctx, replica, at); err != nil {
		return err
	}
	target, err := replication.Next(ctx, v.db(), flavor)
	if err != nil {
		return err
	}
	if err := replication.Await(ctx, replica, flavor, target, caughtUp); err != nil {
		return err
	}
	return replication.End(ctx, replica, flavor)
}

// wait waits for a time or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
