package sequence

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// A damaged row must not wrap around: no honest value comes near 2^61.
	querySequences = "SELECT `name`, LEAST(`rounds`, 2305843009213693951) AS `rounds`, LEAST(`gen`, 2305843009213693951) AS `gen`, " +
		"LEAST(`base`, 2305843009213693951) AS `base`, `birth`, LEAST(`ceiling`, 2305843009213693951) AS `ceiling`, `description`, " +
		"LEAST(`peak`, 2305843009213693951) AS `peak`, LEAST(`refills`, 2305843009213693951) AS `refills`, " +
		"LEAST(`reserved`, 2305843009213693951) AS `reserved`, LEAST(`start_round`, 2305843009213693951) AS `start_round`, " +
		"LEAST(`hour`, 2305843009213693951) AS `hour`, LEAST(`hour_refills`, 2305843009213693951) AS `hour_refills`, " +
		"LEAST(`hour_reserved`, 2305843009213693951) AS `hour_reserved`, LEAST(`past_refills`, 2305843009213693951) AS `past_refills`, " +
		"LEAST(`past_reserved`, 2305843009213693951) AS `past_reserved`, " +
		"LEAST(`step`, 2305843009213693951) AS `step`, `refilled_at`, `refilled_by`, `created_at`, `deleted_at` FROM `sequences`"
	// Read after the rows: if gen is still the connection's, no fence has run in between.
	querySelf = "SELECT `gen`, `shard_bits`, UNIX_TIMESTAMP() AS `now` FROM `server` WHERE `id` = 1"
	// The other servers of the fleet, named by the client or not.
	queryPeers = "SELECT `server_offset` FROM `peers` WHERE `retired_at` IS NULL"
	queryGen   = "SELECT `gen` FROM `server` WHERE `id` = 1"

	// One statement that makes a row or changes it. It holds the server's row
	// locked until it has committed: a fence takes that lock first, so either the
	// fence finds the row as it is afterwards, or the gen here matches no more. All
	// changes of a state take it, so the state that WHERE compares stays as it is
	// until it is replaced. Matches 0 rows if the generation, the connection or the
	// state is not the expected one; NULL is the state of a row that is not there.
	// rounds only grows, refills go on meanwhile; what is leapt is no use, so the
	// beginning of the hour moves along.
	queryPut = "INSERT INTO `sequences` (`name`, `rounds`, `gen`, `base`, `birth`, `ceiling`, `description`, `hour`, `hour_round`, " +
		"`peak`, `refills`, `reserved`, `start_round`, `hour_refills`, `hour_reserved`, `past_refills`, `past_reserved`, " +
		"`step`, `refilled_at`, `refilled_by`, `created_at`, `deleted_at`) " +
		"SELECT ?, ?, `v`.`gen`, ?, ?, ?, ?, UNIX_TIMESTAMP() DIV 3600, ?, 0, 0, 0, ?, 0, 0, 0, 0, 0, NULL, '', ?, ? " +
		"FROM `server` AS `v` LEFT JOIN `sequences` AS `old` ON `old`.`name` = ? " +
		"WHERE `v`.`id` = 1 AND `v`.`gen` = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit " +
		"AND `old`.`birth` <=> ? AND `old`.`base` <=> ? AND `old`.`ceiling` <=> ? AND (`old`.`deleted_at` IS NOT NULL) = ? FOR UPDATE " +
		"ON DUPLICATE KEY UPDATE " +
		"`sequences`.`hour_round` = `sequences`.`hour_round` + IF(VALUES(`rounds`) > `sequences`.`rounds`, VALUES(`rounds`) - `sequences`.`rounds`, 0), " +
		"`sequences`.`rounds` = GREATEST(`sequences`.`rounds`, VALUES(`rounds`)), `sequences`.`gen` = VALUES(`gen`), " +
		"`sequences`.`base` = VALUES(`base`), `sequences`.`birth` = VALUES(`birth`), `sequences`.`ceiling` = VALUES(`ceiling`), " +
		"`sequences`.`description` = VALUES(`description`), `sequences`.`created_at` = VALUES(`created_at`), " +
		"`sequences`.`deleted_at` = VALUES(`deleted_at`)"
)

// storedRow is a row as it is scanned.
type storedRow struct {
	Name        []byte `db:"name"`
	Rounds      int64  `db:"rounds"`
	Gen         int64  `db:"gen"`
	Base        int64  `db:"base"`
	Birth       int64  `db:"birth"`
	Ceiling     int64  `db:"ceiling"`
	Description string `db:"description"`
	Peak        int64  `db:"peak"`
	Refills     int64  `db:"refills"`
	Reserved    int64  `db:"reserved"`
	Start       int64  `db:"start_round"`
	Step        int64  `db:"step"`
	Usage
	RefilledAt sql.NullTime `db:"refilled_at"`
	RefilledBy string       `db:"refilled_by"`
	CreatedAt  time.Time    `db:"created_at"`
	DeletedAt  sql.NullTime `db:"deleted_at"`
}

func (r storedRow) row() *Row {
	return &Row{
		State:  State{Base: r.Base, Birth: r.Birth, Ceiling: r.Ceiling, Description: r.Description, Deleted: r.DeletedAt.Valid},
		Rounds: r.Rounds, Gen: r.Gen, Peak: r.Peak, Step: r.Step, Refills: r.Refills, RefilledAt: r.RefilledAt.Time, RefilledBy: r.RefilledBy,
		CreatedAt: r.CreatedAt, DeletedAt: r.DeletedAt.Time, Reserved: r.Reserved, Start: r.Start, Usage: r.Usage,
	}
}

// reading is what one server says.
type reading struct {
	ok    bool
	on    OnServer // without a row
	rows  map[string]*Row
	peers []int64 // offsets of the other servers that it remembers
}

// read reads rows and the server's own; without names all there are.
func read(ctx context.Context, c *ticket.Conn, names []string) (reading, error) {
	query, args := querySequences, make([]any, 0, len(names))
	if len(names) > 0 {
		query += " WHERE `name` IN (?" + strings.Repeat(", ?", len(names)-1) + ")"
	}
	for _, name := range names {
		args = append(args, []byte(name))
	}
	var rows []storedRow
	if err := c.Select(ctx, &rows, query, args...); err != nil {
		return reading{}, fmt.Errorf("read sequences: %w", err)
	}
	var self struct {
		Gen  int64 `db:"gen"`
		Bits int   `db:"shard_bits"`
		Now  int64 `db:"now"`
	}
	if err := c.Get(ctx, &self, querySelf); err != nil {
		return reading{}, fmt.Errorf("read server row: %w", err)
	}
	if self.Gen != c.Gen() {
		return reading{}, c.Changed()
	}
	var peers []int64
	if err := c.Select(ctx, &peers, queryPeers); err != nil {
		return reading{}, fmt.Errorf("read peers' records: %w", err)
	}
	offset, increment := c.Class()
	r := reading{peers: peers, ok: true, rows: make(map[string]*Row, len(rows))}
	r.on = OnServer{Server: c.Server(), Class: schema.Class{Offset: offset, Increment: increment}, Gen: self.Gen, Now: self.Now, bits: self.Bits}
	for _, row := range rows {
		r.rows[string(row.Name)] = row.row()
	}
	return r, nil
}

// readAll reads on every server that is up. The readings and errors are in the
// order of the fleet's configuration.
func readAll(ctx context.Context, fleet *ticket.Fleet, names []string) ([]reading, []error) {
	var mu sync.Mutex
	found := map[string]reading{}
	errs := fleet.Each(ctx, func(ctx context.Context, c *ticket.Conn) error {
		r, err := read(ctx, c, names)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		found[r.on.Server] = r
		return nil
	})
	readings := make([]reading, len(errs))
	for i, s := range fleet.Stats().Servers {
		if errs[i] == nil {
			readings[i] = found[s.Server]
		}
	}
	return readings, errs
}

// Read reads sequences on every server that is up, sorted by name; without names
// all of them, also deleted ones. A sequence that no server has is left out. The
// errors are in the order of the fleet's configuration: nil for a server that
// answered, else a *ticket.ServerError, or ctx's own. It waits for the network
// and ends with ctx.
func Read(ctx context.Context, fleet *ticket.Fleet, names ...string) ([]Sequence, []error) {
	readings, errs := readAll(ctx, fleet, names)
	found := map[string]bool{}
	for _, r := range readings {
		for name := range r.rows {
			found[name] = true
		}
	}
	all := make([]Sequence, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, assemble(name, readings))
	}
	return all, errs
}

// assemble makes a sequence of the servers' readings.
func assemble(name string, readings []reading) Sequence {
	s := Sequence{Name: name}
	for _, r := range readings {
		if r.ok {
			on := r.on
			on.Row = r.rows[name]
			s.Servers = append(s.Servers, on)
		}
	}
	s.examine()
	return s
}

// put carries out one change. It reports false, and has done nothing, if the
// server's generation or the state of the row is not the one that was planned from.
func put(ctx context.Context, c *ticket.Conn, name string, from, to *Row) (bool, error) {
	if c.Gen() != to.Gen {
		return false, nil
	}
	key := []byte(name)
	var birth, base, ceiling any
	deleted := false
	if from != nil {
		birth, base, ceiling, deleted = from.Birth, from.Base, from.Ceiling, from.Deleted
	}
	var tombstone any
	if to.Deleted {
		tombstone = to.DeletedAt
	}
	_, matched, err := c.Exec(ctx, queryPut, key, to.Rounds, to.Base, to.Birth, to.Ceiling, to.Description, to.Rounds, to.Rounds,
		to.CreatedAt, tombstone, key, to.Gen, c.ID(), birth, base, ceiling, deleted)
	if err != nil {
		return false, fmt.Errorf("write sequence: %w", err)
	}
	if matched > 0 {
		return true, nil
	}
	var gen int64
	if err := c.Get(ctx, &gen, queryGen); err != nil {
		return false, fmt.Errorf("read server row: %w", err)
	}
	if gen != c.Gen() {
		return false, c.Changed()
	}
	return false, nil
}
