package ticket

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/oddeven/oddeven/internal/schema"
)

// What the servers remember of one another, and how it spreads.
//
// A second copy of a server that is alive besides the original is fenced and
// leaps. A client that uses the copy carries what it issues, as floors, to the
// other servers; one that still uses the original must not carry it back there,
// or both issue the same numbers. So a server that hears of a new incarnation of
// another one raises its own generation in the same transaction: whoever uses it
// is thrown out, reads its records before it goes on, and has the other server
// checked, which stays out if it is the original. `migrate up` never tells of a
// new incarnation, and raises the generation when it notes that a server is dead
// for good, so that a client that still uses that one hears of it. In every client,
//
//   - two servers are in use only after each has been told what the other knows,
//   - a floor is taken before it is looked up whether the server that it goes to
//     is up.

// record is what a server remembers of another one.
type record struct {
	Identity  schema.Identity `db:"identity"`
	Offset    int64           `db:"server_offset"`
	Gen       int64           `db:"gen"`
	UUID      string          `db:"server_uuid"`
	StartedAt int64           `db:"started_at"`
	Retired   bool            `db:"retired"`
}

// recordOf is what is to be remembered of a server.
func recordOf(row schema.Server) record {
	return record{Identity: row.Identity, Offset: row.Offset, Gen: row.Gen, UUID: row.ServerUUID, StartedAt: row.StartedAt}
}

// newer reports whether r says more than what is remembered so far.
func (r record) newer(than record) bool {
	return r.Gen > than.Gen || r.Gen == than.Gen && r.StartedAt > than.StartedAt
}

// sameIncarnation reports whether both mean the same start of the same server.
func (r record) sameIncarnation(as record) bool {
	return r.UUID == as.UUID && r.StartedAt == as.StartedAt
}

// newest gathers from surveys the newest that is known of every server.
func newest(all []*survey) map[schema.Identity]record {
	known := make(map[schema.Identity]record)
	learn := func(r record) {
		had, found := known[r.Identity]
		retired := r.Retired || had.Retired // whoever says so
		if found && !r.newer(had) {
			r = had
		}
		r.Retired = retired
		known[r.Identity] = r
	}
	for _, s := range all {
		learn(recordOf(s.row))
		for _, r := range s.records {
			learn(r)
		}
	}
	return known
}

// lacks lists what a server does not know of what is known of the others.
func (s *survey) lacks(known map[schema.Identity]record) []record {
	had := make(map[schema.Identity]record, len(s.records))
	for _, r := range s.records {
		had[r.Identity] = r
	}
	var news []record
	for id, r := range known {
		if mine, found := had[id]; id != s.row.Identity && (!found || r.newer(mine)) {
			news = append(news, r)
		}
	}
	return news
}

// tell writes what is known of every server, the one that is checked as it is
// now, into the records of all that are reachable. A peer that could not be told
// is taken out until its own check, which does the same. So is one of which this
// client has not seen what is known of it now. One of which more is known than it
// says itself is told nothing before its own check: it may be an old copy, and what
// it hears of raises its generation, until nobody would know it for one.
func (f *Fleet) tell(ctx context.Context, s *server, c *Conn, own *survey, peers []peer) error {
	known := newest(append(surveys(peers), own))
	var wg sync.WaitGroup
	for _, p := range peers {
		mine := recordOf(p.survey.row)
		news := p.survey.lacks(known)
		if len(news) == 0 || known[mine.Identity].newer(mine) {
			continue
		}
		wg.Go(func() {
			pc, err := p.server.dial(ctx, 0)
			raised := false
			if err == nil {
				raised, err = pc.remember(ctx, news)
				err = errors.Join(err, pc.close())
			}
			switch {
			case err != nil:
				s.log.Warn("peer not told", "server", s.label, "peer", p.server.label, "error", NewServerError(p.server.label, err))
				p.server.recheck("could not be told of " + s.label)
			case raised:
				p.server.recheck("was told of a new start of another server")
			}
		})
	}
	raised, err := c.remember(ctx, own.lacks(known))
	wg.Wait()
	if err != nil {
		return fmt.Errorf("record what is known of the others: %w", err)
	}
	f.compare(known, s)
	if raised {
		return errFencedMeanwhile // its generation has changed: look again
	}
	return nil
}

// compare has every other server checked again of which more is known than this
// client has seen: it was not reachable when that happened, or is another copy,
// or was declared dead.
func (f *Fleet) compare(known map[schema.Identity]record, except *server) {
	for _, s := range f.servers {
		if s == except {
			continue
		}
		s.mu.Lock()
		mine := recordOf(s.found)
		r, found := known[mine.Identity]
		used := found && s.state != StateDown
		s.mu.Unlock()
		switch {
		case used && r.Retired:
			s.recheck("a peer remembers that it was declared dead")
		case used && (r.Gen > mine.Gen || r.Gen == mine.Gen && !r.sameIncarnation(mine)):
			s.recheck(fmt.Sprintf("a peer remembers generation %d", r.Gen))
		}
	}
}

// remember writes records; they are never lowered. If one of them tells of
// another incarnation than was known, the server's own generation is raised, in
// all rows that carry it: see above. It reports whether that was done.
func (c *Conn) remember(ctx context.Context, news []record) (raised bool, err error) {
	if len(news) == 0 {
		return false, nil
	}
	if _, _, err := c.Exec(ctx, queryFencePatience); err != nil {
		return false, fmt.Errorf("set wait_timeout: %w", err)
	}
	if err := c.inTx(ctx, func(tx *txn) (err error) {
		raised, err = tx.remember(ctx, news)
		return err
	}); err != nil {
		return false, err
	}
	if _, _, err := c.Exec(ctx, queryNormalPatience); err != nil {
		return false, fmt.Errorf("restore wait_timeout: %w", err)
	}
	return raised, nil
}

// remember does so with the server's row locked, so that no statement of a
// client is in flight, and reads again what is known.
func (tx *txn) remember(ctx context.Context, news []record) (raised bool, err error) {
	var gen int64
	if err := tx.GetContext(ctx, &gen, queryLockServer); err != nil {
		return false, fmt.Errorf("lock server row: %w", err)
	}
	var records []record
	if err := tx.SelectContext(ctx, &records, queryRecords); err != nil {
		return false, fmt.Errorf("read peers' records: %w", err)
	}
	for _, r := range news {
		for _, had := range records {
			if had.Identity == r.Identity && r.newer(had) && !r.sameIncarnation(had) {
				raised = true
			}
		}
		if _, err := tx.ExecContext(ctx, queryRecord, r.Identity[:], r.Offset, r.Gen, r.UUID, r.StartedAt); err != nil {
			return false, fmt.Errorf("record the server with offset %d: %w", r.Offset, err)
		}
	}
	if !raised {
		return false, nil
	}
	for _, query := range schema.RaiseGen() {
		if _, err := tx.ExecContext(ctx, query, gen+1, gen); err != nil {
			return false, fmt.Errorf("raise generation: %w", err)
		}
	}
	return true, nil
}
