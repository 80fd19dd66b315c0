package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// Reads the data dictionary; sees only tables the account may see.
	queryTables = "SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (?)"
	// A consistent read; 0 for an empty table.
	queryMaxTicket = "SELECT COALESCE(MAX(`id`), 0) FROM `tickets`"
	// The live counter: information_schema caches it and lags.
	queryShowTickets = "SHOW CREATE TABLE `tickets`"
	// Locks the server's row until the end of the transaction.
	queryLockServer = "SELECT `gen` FROM `server` WHERE `id` = 1 FOR UPDATE"
	queryPeers      = "SELECT `identity`, `server_offset`, `retired_at` FROM `peers`"
	// Every sequence, tombstones included. A damaged row must not fail to be read.
	querySequences = "SELECT `name`, LEAST(`rounds`, 2305843009213693951) AS `rounds`, LEAST(`peak`, 2305843009213693951) AS `peak`, " +
		"LEAST(`base`, 2305843009213693951) AS `base`, `birth`, LEAST(`ceiling`, 2305843009213693951) AS `ceiling`, `description`, `deleted_at`, `gen` = 0 AS `held` FROM `sequences`"
	queryNumbers = "SELECT `number` FROM `workers` ORDER BY `number`"
	// Allocations: anything that says which numbers have been given out.
	queryUsedSequences = "SELECT COUNT(*) FROM `sequences`"
	queryUsedWorkers   = "SELECT COUNT(*) FROM `workers` WHERE `until_tick` > 0"
)

type tableInfo struct {
	Name    string `db:"name"`
	Comment string `db:"comment"`
}

// ourTables returns which tables of the schema are there, and refuses if one
// that bears such a name is not ours.
func (m *member) ourTables(ctx context.Context) ([]string, error) {
	query, args, err := sqlx.In(queryTables, schema.Tables())
	if err != nil {
		return nil, fmt.Errorf("build query: %w", err)
	}
	var found []tableInfo
	if err := m.session.db.SelectContext(ctx, &found, query, args...); err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	var names []string
	for _, t := range found {
		if !strings.HasPrefix(t.Comment, schema.CommentPrefix) {
			return nil, &ticket.ServerError{
				Server: m.report.Server, Problem: fmt.Sprintf("has a table %q that oddeven did not make", t.Name),
				Remedy: "Give oddeven a database of its own, or rename that table. A ticket table of Flickr's kind can be taken over from another database: `oddeven migrate adopt DATABASE.TABLE`.",
				Kind:   ErrForeignTable,
			}
		}
		names = append(names, t.Name)
	}
	return names, nil
}

func (m *member) checkTables(ctx context.Context) error {
	_, err := m.ourTables(ctx)
	return err
}

// lastTicket is the largest ticket that the server may have issued: the larger
// of what is in the table and what the counter has passed. 0 if the table does
// not exist or was never used.
func (m *member) lastTicket(ctx context.Context) (int64, error) {
	highest, err := m.committedTicket(ctx)
	if mysqlerr.IsNoSuchTable(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var name, definition string
	if err := m.session.db.QueryRowxContext(ctx, queryShowTickets).Scan(&name, &definition); err != nil {
		return 0, fmt.Errorf("read ticket counter: %w", err)
	}
	passed, err := schema.Passed(definition)
	return max(highest, passed), err
}

// committedTicket is the largest ticket in the table. Only what is committed
// lasts: a server may forget how far a transaction that was rolled back has
// moved the counter.
func (m *member) committedTicket(ctx context.Context) (int64, error) {
	var highest int64
	if err := m.session.db.GetContext(ctx, &highest, queryMaxTicket); err != nil {
		return 0, fmt.Errorf("read highest ticket: %w", err)
	}
	return highest, nil
}

type peerRow struct {
	Identity  schema.Identity `db:"identity"`
	Offset    int64           `db:"server_offset"`
	RetiredAt sql.NullTime    `db:"retired_at"`
}

func (m *member) peers(ctx context.Context) ([]peerRow, error) {
	var rows []peerRow
	if err := m.session.db.SelectContext(ctx, &rows, queryPeers); err != nil && !mysqlerr.IsNoSuchTable(err) {
		return nil, fmt.Errorf("read peers' records: %w", err)
	}
	return rows, nil
}

type sequenceRow struct {
	Name        []byte       `db:"name"`
	Rounds      int64        `db:"rounds"`
	Peak        int64        `db:"peak"` // most rounds used in an hour
	Base        int64        `db:"base"`
	Birth       int64        `db:"birth"`
	Ceiling     int64        `db:"ceiling"`
	Description string       `db:"description"`
	DeletedAt   sql.NullTime `db:"deleted_at"`
	Held        bool         `db:"held"` // back: see schema.HeldBack
}

// newer reports whether a server has missed a change if it has the other row: a
// later birth is newer, and of one birth the tombstone.
func (r sequenceRow) newer(than sequenceRow) bool {
	if r.Birth != than.Birth {
		return r.Birth > than.Birth
	}
	return r.DeletedAt.Valid && !than.DeletedAt.Valid
}

func (r sequenceRow) line(class schema.Class) schema.ClockLine {
	return schema.ClockLine{Base: r.Base, Birth: r.Birth, Last: class.LastRound(r.Ceiling)}
}

func (m *member) sequences(ctx context.Context) ([]sequenceRow, error) {
	var rows []sequenceRow
	if err := m.session.db.SelectContext(ctx, &rows, querySequences); err != nil && !mysqlerr.IsNoSuchTable(err) {
		return nil, fmt.Errorf("read sequences: %w", err)
	}
	return rows, nil
}

// missingWorkers are the numbers of the server's class, below total, without a row.
func (m *member) missingWorkers(ctx context.Context, class schema.Class, total int64) ([]int64, error) {
	var have []int64
	if err := m.session.db.SelectContext(ctx, &have, queryNumbers); err != nil {
		return nil, fmt.Errorf("list worker numbers: %w", err)
	}
	var missing []int64
	for _, n := range class.Workers(total) {
		if _, found := slices.BinarySearch(have, n); !found {
			missing = append(missing, n)
		}
	}
	return missing, nil
}

// allocations says in words which tables hold allocations.
func (m *member) allocations(ctx context.Context) (map[string]string, error) {
	used := map[string]string{}
	last, err := m.lastTicket(ctx)
	if err != nil {
		return nil, err
	}
	if last > 0 {
		used["tickets"] = fmt.Sprintf("tickets up to %d", last)
	}
	for table, count := range map[string]struct{ query, what string }{
		"sequences": {queryUsedSequences, "sequences"},
		"workers":   {queryUsedWorkers, "worker numbers leased or parked"},
	} {
		var n int64
		err := m.session.db.GetContext(ctx, &n, count.query)
		if mysqlerr.IsNoSuchTable(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", count.what, err)
		}
		if n > 0 {
			used[table] = fmt.Sprintf("%d %s", n, count.what)
		}
	}
	return used, nil
}

// transact runs f in a transaction. A transaction whose COMMIT was not
// confirmed is an error; running the command again finds out.
func (m *member) transact(ctx context.Context, f func(*sqlx.Tx) error) (err error) {
	tx, err := m.session.db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		if err != nil {
			rollbackErr := tx.Rollback()
			if errors.Is(rollbackErr, sql.ErrTxDone) {
				rollbackErr = nil
			}
			err = errors.Join(err, rollbackErr)
		}
	}()
	if err = f(tx); err != nil {
		return err
	}
	if err = tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// utc is a server's Unix time for a DATETIME column.
func utc(unix int64) time.Time { return time.Unix(unix, 0).UTC() }
