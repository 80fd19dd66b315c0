package doctor

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

func (r *reader) readRow(ctx context.Context, f *facts) error {
	version, err := schema.ReadVersion(ctx, r.conn)
	if err != nil {
		return refused(err, &f.rowErr)
	}
	f.schema = version
	row, err := schema.ReadServer(ctx, r.conn)
	if err != nil {
		return refused(err, &f.rowErr)
	}
	f.row = &row
	return nil
}

// setSession does to the session what clients do; what follows happens between
// this and readSession.
func (r *reader) setSession(ctx context.Context, f *facts) error {
	f.session.want = increments{increment: 2, offset: 2}
	if f.row != nil {
		f.session.want = increments{increment: f.row.Increment, offset: f.row.Offset}
	}
	var now sessionRow
	if err := r.conn.GetContext(ctx, &now, querySession); err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	r.id = now.ID
	_, err := r.conn.ExecContext(ctx, querySetSession, f.session.want.increment, f.session.want.offset)
	if err == nil {
		_, err = r.conn.ExecContext(ctx, queryIsolation)
	}
	return refused(err, &f.session.err)
}

type sessionRow struct {
	ID         int64 `db:"id"`
	Increment  int64 `db:"increment"`
	Offset     int64 `db:"offset"`
	Autocommit bool  `db:"autocommit"`
}

func (r *reader) readSession(ctx context.Context, f *facts) error {
	var now sessionRow
	if err := r.conn.GetContext(ctx, &now, querySession); err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	f.session.have = increments{increment: now.Increment, offset: now.Offset}
	f.session.moved, f.session.autocommit = now.ID != r.id, now.Autocommit
	return nil
}

func (r *reader) readTables(ctx context.Context, f *facts) error {
	query, args, err := sqlx.In(queryTables, schema.Tables())
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	var found []table
	if err := r.conn.SelectContext(ctx, &found, query, args...); err != nil {
		return refused(err, &f.tablesErr)
	}
	f.tables = make(map[string]table, len(found))
	for _, t := range found {
		f.tables[t.Name] = t
	}
	return nil
}

func (r *reader) readPrivileges(ctx context.Context, f *facts) error {
	for _, query := range []string{queryLooseMode, queryLooseRead} {
		if _, err := r.conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("prepare to ask for privileges: %w", err)
		}
	}
	f.privileges.lacking = map[string][]string{}
	for _, w := range written {
		for _, a := range attempts {
			if err := r.attempt(ctx, &f.privileges, w.table, a.verb, fmt.Sprintf(a.query, w.table, w.column)); err != nil {
				return err
			}
		}
	}
	read := attempts[0]
	return r.attempt(ctx, &f.privileges, schema.VersionTable, read.verb, fmt.Sprintf(read.query, schema.VersionTable))
}

// attempt notes whether the account may do one thing with one table.
func (r *reader) attempt(ctx context.Context, p *privileges, table, verb, query string) error {
	_, err := r.conn.ExecContext(ctx, query) // the plan is read and thrown away
	if mysqlerr.IsMissingPrivilege(err) {
		p.lacking[table] = append(p.lacking[table], verb)
		return nil
	}
	var why error
	if err := refused(err, &why); err != nil {
		return fmt.Errorf("ask for privileges: %w", err)
	}
	if p.err == nil {
		p.err = why
	}
	return nil
}

func (r *reader) readSequences(ctx context.Context, f *facts) error {
	return refused(r.conn.SelectContext(ctx, &f.sequences, querySequences), &f.sequencesErr)
}

func (r *reader) readWorkers(ctx context.Context, f *facts) error {
	if f.row == nil || f.row.Increment < 1 {
		f.workersErr = f.rowErr
		return nil
	}
	layout, err := snowflake.ParseLayout(f.row.Layout)
	if err != nil {
		f.workersErr = err
		return nil
	}
	total, class := layout.MaxWorker()+1, f.row.Class()
	first := class.Offset % class.Increment
	f.workers.want = int64(len(class.Workers(total)))
	return refused(r.conn.GetContext(ctx, &f.workers, queryWorkers, class.Increment, first, total), &f.workersErr)
}

func (r *reader) readGroup(ctx context.Context, f *facts) error {
	if f.variable("group_replication_group_name") == "" {
		return nil
	}
	var members []struct {
		Self  bool   `db:"self"`
		State string `db:"state"`
	}
	if err := r.conn.SelectContext(ctx, &members, queryGroup); err != nil {
		return refused(err, &f.group.err)
	}
	for _, m := range members {
		if m.Self {
			f.group.state = m.State
		}
		if m.State != "OFFLINE" {
			f.group.size++
		}
	}
	return nil
}
