package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// Numbers are read as text: an unsigned one need not fit, and has to be named.
	queryLeaf            = "SELECT `biz_tag`, CAST(`max_id` AS CHAR) AS `max_id`, `description` FROM "
	queryLeafUndescribed = "SELECT `biz_tag`, CAST(`max_id` AS CHAR) AS `max_id`, NULL AS `description` FROM "
	// The data dictionary, which is not cached as the statistics of tables are.
	queryColumns = "SELECT `COLUMN_NAME` AS `name`, `DATA_TYPE` AS `type`, `COLUMN_TYPE` LIKE '%unsigned%' AS `unsigned`, " +
		"`EXTRA` LIKE '%auto_increment%' AS `counts` FROM `information_schema`.`COLUMNS` WHERE `TABLE_SCHEMA` = ? AND `TABLE_NAME` = ? ORDER BY `ORDINAL_POSITION`"
	// The counter as it is now; that of information_schema is cached by MySQL.
	queryShowCreate = "SHOW CREATE TABLE "
	// The same on every server of a fleet, which is checked when it is opened.
	queryShardBits = "SELECT `shard_bits` FROM `server` WHERE `id` = 1"
	// So that not even a mistake here can write to the tables of the application.
	queryReadOnly = "SET SESSION TRANSACTION READ ONLY"
	// Newer servers of MariaDB say OFF instead of 0.
	queryIsReadOnly = "SELECT CAST(@@GLOBAL.read_only AS CHAR) NOT IN ('0', 'OFF')"
)

// dialTimeout bounds a connection attempt when the DSN does not.
const dialTimeout = 10 * time.Second

// source is an open connection to a database with old tables.
type source struct {
	label    string // host:port/database
	database string
	readOnly bool // perhaps a replica, which may lag
	db       *sqlx.DB
	conn     *sqlx.Conn
}

// openSource connects.
func openSource(ctx context.Context, cfg *mysql.Config) (*source, error) {
	s := &source{label: dsn.Label(cfg), database: cfg.DBName}
	c := cfg.Clone()
	c.Params = maps.Clone(c.Params)
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	// Some modes take the counter, or the quotes, out of SHOW CREATE TABLE.
	c.Params["sql_mode"] = "''"
	c.InterpolateParams, c.ParseTime, c.MultiStatements, c.Logger = true, false, false, &mysql.NopLogger{}
	if c.Timeout == 0 {
		c.Timeout = dialTimeout
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, ticket.NewServerError(s.label, err)
	}
	s.db = sqlx.NewDb(sql.OpenDB(connector), "mysql")
	if s.conn, err = s.db.Connx(ctx); err == nil {
		_, err = s.conn.ExecContext(ctx, queryReadOnly)
	}
	if err == nil {
		err = s.conn.GetContext(ctx, &s.readOnly, queryIsReadOnly)
	}
	if err != nil {
		return nil, errors.Join(ticket.NewServerError(s.label, err), s.close())
	}
	return s, nil
}

func (s *source) close() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	return errors.Join(err, s.db.Close())
}

// locate names the database of a table.
func (s *source) locate(t table) table {
	if t.database == "" {
		t.database = s.database
	}
	return t
}

// leafRow is a row of Leaf's table.
type leafRow struct {
	Tag         []byte         `db:"biz_tag"`
	Max         sql.NullString `db:"max_id"`
	Description sql.NullString `db:"description"`
}

// leafRows reads the table, in one statement.
func (s *source) leafRows(ctx context.Context, t table, described bool) ([]leafRow, error) {
	query := queryLeafUndescribed
	if described {
		query = queryLeaf
	}
	var rows []leafRow
	if err := s.conn.SelectContext(ctx, &rows, query+t.quoted()); err != nil {
		return nil, fmt.Errorf("read %s: %w", t.name, err)
	}
	return rows, nil
}

// columnRow is a column of a table.
type columnRow struct {
	Name     string `db:"name"`
	Type     string `db:"type"`
	Unsigned bool   `db:"unsigned"`
	Counts   bool   `db:"counts"` // has the attribute AUTO_INCREMENT
}

// columns are those of a table; none if it is not there or hidden from the account.
func (s *source) columns(ctx context.Context, t table) ([]columnRow, error) {
	var columns []columnRow
	if err := s.conn.SelectContext(ctx, &columns, queryColumns, t.database, t.name); err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", t.name, err)
	}
	return columns, nil
}

// maximum is the largest value of a column, as the server writes it.
func (s *source) maximum(ctx context.Context, t table, column string) (sql.NullString, error) {
	var text sql.NullString
	if err := s.conn.GetContext(ctx, &text, "SELECT MAX("+quote(column)+") FROM "+t.quoted()); err != nil {
		return text, fmt.Errorf("read the largest value of %s.%s: %w", t.name, column, err)
	}
	return text, nil
}

// counter is the next value of the table's counter, 0 if none is shown.
func (s *source) counter(ctx context.Context, t table) (uint64, error) {
	var name, definition string
	if err := s.conn.QueryRowxContext(ctx, queryShowCreate+t.quoted()).Scan(&name, &definition); err != nil {
		return 0, fmt.Errorf("show table %s: %w", t.name, err)
	}
	return schema.Counter(definition)
}

// shardBits reads how many of the lowest bits of an ID name a shard.
func shardBits(ctx context.Context, fleet *ticket.Fleet) (bits int, err error) {
	err = fleet.Do(ctx, func(ctx context.Context, c *ticket.Conn) error { return c.Get(ctx, &bits, queryShardBits) })
	if err == nil && (bits < 0 || bits > schema.MaxShardBits) {
		err = fmt.Errorf("the fleet's row has %d shard bits; 0 to %d", bits, schema.MaxShardBits)
	}
	return bits, err
}
