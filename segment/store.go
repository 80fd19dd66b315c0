package segment

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// One round trip per segment. MySQL and MariaDB assign from left to right, so
	// hour_round sees the old rounds and peak the new ones; what a floor adds is no
	// use of this row and moves the beginning of the hour along. The counts of
	// refills and rounds for people are taken before hour is assigned; nothing in
	// them can overflow or fail, also when the clock was set back or the row was
	// damaged. Without CAST MySQL compares a floor that is bound as text as text, and
	// could go back. The WHERE clause is the proof that the row is as it was verified,
	// that an OK means that it is committed, that the end is not reached, and that the
	// floor is one that this server can believe: by schema.ClockLine.MaxDrift, or
	// because it was held against the clock line (reservation.far).
	queryReserve = "UPDATE `sequences` SET " +
		"`hour_round` = GREATEST(`rounds`, CAST(? AS UNSIGNED)) + IF(`hour` = UNIX_TIMESTAMP() DIV 3600, `hour_round`, `rounds`) - `rounds`, " +
		"`past_refills` = IF(`hour` = UNIX_TIMESTAMP() DIV 3600, `past_refills`, IF(`hour` = GREATEST(1, UNIX_TIMESTAMP() DIV 3600) - 1 AND `refills` > `hour_refills`, `refills` - `hour_refills`, 0)), " +
		"`past_reserved` = IF(`hour` = UNIX_TIMESTAMP() DIV 3600, `past_reserved`, IF(`hour` = GREATEST(1, UNIX_TIMESTAMP() DIV 3600) - 1 AND `reserved` > `hour_reserved`, `reserved` - `hour_reserved`, 0)), " +
		"`hour_refills` = IF(`hour` = UNIX_TIMESTAMP() DIV 3600, `hour_refills`, `refills`), " +
		"`hour_reserved` = IF(`hour` = UNIX_TIMESTAMP() DIV 3600, `hour_reserved`, `reserved`), " +
		"`hour` = UNIX_TIMESTAMP() DIV 3600, " +
		"`rounds` = LAST_INSERT_ID(GREATEST(`rounds`, CAST(? AS UNSIGNED)) + ?), " +
		"`peak` = GREATEST(`peak`, IF(`rounds` > `hour_round`, `rounds` - `hour_round`, 0)), " +
		"`refills` = LEAST(`refills`, 2305843009213693951) + 1, `reserved` = LEAST(`reserved`, 2305843009213693951) + ?, `step` = ?, `refilled_at` = UTC_TIMESTAMP(6), `refilled_by` = ? " +
		"WHERE `name` = ? AND `gen` = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit AND `deleted_at` IS NULL " +
		"AND GREATEST(`rounds`, CAST(? AS UNSIGNED)) + ? <= CAST(`ceiling` DIV ? AS SIGNED) - 1 " +
		"AND (? OR CAST(? AS UNSIGNED) <= `rounds` + GREATEST(1000000, (CAST(`ceiling` DIV ? AS SIGNED) - 1 - CAST(`base` AS SIGNED)) DIV 1000))"

	querySequence = "SELECT `rounds`, `gen`, `base`, `birth`, `ceiling`, `deleted_at` IS NOT NULL AS `deleted`, UNIX_TIMESTAMP() AS `now` FROM `sequences` WHERE `name` = ?"
)

// row is a sequence on one server.
type row struct {
	Rounds  int64 `db:"rounds"`
	Gen     int64 `db:"gen"`
	Base    int64 `db:"base"`
	Birth   int64 `db:"birth"`
	Ceiling int64 `db:"ceiling"`
	Deleted bool  `db:"deleted"`
	Now     int64 `db:"now"` // the server's time, Unix seconds

	last  int64 // last round below the ceiling
	reach int64 // highest floor that the server believes
}

// read reads the row; it returns an error of kind ErrUnknownSequence if there is
// none, or a tombstone.
func read(ctx context.Context, c *ticket.Conn, name string) (row, error) {
	var r row
	err := c.Get(ctx, &r, querySequence, name)
	if errors.Is(err, sql.ErrNoRows) {
		return r, &ticket.ServerError{
			Problem: fmt.Sprintf("has no sequence %q", name), Kind: ErrUnknownSequence,
			Remedy: "Run `oddeven sequence repair` if other servers have it, else `oddeven sequence create`.",
		}
	}
	if err != nil {
		return r, fmt.Errorf("read sequence: %w", err)
	}
	if r.Deleted {
		return r, &ticket.ServerError{
			Problem: fmt.Sprintf("sequence %q was deleted", name), Kind: errDeleted,
			Remedy: "`oddeven sequence create` revives it above everything it has issued.",
		}
	}
	offset, increment := c.Class()
	r.last = schema.Class{Offset: offset, Increment: increment}.LastRound(r.Ceiling)
	r.reach = schema.ClockLine{Base: r.Base, Birth: r.Birth, Last: r.last}.Reach(r.Rounds, r.Now)
	return r, nil
}

// reservation is one statement.
type reservation struct {
	name  string
	by    string // this client, for people
	floor int64
	count int64
	far   bool // the floor was held against the clock line
}

// send sends the statement and returns the last round reserved; false if the
// row did not match. The next refill is as likely to be on another connection,
// but there are few, so the statement is kept prepared on each.
func (r reservation) send(ctx context.Context, c *ticket.Conn) (last int64, ok bool, err error) {
	_, n := c.Class()
	last, matched, err := c.ExecPrepared(ctx, queryReserve, r.floor, r.floor, r.count, r.count, r.count, r.by,
		r.name, c.Gen(), c.ID(), r.floor, r.count, n, r.far, r.floor, n)
	return last, matched > 0, err
}
