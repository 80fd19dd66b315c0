package schema

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/mysqlerr"
)

// Identity is the random identity of a server or a fleet.
type Identity [16]byte

// String is the identity in hexadecimal.
func (i Identity) String() string { return hex.EncodeToString(i[:]) }

// Scan reads a BINARY(16) column.
func (i *Identity) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != len(i) {
		return fmt.Errorf("scan identity: want 16 bytes, have %T", src)
	}
	copy(i[:], b)
	return nil
}

// Server is the server's row.
type Server struct {
	Fleet           Identity     `db:"fleet"`
	Identity        Identity     `db:"identity"`
	Offset          int64        `db:"server_offset"`
	Increment       int64        `db:"increment"`
	ShardBits       int          `db:"shard_bits"`
	Layout          string       `db:"layout"`
	TickMS          int64        `db:"tick_ms"`
	EpochMS         int64        `db:"epoch_ms"`
	LongestLeaseMS  int64        `db:"longest_lease_ms"`
	SingleWriter    bool         `db:"single_writer"`
	MinClient       int          `db:"min_client"`
	Gen             int64        `db:"gen"`
	ServerUUID      string       `db:"server_uuid"`
	StartedAt       int64        `db:"started_at"`
	FencedAt        sql.NullTime `db:"fenced_at"`
	FenceReason     string       `db:"fence_reason"`
	FencedBy        string       `db:"fenced_by"`
	TicketBase      int64        `db:"ticket_base"`
	TicketBirth     int64        `db:"ticket_birth"`
	TicketCeiling   int64        `db:"ticket_ceiling"`
	TicketHour      int64        `db:"ticket_hour"`
	TicketHourRound int64        `db:"ticket_hour_round"`
	TicketPeak      int64        `db:"ticket_peak"`
}

// Class is the residue class that the server owns.
func (s Server) Class() Class { return Class{Offset: s.Offset, Increment: s.Increment} }

// LongestLease is the longest lease of a worker number.
func (s Server) LongestLease() time.Duration {
	return time.Duration(s.LongestLeaseMS) * time.Millisecond
}

// Tick is the first tick that begins at or after a Unix time in milliseconds,
// in the layout of the fleet.
func (s Server) Tick(unixMilli int64) int64 {
	since := unixMilli - s.EpochMS
	if since <= 0 || s.TickMS <= 0 {
		return 0
	}
	return (since + s.TickMS - 1) / s.TickMS
}

// TicketLine is the clock line of the tickets.
func (s Server) TicketLine() ClockLine {
	return ClockLine{Base: s.TicketBase, Birth: s.TicketBirth, Last: s.Class().LastRound(s.TicketCeiling)}
}

// RaiseGen are the statements that give a server a new generation and change
// nothing else, so that whoever uses it is thrown out and looks at its records
// again; the arguments of each are the new generation and the old one. They run
// in one transaction that has locked the server's row. A row of another
// generation than its server was put there by hand, or is held back, and stays
// as useless as it is.
func RaiseGen() []string {
	return []string{
		"UPDATE `sequences` SET `gen` = ? WHERE `gen` = ?",
		"UPDATE `workers` SET `gen` = ? WHERE `gen` = ?",
		"UPDATE `server` SET `gen` = ? WHERE `gen` = ?",
	}
}

// Incarnation tells one start of one server process from every other.
type Incarnation struct {
	ServerUUID string `db:"server_uuid"`
	StartedAt  int64  `db:"started_at"` // Unix seconds of the server's clock
	Now        int64  `db:"now"`        // the server's time at the reading, Unix seconds
}

// Reasons why the server's row cannot be had.
var (
	// ErrNoSchema is returned when the tables are not there.
	ErrNoSchema = errors.New("has no oddeven schema")
	// ErrNotInitialized is returned when the tables are there but the row is not:
	// `migrate up` was interrupted, or still waits for another server.
	ErrNotInitialized = errors.New("has the oddeven tables but belongs to no fleet yet")
)

const queryServer = "SELECT `fleet`, `identity`, `server_offset`, `increment`, `shard_bits`, `layout`, `tick_ms`, `epoch_ms`, " +
	"`longest_lease_ms`, `single_writer`, `min_client`, `gen`, `server_uuid`, `started_at`, `fenced_at`, " +
	"`fence_reason`, `fenced_by`, `ticket_base`, `ticket_birth`, `ticket_ceiling`, `ticket_hour`, " +
	"`ticket_hour_round`, `ticket_peak` FROM `server` WHERE `id` = 1"

// ReadServer reads the server's row. It returns ErrNoSchema or
// ErrNotInitialized when there is none.
func ReadServer(ctx context.Context, q sqlx.QueryerContext) (Server, error) {
	var s Server
	err := sqlx.GetContext(ctx, q, &s, queryServer)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Server{}, ErrNotInitialized
	case mysqlerr.IsNoSuchTable(err):
		return Server{}, ErrNoSchema
	case err != nil:
		return Server{}, fmt.Errorf("read server row: %w", err)
	}
	return s, nil
}

// The start must come from one statement, or the two readings drift apart by a
// second. Both tables are readable by every account.
const (
	queryFlavor             = "SELECT VERSION() LIKE '%MariaDB%'"
	queryIncarnationMySQL   = "SELECT @@GLOBAL.server_uuid AS server_uuid, UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS SIGNED) AS started_at, UNIX_TIMESTAMP() AS now FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'"
	queryIncarnationMariaDB = "SELECT @@GLOBAL.server_uid AS server_uuid, UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS SIGNED) AS started_at, UNIX_TIMESTAMP() AS now FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'"
)

// ReadIncarnation reads identity and exact start of the server process.
func ReadIncarnation(ctx context.Context, q sqlx.QueryerContext) (Incarnation, error) {
	var inc Incarnation
	var maria bool
	if err := sqlx.GetContext(ctx, q, &maria, queryFlavor); err != nil {
		return inc, fmt.Errorf("read server version: %w", err)
	}
	query := queryIncarnationMySQL
	if maria {
		query = queryIncarnationMariaDB
	}
	if err := sqlx.GetContext(ctx, q, &inc, query); err != nil {
		return inc, fmt.Errorf("read incarnation: %w", err)
	}
	return inc, nil
}

const queryVersion = "SELECT COALESCE(MAX(version_id), 0) FROM `" + VersionTable + "` WHERE is_applied"

// ReadVersion returns the newest migration applied, 0 if there is none.
func ReadVersion(ctx context.Context, q sqlx.QueryerContext) (int64, error) {
	var v int64
	err := sqlx.GetContext(ctx, q, &v, queryVersion)
	if mysqlerr.IsNoSuchTable(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return v, nil
}
