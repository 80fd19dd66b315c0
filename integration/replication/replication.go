// Package replication makes one server follow another by real row-based
// replication, as root of both. Both need a binary log and a server_id of their
// own. The functions are safe for concurrent use, with other servers.
package replication

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/localserver"
)

// user is the account of replicas on their source. Each that begins to follow
// gives it a new password; connections that are there already stay.
const user = "replica"

// statements are what a flavor calls things.
type statements struct{ position, follow, start, await, stop, forget string }

var (
	mysql = statements{
		position: "SHOW BINARY LOG STATUS",
		follow: "CHANGE REPLICATION SOURCE TO SOURCE_HOST='%s', SOURCE_PORT=%s, SOURCE_USER='%s', SOURCE_PASSWORD='%s', " +
			"SOURCE_LOG_FILE='%s', SOURCE_LOG_POS=%d, GET_SOURCE_PUBLIC_KEY=1",
		start: "START REPLICA", await: "SELECT SOURCE_POS_WAIT(?, ?, ?)", stop: "STOP REPLICA", forget: "RESET REPLICA ALL",
	}
	mariaDB = statements{
		position: "SHOW MASTER STATUS",
		follow: "CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%s, MASTER_USER='%s', MASTER_PASSWORD='%s', " +
			"MASTER_LOG_FILE='%s', MASTER_LOG_POS=%d",
		start: "START SLAVE", await: "SELECT MASTER_POS_WAIT(?, ?, ?)", stop: "STOP SLAVE", forget: "RESET SLAVE ALL",
	}
)

func statementsOf(flavor localserver.Flavor) statements {
	if flavor == localserver.MariaDB {
		return mariaDB
	}
	return mysql
}

// Position is a place in a binary log.
type Position struct {
	File string
	At   int64
}

// Querier is a connection or a pool.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Next is the position at which a server writes next.
func Next(ctx context.Context, server Querier, flavor localserver.Flavor) (p Position, err error) {
	query := statementsOf(flavor).position
	rows, err := server.QueryContext(ctx, query)
	if err != nil {
		return p, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return p, fmt.Errorf("%s: %w", query, err)
	}
	if !rows.Next() {
		return p, errors.Join(fmt.Errorf("%s shows nothing", query), rows.Err())
	}
	values := make([]any, len(columns)) // file, position, and more that is of no interest
	values[0], values[1] = &p.File, &p.At
	for i := 2; i < len(values); i++ {
		values[i] = new(any)
	}
	if err := rows.Scan(values...); err != nil {
		return p, fmt.Errorf("%s: %w", query, err)
	}
	return p, rows.Err()
}

// Source is a server that another follows.
type Source struct {
	DB     *sql.DB
	Addr   string // host:port, for replicas
	Flavor localserver.Flavor
}

// Follow makes replica follow from a position on. The zero Position means from
// now on. Errors don't show statements: they hold a password.
func (s Source) Follow(ctx context.Context, replica *sql.DB, from Position) error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("address of the source: %w", err)
	}
	password := testfleet.ShortPassword()
	for _, statement := range []string{
		fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", user, password),
		fmt.Sprintf("ALTER USER '%s'@'%%' IDENTIFIED BY '%s'", user, password),
		fmt.Sprintf("GRANT REPLICATION SLAVE ON *.* TO '%s'@'%%'", user),
	} {
		if _, err := s.DB.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make account for replication: %w", err)
		}
	}
	if from == (Position{}) {
		if from, err = Next(ctx, s.DB, s.Flavor); err != nil {
			return err
		}
	}
	of := statementsOf(s.Flavor)
	follow := fmt.Sprintf(of.follow, host, port, user, password, from.File, from.At)
	for _, statement := range []string{follow, of.start} {
		if _, err := replica.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("start replication: %w", err)
		}
	}
	return nil
}

// Await waits until replica has all that its source had written before a position.
func Await(ctx context.Context, replica *sql.DB, flavor localserver.Flavor, to Position, within time.Duration) error {
	var events sql.NullInt64 // NULL if replication does not run, -1 if it takes too long
	query := statementsOf(flavor).await
	if err := replica.QueryRowContext(ctx, query, to.File, to.At, int(within/time.Second)).Scan(&events); err != nil {
		return fmt.Errorf("wait for the replica: %w", err)
	}
	if !events.Valid || events.Int64 < 0 {
		return fmt.Errorf("the replica did not reach %s:%d", to.File, to.At)
	}
	return nil
}

// Stop makes replica stand still. It goes on at its next start.
func Stop(ctx context.Context, replica *sql.DB, flavor localserver.Flavor) error {
	if _, err := replica.ExecContext(ctx, statementsOf(flavor).stop); err != nil {
		return fmt.Errorf("stop replication: %w", err)
	}
	return nil
}

// End makes replica stand still for good: it forgets its source.
func End(ctx context.Context, replica *sql.DB, flavor localserver.Flavor) error {
	if err := Stop(ctx, replica, flavor); err != nil {
		return err
	}
	if _, err := replica.ExecContext(ctx, statementsOf(flavor).forget); err != nil {
		return fmt.Errorf("end replication: %w", err)
	}
	return nil
}
