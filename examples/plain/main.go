// The command plain uses IDs as primary keys with database/sql alone: an ID is a
// BIGINT in SQL, and a string in JSON, where JavaScript would round a number.
//
//	ODDEVEN_SERVERS='app:…@tcp(db1:3306)/oddeven app:…@tcp(db2:3306)/oddeven' \
//	DATABASE='app:…@tcp(db3:3306)/shop' go run ./examples/plain
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	_ "github.com/go-sql-driver/mysql" // the driver of the database

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
)

const (
	createOrders = "CREATE TABLE IF NOT EXISTS orders (id BIGINT NOT NULL PRIMARY KEY, item VARCHAR(100) NOT NULL)"
	insertOrder  = "INSERT INTO orders (id, item) VALUES (?, ?)"
	selectOrder  = "SELECT id, item FROM orders WHERE id = ?"
)

type order struct {
	ID   oddeven.ID `json:"id"`
	Item string     `json:"item"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, strings.Fields(os.Getenv("ODDEVEN_SERVERS")), os.Getenv("DATABASE"), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run stores an order and reads it again.
func run(ctx context.Context, servers []string, dsn string, out io.Writer) (err error) {
	client, err := oddeven.Open(ctx, oddeven.Config{DSNs: servers, Segment: segment.Config{Create: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	orders, err := client.Sequence(ctx, "orders")
	if err != nil {
		return err
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return errors.New("DATABASE is no DSN") // err may quote the password
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, createOrders); err != nil {
		return err
	}

	id, err := orders.Next(ctx)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, insertOrder, id, "a lamp"); err != nil {
		return err
	}
	var o order
	if err := db.QueryRowContext(ctx, selectOrder, id).Scan(&o.ID, &o.Item); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(o)
}
