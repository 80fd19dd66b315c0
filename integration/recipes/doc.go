// Package recipes has the SQL that other products publish, in Go that draws from
// it: what the ratios and the benchmarks hold ours against. Each type says where
// its statements come from. All methods are safe for concurrent use.
package recipes

import (
	"context"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/mysqlerr"
)

// changed is what MariaDB answers, from 11.6.2 on, to an UPDATE of a row that has
// changed since the transaction read it (innodb_snapshot_isolation).
const changed = 1020

// untilDone repeats a draw that others got in the way of. Deadlocks and conflicts
// are part of a recipe's life, and its users repeat the draw.
func untilDone(ctx context.Context, try func(context.Context) (int64, error)) (int64, error) {
	for {
		v, err := try(ctx)
		if err == nil || ctx.Err() != nil || !inTheWay(err) {
			return v, err
		}
	}
}

func inTheWay(err error) bool {
	fromServer, ok := errors.AsType[*mysql.MySQLError](err)
	return errors.Is(err, errConflict) || mysqlerr.IsRetryable(err) || ok && fromServer.Number == changed
}
