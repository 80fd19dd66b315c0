package migrations

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// errLost is returned when the one connection of a session is gone, and with it
// the lock.
var errLost = errors.New("connection lost, and with it the migration lock; run the command again")

// onceConnector connects a single time. A pool over it never reconnects behind
// our back, so whoever holds its connection still holds the lock taken on it.
type onceConnector struct {
	driver.Connector
	used atomic.Bool
}

func (c *onceConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.used.Swap(true) {
		return nil, errLost
	}
	return c.Connector.Connect(ctx)
}

// session is one server, worked on over one connection.
type session struct {
	db *sqlx.DB // exactly one connection, for good
}

// openSession connects. The error is the driver's. The driver's own limit ends
// with the TCP connection; a frozen server accepts one and never greets.
func openSession(ctx context.Context, cfg *mysql.Config) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*cfg.Timeout)
	defer cancel()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare connection: %w", err)
	}
	db := sqlx.NewDb(sql.OpenDB(&onceConnector{Connector: connector}), "mysql")
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	s := &session{db: db}
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// The session's own settings: a strict mode, so that a value that does not fit
// is an error and not a warning, and literal backslashes left alone.
const (
	querySQLMode   = "SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	queryIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
)

func (s *session) prepare(ctx context.Context) error {
	for _, q := range []string{querySQLMode, queryIsolation} {
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("prepare session: %w", err)
		}
	}
	return nil
}

// close ends the connection, which frees its locks.
func (s *session) close() {
	if s.db != nil {
		_ = s.db.Close() // nothing is pending on it; the server frees the locks either way
	}
}

// Lock names are at most 64 characters and shared by the whole server; the
// database is in them as a hash of its name.
const (
	queryLock   = "SELECT GET_LOCK(CONCAT(?, LEFT(SHA2(DATABASE(), 256), 32)), ?)"
	queryHolder = "SELECT COALESCE(IS_USED_LOCK(CONCAT(?, LEFT(SHA2(DATABASE(), 256), 32))), 0)"
	lockMigrate = "oddeven.migrate."
)

// lock takes a named lock, waiting at most wait. It reports false if another
// connection holds it.
func (s *session) lock(ctx context.Context, prefix string, wait time.Duration) (bool, error) {
	var got sql.NullInt64
	if err := s.db.GetContext(ctx, &got, queryLock, prefix, wait.Seconds()); err != nil {
		return false, fmt.Errorf("take lock: %w", err)
	}
	return got.Int64 == 1, nil
}

// holder is the ID of the connection that holds the lock, 0 if none does.
func (s *session) holder(ctx context.Context, prefix string) (int64, error) {
	var id int64
	if err := s.db.GetContext(ctx, &id, queryHolder, prefix); err != nil {
		return 0, fmt.Errorf("find lock holder: %w", err)
	}
	return id, nil
}

// randomToken is 16 random bytes in hexadecimal.
func randomToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
