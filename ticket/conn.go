package ticket

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
)

// Conn is a verified connection to one server of a fleet, for the duration of
// one call of the function given to [Fleet.Do]. It must not be kept, and only
// one goroutine may use it at a time.
type Conn struct {
	conn *sqlx.Conn
	name string // host:port/database
	row  schema.Server
	id   int64 // CONNECTION_ID()
	stub int64 // first of its stubsPerConn stubs
	used bool  // has carried a statement before, so that it may have gone stale

	prepared map[string]*sql.Stmt // by query; nil where the server would not
}

// Server names the server: host:port/database.
func (c *Conn) Server() string { return c.name }

// Class is the residue class that the server owns: its offset and the fleet's increment.
func (c *Conn) Class() (offset, increment int64) { return c.row.Offset, c.row.Increment }

// Gen is the server's generation. Every statement that reserves something says
// `AND gen = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit` with Gen and ID.
func (c *Conn) Gen() int64 { return c.row.Gen }

// ID is the server's number for the connection.
func (c *Conn) ID() int64 { return c.id }

// Exec runs a statement and returns its insert ID and the number of rows
// matched. The error is the driver's.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (insertID, matched int64, err error) {
	result, err := c.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, 0, err
	}
	return outcome(result)
}

// ExecPrepared is Exec for statements that are sent over and over: from its
// second use on a connection on it takes one round trip and no parsing. The
// server bounds the number of all that are prepared (max_prepared_stmt_count,
// 16382 unless set), so few statements deserve it; when it prepares no more they
// are sent as text.
func (c *Conn) ExecPrepared(ctx context.Context, query string, args ...any) (insertID, matched int64, err error) {
	stmt, tried := c.prepared[query]
	if !tried {
		if stmt, err = c.conn.PrepareContext(ctx, query); err != nil {
			if mysqlerr.Number(err) == 0 {
				return 0, 0, err
			}
			stmt = nil
		}
		if c.prepared == nil {
			c.prepared = make(map[string]*sql.Stmt)
		}
		c.prepared[query] = stmt
	}
	if stmt == nil {
		return c.Exec(ctx, query, args...)
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		if errors.Is(err, sql.ErrConnDone) {
			// database/sql tried again on the same connection, which was broken: it
			// hides the driver's error behind its own. Nothing was sent twice.
			err = driver.ErrBadConn
		}
		return 0, 0, err
	}
	return outcome(result)
}

// outcome is the insert ID and the number of rows matched.
func outcome(result sql.Result) (insertID, matched int64, err error) {
	if insertID, err = result.LastInsertId(); err != nil {
		return 0, 0, err
	}
	matched, err = result.RowsAffected()
	return insertID, matched, err
}

// Changed is the error for a function given to [Fleet.Do] to return when a
// statement with Gen and ID matched no row although the row is there: the server
// is not as it was verified. It is checked, and the call goes on elsewhere.
func (c *Conn) Changed() error { return errChanged }

// Get reads one row into dest, a pointer to a value or a struct with db tags.
func (c *Conn) Get(ctx context.Context, dest any, query string, args ...any) error {
	return c.conn.GetContext(ctx, dest, query, args...)
}

// Select reads rows into dest, a pointer to a slice.
func (c *Conn) Select(ctx context.Context, dest any, query string, args ...any) error {
	return c.conn.SelectContext(ctx, dest, query, args...)
}

// close ends the connection itself, whatever database/sql would keep.
func (c *Conn) close() error {
	err := c.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// identify reads what the server behind the connection is now.
func (c *Conn) identify(ctx context.Context) (schema.Server, schema.Incarnation, error) {
	row, err := schema.ReadServer(ctx, c.conn)
	if err != nil {
		return row, schema.Incarnation{}, err
	}
	var readOnly bool
	if err := c.Get(ctx, &readOnly, queryReadOnly); err != nil {
		return row, schema.Incarnation{}, fmt.Errorf("read read_only: %w", err)
	}
	if readOnly {
		return row, schema.Incarnation{}, errReadOnly()
	}
	inc, err := schema.ReadIncarnation(ctx, c.conn)
	return row, inc, err
}

var errIsReadOnly = errors.New("ticket: server is read-only")

func errReadOnly() error {
	return &ServerError{Problem: "read-only", Kind: errIsReadOnly, Remedy: "Turn read_only off on it, or point the DSN at the primary."}
}

// sameScheme reports whether two readings of a server's row promise the same:
// how much it is used may differ.
func sameScheme(a, b schema.Server) bool {
	a.TicketPeak, a.TicketHour, a.TicketHourRound = b.TicketPeak, b.TicketHour, b.TicketHourRound
	return a == b
}

// checkRow refuses a schema that this build cannot work with, by a
// *ServerError whose Server is still empty.
func checkRow(row schema.Server, version int64) error {
	switch class := row.Class(); {
	case version < schema.Required:
		return &ServerError{Problem: fmt.Sprintf("schema version %d is older than the %d this build needs", version, schema.Required), Remedy: "Run `oddeven migrate up`."}
	case row.MinClient > schema.Client:
		return &ServerError{Problem: fmt.Sprintf("schema version %d asks for client protocol %d, this build speaks %d", version, row.MinClient, schema.Client), Remedy: "Update oddeven in this application."}
	case class.Increment < 1 || class.Offset < 1 || class.Offset > class.Increment:
		return &ServerError{Problem: fmt.Sprintf("its row says offset %d of increment %d", class.Offset, class.Increment), Remedy: "Somebody changed the row by hand; restore it."}
	}
	return nil
}
