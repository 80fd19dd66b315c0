// Package names reads what a shell offers while somebody types: the names of
// sequences, and the worker numbers that somebody has. It opens no fleet: like
// every client, a fleet fences a server that was restarted, and whoever presses a
// key has not asked for that. So nothing is compared or checked, and what it
// returns is for people only.
package names

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// They lock nothing, and an application's account may run them.
const (
	querySequences = "SELECT `name`, `description` FROM `sequences` WHERE `deleted_at` IS NULL"
	// A number is free from the tick on at which its last rectangle ended.
	queryWorkers = "SELECT `w`.`number`, `w`.`host`, `w`.`process`, `w`.`until_tick` <= `w`.`parked_until` AS `parked` FROM `workers` AS `w`, `server` AS `s` " +
		"WHERE `s`.`id` = 1 AND `w`.`until_tick` > GREATEST(UNIX_TIMESTAMP() * 1000 - `s`.`epoch_ms`, 0) DIV `s`.`tick_ms`"
)

// Sequence is a sequence that some server has and that is not deleted there.
type Sequence struct {
	Name        string `db:"name"`
	Description string `db:"description"`
}

// Sequences reads the sequences of all servers, sorted by name. What one server
// says is returned beside the error of another one, a *ticket.ServerError. It
// waits for the network and ends with ctx.
func Sequences(ctx context.Context, servers []*mysql.Config) ([]Sequence, error) {
	all, err := ask[Sequence](ctx, servers, querySequences)
	return once(all, func(a, b Sequence) int { return cmp.Compare(a.Name, b.Name) }), err
}

// Workers reads the worker numbers that are leased or parked, in order. Number,
// State, Host and Process of a lease are set. The rest is as for Sequences.
func Workers(ctx context.Context, servers []*mysql.Config) ([]snowflake.Lease, error) {
	rows, err := ask[worker](ctx, servers, queryWorkers)
	rows = once(rows, func(a, b worker) int { return cmp.Compare(a.Number, b.Number) })
	leases := make([]snowflake.Lease, len(rows))
	for i, r := range rows {
		leases[i] = snowflake.Lease{Number: r.Number, State: snowflake.LeaseHeld, Host: r.Host, Process: r.Process}
		if r.Parked {
			leases[i].State = snowflake.LeaseParked
		}
	}
	return leases, err
}

// worker is what queryWorkers reads.
type worker struct {
	Number  int64  `db:"number"`
	Host    string `db:"host"`
	Process string `db:"process"`
	Parked  bool   `db:"parked"`
}

// once sorts rows and keeps the first of those that are equal.
func once[T any](rows []T, compare func(a, b T) int) []T {
	slices.SortStableFunc(rows, compare)
	return slices.CompactFunc(rows, func(a, b T) bool { return compare(a, b) == 0 })
}

// ask asks all servers side by side.
func ask[T any](ctx context.Context, servers []*mysql.Config, query string) ([]T, error) {
	found, errs := make([][]T, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			var err error
			if found[i], err = askOne[T](ctx, server, query); err != nil {
				errs[i] = ticket.NewServerError(dsn.Label(server), err)
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...), errors.Join(errs...)
}

// askOne asks one server, over a connection of its own.
func askOne[T any](ctx context.Context, server *mysql.Config, query string) (rows []T, err error) {
	cfg, err := dsn.Prepare(server)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sqlx.NewDb(sql.OpenDB(connector), "mysql")
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.SelectContext(ctx, &rows, query)
	return rows, err
}
