package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
)

// route says how a connection gets to the server.
func route(ctx context.Context, cfg *mysql.Config) (socket, loopback bool) {
	if cfg.Net == "unix" {
		return true, true
	}
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		host = cfg.Addr
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, a := range addrs {
		if !a.Unmap().IsLoopback() {
			return false, false
		}
	}
	return false, err == nil
}

// read fills in the facts. An error is one of the connection; then the server
// counts as unreachable. What the server refuses is noted in the facts.
func read(ctx context.Context, cfg *mysql.Config, f *facts) (err error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("prepare connection: %w", err)
	}
	db := sqlx.NewDb(sql.OpenDB(connector), "mysql")
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }() // nothing was written that could be lost
	conn, err := db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	r := reader{conn: conn}
	for _, part := range []func(context.Context, *facts) error{
		r.readServer, r.readClock, r.readPrivileges, r.readRow, r.setSession, r.readTables, r.readSequences, r.readWorkers, r.readGroup, r.readSession,
	} {
		if err := part(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// reader reads facts over one connection.
type reader struct {
	conn *sqlx.Conn
	id   int64 // CONNECTION_ID() at the beginning
}

// refused keeps an error that is the server's answer, in *note, and passes on
// one that says that there was no answer.
func refused(err error, note *error) error {
	if err != nil && mysqlerr.Number(err) == 0 && !errors.Is(err, schema.ErrNoSchema) && !errors.Is(err, schema.ErrNotInitialized) {
		return err
	}
	*note = err
	return nil
}

// pairs reads the result of a SHOW statement, names in lower case.
func (r *reader) pairs(ctx context.Context, query string) (map[string]string, error) {
	var rows []struct {
		Name  string `db:"Variable_name"`
		Value string `db:"Value"`
	}
	if err := r.conn.SelectContext(ctx, &rows, query); err != nil {
		return nil, err
	}
	values := make(map[string]string, len(rows))
	for _, row := range rows {
		values[strings.ToLower(row.Name)] = row.Value
	}
	return values, nil
}

func (r *reader) readServer(ctx context.Context, f *facts) (err error) {
	var version struct {
		Version string `db:"version"`
		Comment string `db:"comment"`
	}
	if err = r.conn.GetContext(ctx, &version, queryVersion); err != nil {
		return fmt.Errorf("read version: %w", err)
	}
	f.version, f.comment = version.Version, version.Comment
	if f.variables, err = r.pairs(ctx, queryVariables); err != nil {
		return fmt.Errorf("read variables: %w", err)
	}
	if f.status, err = r.pairs(ctx, queryStatus); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	cipher, err := r.pairs(ctx, queryCipher)
	if err != nil {
		return fmt.Errorf("read cipher: %w", err)
	}
	f.cipher = cipher["ssl_cipher"]
	return nil
}

// readClock compares the clocks; the answer was made between sending and receiving.
func (r *reader) readClock(ctx context.Context, f *facts) error {
	var server time.Time
	before := time.Now()
	if err := r.conn.GetContext(ctx, &server, queryClock); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	slack := time.Since(before) / 2
	f.clock = clock{ahead: server.Sub(before.Add(slack)), slack: slack}
	return nil
}
