package recipes

import (
	"context"
	"database/sql"
	"fmt"
)

// https://code.flickr.net/2010/02/08/ticket-servers-distributed-unique-primary-keys-on-the-cheap/
const (
	queryFlickrTable = "CREATE TABLE `%s` (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, stub CHAR(1) NOT NULL DEFAULT '', " +
		"PRIMARY KEY (id), UNIQUE KEY stub (stub)) ENGINE=%s"
	queryFlickrReplace = "REPLACE INTO `%s` (stub) VALUES ('a')"
	queryFlickrLast    = "SELECT LAST_INSERT_ID()"
)

// Flickr is the recipe of the ticket servers: one stub row, two statements.
type Flickr struct {
	db      *sql.DB
	replace string
}

// FlickrTable makes the recipe's table with an engine.
func FlickrTable(ctx context.Context, root *sql.DB, engine string) error {
	_, err := root.ExecContext(ctx, fmt.Sprintf(queryFlickrTable, flickrName(engine), engine))
	return err
}

// NewFlickr draws from the table of an engine.
func NewFlickr(db *sql.DB, engine string) *Flickr {
	return &Flickr{db: db, replace: fmt.Sprintf(queryFlickrReplace, flickrName(engine))}
}

func flickrName(engine string) string { return "Tickets64_" + engine }

// Next draws one ticket, again after a deadlock.
func (f *Flickr) Next(ctx context.Context) (int64, error) { return untilDone(ctx, f.try) }

func (f *Flickr) try(ctx context.Context) (id int64, err error) {
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // only gives it back
	if _, err := conn.ExecContext(ctx, f.replace); err != nil {
		return 0, err
	}
	return id, conn.QueryRowContext(ctx, queryFlickrLast).Scan(&id)
}
