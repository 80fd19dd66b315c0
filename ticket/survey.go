package ticket

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/schema"
)

const (
	queryConnID   = "SELECT CONNECTION_ID()"
	queryReadOnly = "SELECT @@GLOBAL.read_only"
	// A consistent read; 0 for an empty table.
	queryMaxTicket = "SELECT COALESCE(MAX(`id`), 0) FROM `tickets`"
	// The live counter; what information_schema says is cached and lags.
	queryShowTickets = "SHOW CREATE TABLE `tickets`"
	queryRecords     = "SELECT `identity`, `server_offset`, `gen`, `server_uuid`, `started_at`, `retired_at` IS NOT NULL AS retired FROM `peers`"
)

// survey is what one server says of itself and of its peers.
type survey struct {
	version     int64
	row         schema.Server
	incarnation schema.Incarnation
	readOnly    bool
	records     []record
	top         int64 // largest ticket that it may have issued
}

// take reads the survey of the server behind the connection.
func take(ctx context.Context, c *Conn) (*survey, error) {
	s := &survey{}
	var err error
	if s.version, err = schema.ReadVersion(ctx, c.conn); err != nil {
		return nil, err
	}
	if s.row, err = schema.ReadServer(ctx, c.conn); err != nil {
		return nil, err
	}
	if err = checkRow(s.row, s.version); err != nil {
		return nil, err
	}
	if s.incarnation, err = schema.ReadIncarnation(ctx, c.conn); err != nil {
		return nil, err
	}
	if err = c.Get(ctx, &s.readOnly, queryReadOnly); err != nil {
		return nil, fmt.Errorf("read read_only: %w", err)
	}
	if err = c.Select(ctx, &s.records, queryRecords); err != nil {
		return nil, fmt.Errorf("read peers' records: %w", err)
	}
	if _, s.top, err = readTickets(ctx, c.conn); err != nil {
		return nil, err
	}
	return s, nil
}

// readTickets returns the highest ID that is committed, and the larger of it and
// the last one that the counter has passed: the largest that may be issued. A
// statement that is rolled back leaves the counter where it was moved to.
func readTickets(ctx context.Context, q sqlx.QueryerContext) (highest, top int64, err error) {
	if err := sqlx.GetContext(ctx, q, &highest, queryMaxTicket); err != nil {
		return 0, 0, fmt.Errorf("read highest ticket: %w", err)
	}
	var table, definition string
	if err := q.QueryRowxContext(ctx, queryShowTickets).Scan(&table, &definition); err != nil {
		return 0, 0, fmt.Errorf("read ticket counter: %w", err)
	}
	passed, err := schema.Passed(definition)
	if err != nil {
		return 0, 0, fmt.Errorf("read ticket counter: %w", err)
	}
	return highest, max(highest, passed), nil
}

// about returns the newest record of a server among what its peers say; it
// says retired if any of them does.
func about(identity schema.Identity, peers []*survey) (record, bool) {
	var newest record
	found, retired := false, false
	for _, p := range peers {
		for _, r := range p.records {
			if r.Identity != identity {
				continue
			}
			retired = retired || r.Retired
			if !found || r.newer(newest) {
				newest, found = r, true
			}
		}
	}
	newest.Retired = retired
	return newest, found
}
