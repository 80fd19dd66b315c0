package ticket

import (
	"context"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
)

// maxRetries bounds how often a statement that the server undid because of a
// deadlock or a lock wait is sent again.
const maxRetries = 10

// issue draws rows consecutive tickets of the server, at most stubsPerConn, and
// returns the first and the step from one to the next.
func (s *server) issue(ctx context.Context, rows int) (first, step int64, err error) {
	err = s.do(ctx, func(ctx context.Context, c *Conn) error {
		before := s.highest()
		began := time.Now()
		id, err := s.drawRetrying(ctx, c, rows)
		if err != nil {
			if mysqlerr.IsUnreachable(err) {
				s.abandoned()
			}
			return err
		}
		if err := check(c.row, before, id, rows); err != nil {
			return err
		}
		first, step = id, c.row.Increment
		s.seen(first+int64(rows-1)*step, rows, time.Since(began))
		return nil
	})
	return first, step, err
}

// drawRetrying sends the statement again, at most maxRetries times, when the
// server has undone it.
func (s *server) drawRetrying(ctx context.Context, c *Conn, rows int) (int64, error) {
	for try := 0; ; try++ {
		id, err := c.draw(ctx, rows)
		if err == nil || try == maxRetries || !mysqlerr.IsRetryable(err) || ctx.Err() != nil {
			return id, err
		}
		s.mu.Lock()
		s.counts.retries++
		s.mu.Unlock()
	}
}

// check holds a reply against the scheme: rows numbers from first on, of the
// server's class, above the highest seen when the statement was sent (replies
// on parallel connections overtake one another), at or below the ceiling.
func check(row schema.Server, before, first int64, rows int) error {
	class := row.Class()
	last := first + int64(rows-1)*class.Increment
	switch {
	case !class.Owns(first):
		return &ServerError{
			Problem: fmt.Sprintf("issued %d, which is not congruent to its offset %d modulo %d", first, class.Offset, class.Increment),
			Remedy:  "Something sets the increment behind our back, or a proxy shares connections: connect to the server directly.", Kind: ErrScheme,
		}
	case first <= before:
		return &ServerError{
			Problem: fmt.Sprintf("issued %d although it had issued %d before", first, before),
			Remedy:  "It has forgotten what it issued: an older backup, a lagging replica, or another server in its place.", Kind: ErrScheme,
		}
	case first > row.TicketCeiling, last > row.TicketCeiling:
		return &ServerError{
			Problem: fmt.Sprintf("has reached the ceiling %d", row.TicketCeiling),
			Remedy:  "For new tables move to sequences, or to a fleet with fewer shard bits or a smaller increment.", Kind: ErrExhausted,
		}
	}
	return nil
}

// highest is the highest ticket seen from the server.
func (s *server) highest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.high
}

// highest is the highest ticket seen from any server.
func (f *Fleet) highest() int64 {
	var high int64
	for _, s := range f.servers {
		high = max(high, s.highest())
	}
	return high
}

// seen records tickets that passed the check.
func (s *server) seen(last int64, rows int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.high = max(s.high, last)
	s.counts.statements++
	s.counts.latency.Add(took)
	s.counts.took += took
	s.counts.issued += int64(rows)
}

// abandoned counts a statement whose outcome is not known.
func (s *server) abandoned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.gaps++
}
