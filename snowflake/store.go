package snowflake

// The statements of leases. Those that write name one row by its primary key
// and prove the generation of the server and the connection they were made for;
// 0 rows matched means that something is not as it was read. None reads or locks
// the whole table.
//
// Times are the server's, in UTC and milliseconds, whatever its time zone is. They are
// taken when a statement begins: a statement that had to wait for the row works
// with a time in the past, and finds the row as whoever was faster has left it.
const (
	sqlNow = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000"
	// sqlTick takes the epoch and the unit, both in milliseconds: the tick that
	// the server is in.
	sqlTick = "((" + sqlNow + " - ?) DIV ?)"
	// sqlTickNoted is sqlTick, and makes the time the insert ID of the statement.
	sqlTickNoted = "((LAST_INSERT_ID(" + sqlNow + ") - ?) DIV ?)"

	// The settings, the server's time, and when the first number is or was free:
	// one row and the first entry of the index workers_free.
	querySettings = "SELECT `fleet`, `layout`, `tick_ms`, `epoch_ms`, `longest_lease_ms`, " + sqlNow + " AS `now`, " +
		"(SELECT MIN(`until_tick`) FROM `workers`) AS `oldest` FROM `server` WHERE `id` = 1"
	// The next few numbers that are free, from a place in the index workers_free
	// on: without the hint MariaDB reads and sorts the table if most of it is free.
	// It locks nothing; the grant looks again.
	queryFree = "SELECT `number`, `gen`, `until_tick`, @@SESSION.autocommit AS `commits`, " + sqlNow + " AS `now` FROM `workers` FORCE INDEX (`workers_free`) " +
		"WHERE (`until_tick` = ? AND `number` >= ? OR `until_tick` > ?) AND `until_tick` <= ? ORDER BY `until_tick`, `number` LIMIT 32"
	// A number is free from the tick on at which its last rectangle ended. from_tick
	// is assigned first, because until_tick is not looked at after that.
	queryGrant = "UPDATE `workers` SET `from_tick` = " + sqlTickNoted + ", `until_tick` = " + sqlTick + " + ?, `holder` = ?, " +
		"`last_tick` = 0, `host` = ?, `process` = ?, `granted_at` = UTC_TIMESTAMP(6), `renewed_at` = NULL " +
		"WHERE `number` = ? AND `until_tick` <= " + sqlTick + " AND `gen` = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit"
	// A renewal never lowers what is there, a parked row's end included, and
	// counts only before the end that the holder knows of: a server that forgot
	// who came next still names a holder of long ago.
	queryRenew = "UPDATE `workers` SET `until_tick` = GREATEST(`until_tick`, CAST(" + sqlTickNoted + " + ? AS UNSIGNED)), " +
		"`last_tick` = GREATEST(`last_tick`, CAST(? AS UNSIGNED)), `renewed_at` = UTC_TIMESTAMP(6) " +
		"WHERE `number` = ? AND `holder` = ? AND " + sqlTick + " < ? AND `gen` = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit"
	// A parked row may belong to somebody whom the server forgot: the release of
	// one whom it still remembers changes nothing, and never frees a number before
	// it would have been free without it.
	queryRelease = "UPDATE `workers` SET `until_tick` = GREATEST(`from_tick`, `parked_until`, LEAST(`until_tick`, CAST(? AS UNSIGNED))), " +
		"`last_tick` = GREATEST(`last_tick`, CAST(? AS UNSIGNED)), `holder` = NULL " +
		"WHERE `number` = ? AND `holder` = ? AND `until_tick` > `parked_until` AND `gen` = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit"
	// The first entry of the index workers_free, and its row.
	queryNext = "SELECT `gen`, `holder`, `until_tick`, `parked_until`, " + sqlNow + " AS `now` FROM `workers` ORDER BY `until_tick`, `number` LIMIT 1"
	// For operators. The list reads all rows, and locks none.
	queryList = "SELECT `number`, `holder`, `until_tick`, `parked_until`, `last_tick`, `host`, `process`, `granted_at`, `renewed_at` FROM `workers`"
	// The lease must be as the operator has seen it: a holder that is alive renews it.
	queryForceRelease = "UPDATE `workers` SET `until_tick` = ?, `parked_until` = LEAST(`parked_until`, CAST(? AS UNSIGNED)), `holder` = NULL " +
		"WHERE `number` = ? AND `until_tick` = ? AND `holder` <=> ? AND `gen` = ? AND CONNECTION_ID() = ? AND @@SESSION.autocommit"
	// Whether a server has heard of something since its connection was verified.
	queryGen = "SELECT `gen` FROM `server` WHERE `id` = 1"
	// The row of one number.
	queryLease = "SELECT `gen`, `holder`, `until_tick`, `parked_until`, " + sqlNow + " AS `now` FROM `workers` WHERE `number` = ?"
)

// settingsRow is what querySettings reads.
type settingsRow struct {
	Fleet   []byte `db:"fleet"`
	Layout  string `db:"layout"`
	TickMS  int64  `db:"tick_ms"`
	EpochMS int64  `db:"epoch_ms"`
	Longest int64  `db:"longest_lease_ms"`
	Now     int64  `db:"now"`
	Oldest  *int64 `db:"oldest"`
}

// freeRow is what queryFree reads.
type freeRow struct {
	Number  int64 `db:"number"`
	Gen     int64 `db:"gen"`
	Until   int64 `db:"until_tick"`
	Commits bool  `db:"commits"` // whether the session commits by itself
	Now     int64 `db:"now"`
}

// leaseRow is what queryLease reads.
type leaseRow struct {
	Gen         int64  `db:"gen"`
	Holder      []byte `db:"holder"`
	Until       int64  `db:"until_tick"`
	ParkedUntil int64  `db:"parked_until"`
	Now         int64  `db:"now"`
}
