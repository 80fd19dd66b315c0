package ticket

import (
	"context"
	"fmt"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
)

const (
	// The session owns its increments whatever the server's defaults are; every
	// account may set them. Without autocommit the OK of a statement would confirm
	// nothing. READ COMMITTED keeps gap locks away from the stubs.
	querySession   = "SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	queryClass     = "SET SESSION auto_increment_increment = ?, SESSION auto_increment_offset = ?"
	queryIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

	// The first row proves the scheme before anything is consumed: on a
	// mismatch EXP(1000) is out of range (error 1690) whatever the sql_mode. The
	// subquery locks the server's row in share mode until commit, so a fence and
	// the statements in flight wait for one another.
	queryReplace = "REPLACE INTO `tickets` (`stub`) VALUES (IF(CONNECTION_ID() = ? AND @@SESSION.auto_increment_increment = ? " +
		"AND @@SESSION.auto_increment_offset = ? AND @@SESSION.autocommit AND (SELECT `gen` FROM `server` WHERE `id` = 1) = ?, ?, EXP(1000)))"
)

// replaceRows is queryReplace for that many rows; the rows after the first
// cannot differ in what the first has proved.
func replaceRows(rows int) string {
	return queryReplace + strings.Repeat(", (?)", rows-1)
}

// draw sends one REPLACE of that many rows and returns its first number.
func (c *Conn) draw(ctx context.Context, rows int) (int64, error) {
	args := make([]any, 0, 4+rows)
	class := c.row.Class()
	args = append(args, c.id, class.Increment, class.Offset, c.row.Gen)
	for i := range rows {
		args = append(args, c.stub+int64(i))
	}
	exec := c.Exec
	if preparedRows(rows) {
		exec = c.ExecPrepared
	}
	first, _, err := exec(ctx, replaceRows(rows), args...)
	return first, err
}

// prepare makes the session independent of the server's defaults.
func (c *Conn) prepare(ctx context.Context) error {
	if _, err := c.conn.ExecContext(ctx, querySession); err != nil {
		return fmt.Errorf("set session: %w", err)
	}
	if _, err := c.conn.ExecContext(ctx, queryIsolation); err != nil {
		return fmt.Errorf("set isolation level: %w", err)
	}
	if err := c.Get(ctx, &c.id, queryConnID); err != nil {
		return fmt.Errorf("read connection ID: %w", err)
	}
	return nil
}

// preparedRows is where a statement is kept prepared on the server: a lone
// caller's, whose check costs more to parse and plan than to carry out, and the
// full one.
func preparedRows(rows int) bool { return rows == 1 || rows == stubsPerConn }

// setUp makes the session issue in the class of the row.
func (c *Conn) setUp(ctx context.Context, row schema.Server) error {
	if _, err := c.conn.ExecContext(ctx, queryClass, row.Increment, row.Offset); err != nil {
		return fmt.Errorf("set increment and offset: %w", err)
	}
	c.row = row
	return nil
}
