package localserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// readyPoll is the pause between attempts to reach a starting server.
	readyPoll = 25 * time.Millisecond
	// readyAttempt bounds one attempt. A server that listens but does not
	// accept yet answers as soon as it does, within the same attempt.
	readyAttempt = 5 * time.Second
	// readyLimit bounds a start even if ctx does not. Recovery after a crash
	// is part of a start.
	readyLimit = 3 * time.Minute
)

// queryIdentity tells which server answers. general_log_file is the mark that
// the init file leaves.
const queryIdentity = `SELECT @@datadir, @@pid_file, @@general_log_file, VERSION()`

// identity is the answer to queryIdentity.
type identity struct {
	dataDir, pidFile, mark, version string
}

// errInit says that the server runs but its init file does not work.
var errInit = errors.New("a statement of the init file (root account or Config.InitSQL) was refused")

// awaitReady waits until the server of this process answers and returns its
// version. Servers of other programs on the same port are not mistaken for it.
// It gives up when the process ends, when ctx ends, and after readyLimit.
func (s *Server) awaitReady(ctx context.Context, p *process, port int) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("no answer within %v", readyLimit))
	defer cancel()
	db, err := openRoot(port, s.cfg.RootPassword)
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // its connections did their work

	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		id, err := identify(ctx, db)
		if err == nil {
			err = s.checkIdentity(id)
		}
		if err == nil || errors.Is(err, errInit) {
			return id.version, err
		}
		select {
		case <-p.done:
			return "", p.exitError()
		case <-ctx.Done():
			return "", fmt.Errorf("wait for server: %w (last attempt: %w)", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// checkIdentity reports whether the answer comes from our server and whether
// it is ready.
func (s *Server) checkIdentity(id identity) error {
	if filepath.Clean(id.dataDir) != s.home.path(dataName) || filepath.Clean(id.pidFile) != s.home.path(pidName) {
		return fmt.Errorf("another server answers, with data in %s", id.dataDir)
	}
	if id.mark != s.home.path(generalName) {
		return errInit
	}
	return nil
}

// identify asks the server who it is.
func identify(ctx context.Context, db *sql.DB) (identity, error) {
	ctx, cancel := context.WithTimeout(ctx, readyAttempt)
	defer cancel()
	var id identity
	err := db.QueryRowContext(ctx, queryIdentity).Scan(&id.dataDir, &id.pidFile, &id.mark, &id.version)
	return id, err
}

// openRoot returns a pool that connects as root and keeps no connections.
func openRoot(port int, password string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "tcp", address(port)
	cfg.User, cfg.Passwd = "root", password
	cfg.Logger = &mysql.NopLogger{} // failed attempts are expected
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(-1)
	return db, nil
}
