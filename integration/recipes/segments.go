package recipes

import (
	"context"
	"database/sql"
	"errors"
)

// Name is the sequence that the recipes for segments reserve from.
const Name = "orders"

// errConflict is returned by an attempt that another one was faster than.
var errConflict = errors.New("recipes: another caller was faster")

// The table and the transaction of Leaf's segment mode, which reads back in a
// second statement what the first one has reserved:
// https://tech.meituan.com/2017/04/21/mt-leaf.html
const (
	queryLeafTable = "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) NOT NULL, max_id BIGINT NOT NULL, step INT NOT NULL, " +
		"description VARCHAR(256), update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, " +
		"PRIMARY KEY (biz_tag)) ENGINE=InnoDB"
	queryLeafTag    = "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, 1, ?)"
	queryLeafUpdate = "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?"
	queryLeafSelect = "SELECT biz_tag, max_id, step FROM leaf_alloc WHERE biz_tag = ?"
)

// The table and the transaction of CosId's JDBC distributor, where the client
// says the step:
// https://github.com/Ahoo-Wang/CosId/blob/main/cosid-jdbc/src/main/java/me/ahoo/cosid/jdbc/JdbcIdSegmentDistributor.java
const (
	queryCosIDTable = "CREATE TABLE cosid (name VARCHAR(100) NOT NULL, last_max_id BIGINT UNSIGNED NOT NULL DEFAULT 0, " +
		"last_fetch_time BIGINT UNSIGNED NOT NULL DEFAULT 0, CONSTRAINT cosid_pk PRIMARY KEY (name)) ENGINE=InnoDB"
	queryCosIDName   = "INSERT INTO cosid (name, last_max_id, last_fetch_time) VALUES (?, 0, UNIX_TIMESTAMP())"
	queryCosIDUpdate = "UPDATE cosid SET last_max_id = (last_max_id + ?), last_fetch_time = UNIX_TIMESTAMP() WHERE name = ?"
	queryCosIDSelect = "SELECT last_max_id FROM cosid WHERE name = ?"
)

// The table and the transaction of tinyid, which compares a version instead of
// locking first:
// https://github.com/didi/tinyid/blob/master/tinyid-server/src/main/java/com/xiaoju/uemc/tinyid/server/dao/impl/TinyIdInfoDAOImpl.java
const (
	queryTinyidTable = "CREATE TABLE tiny_id_info (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, biz_type VARCHAR(63) NOT NULL DEFAULT '', " +
		"begin_id BIGINT NOT NULL DEFAULT 0, max_id BIGINT NOT NULL DEFAULT 0, step INT DEFAULT 0, delta INT NOT NULL DEFAULT 1, " +
		"remainder INT NOT NULL DEFAULT 0, create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', " +
		"update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', version BIGINT NOT NULL DEFAULT 0, " +
		"PRIMARY KEY (id), UNIQUE KEY uniq_biz_type (biz_type)) ENGINE=InnoDB"
	queryTinyidType   = "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step) VALUES (?, 1, 1, ?)"
	queryTinyidSelect = "SELECT id, biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version FROM tiny_id_info WHERE biz_type = ?"
	queryTinyidUpdate = "UPDATE tiny_id_info SET max_id = ?, update_time = NOW(), version = version + 1 WHERE id = ? AND max_id = ? AND version = ? AND biz_type = ?"
)

// SegmentTables makes the tables of Leaf, CosId and tinyid, each with a row for
// segments of step IDs.
func SegmentTables(ctx context.Context, root *sql.DB, step int64) error {
	for _, s := range []struct {
		query string
		args  []any
	}{
		{queryLeafTable, nil}, {queryLeafTag, []any{Name, step}},
		{queryCosIDTable, nil}, {queryCosIDName, []any{Name}},
		{queryTinyidTable, nil}, {queryTinyidType, []any{Name, step}},
	} {
		if _, err := root.ExecContext(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// A Beginner is a pool or a connection.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// A Segments reserves segments as one of the products does.
type Segments struct {
	db      Beginner
	reserve func(context.Context, *sql.Tx) (first int64, err error)
}

// NewLeaf reserves as Leaf does.
func NewLeaf(db Beginner) *Segments { return &Segments{db, leaf} }

// NewCosID reserves as CosId does.
func NewCosID(db Beginner, step int64) *Segments {
	return &Segments{db, func(ctx context.Context, tx *sql.Tx) (int64, error) { return cosID(ctx, tx, step) }}
}

// NewTinyid reserves as tinyid does. A conflict is tried again in a new
// transaction: within the old one REPEATABLE READ would show the old version.
func NewTinyid(db Beginner) *Segments { return &Segments{db, tinyid} }

// Next reserves one segment and returns its first ID, again after a conflict.
func (s *Segments) Next(ctx context.Context) (int64, error) { return untilDone(ctx, s.try) }

func (s *Segments) try(ctx context.Context) (int64, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // of no interest, and after Commit without effect
	first, err := s.reserve(ctx, tx)
	if err != nil {
		return 0, err
	}
	return first, tx.Commit()
}

func leaf(ctx context.Context, tx *sql.Tx) (int64, error) {
	if _, err := tx.ExecContext(ctx, queryLeafUpdate, Name); err != nil {
		return 0, err
	}
	var tag string
	var last, step int64
	err := tx.QueryRowContext(ctx, queryLeafSelect, Name).Scan(&tag, &last, &step)
	return last - step, err
}

func cosID(ctx context.Context, tx *sql.Tx, step int64) (int64, error) {
	if _, err := tx.ExecContext(ctx, queryCosIDUpdate, step, Name); err != nil {
		return 0, err
	}
	var last int64
	err := tx.QueryRowContext(ctx, queryCosIDSelect, Name).Scan(&last)
	return last - step + 1, err
}

func tinyid(ctx context.Context, tx *sql.Tx) (int64, error) {
	var row struct {
		id, begin, last, step, delta, remainder, version int64
		name, created, updated                           string
	}
	err := tx.QueryRowContext(ctx, queryTinyidSelect, Name).Scan(&row.id, &row.name, &row.begin, &row.last, &row.step,
		&row.delta, &row.remainder, &row.created, &row.updated, &row.version)
	if err != nil {
		return 0, err
	}
	result, err := tx.ExecContext(ctx, queryTinyidUpdate, row.last+row.step, row.id, row.last, row.version, row.name)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	if err == nil && n != 1 {
		err = errConflict
	}
	return row.last + 1, err
}
