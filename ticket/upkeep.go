package ticket

import (
	"context"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

const (
	upkeepInterval = time.Second
	levelAfter     = schema.LevelAfter
)

const (
	// Raises the counter. The row proves the scheme like every ticket statement;
	// the stub is the leaps' own.
	queryLevel = "REPLACE INTO `tickets` (`stub`, `id`) VALUES (IF(CONNECTION_ID() = ? AND (SELECT `gen` FROM `server` WHERE `id` = 1) = ?, 0, EXP(1000)), ?)"
	// Before a server is pulled level: what it was used so far counts, and what
	// comes is no use. A leap of another server that counted as use would make the
	// margin of the next leap, and so on without end.
	queryLevelling = "UPDATE `server` SET `ticket_peak` = GREATEST(`ticket_peak`, CAST(? AS UNSIGNED) - LEAST(`ticket_hour_round`, CAST(? AS UNSIGNED))), " +
		"`ticket_hour_round` = GREATEST(`ticket_hour_round`, CAST(? AS UNSIGNED)) WHERE `id` = 1 AND `gen` = ? AND CONNECTION_ID() = ?"
	// Once an hour and server, by whichever client comes first: the most rounds
	// used in an hour are the margin of a leap that starts beyond the clock line.
	queryPeak = "UPDATE `server` SET `ticket_peak` = GREATEST(`ticket_peak`, CAST(? AS UNSIGNED) - LEAST(`ticket_hour_round`, CAST(? AS UNSIGNED))), " +
		"`ticket_hour_round` = GREATEST(`ticket_hour_round`, CAST(? AS UNSIGNED)), `ticket_hour` = ? WHERE `id` = 1 AND `ticket_hour` < ? AND `gen` = ? AND CONNECTION_ID() = ?"
)

// upkeep pulls servers level and notes how much they are used, until the fleet
// closes.
func (f *Fleet) upkeep() {
	tick := time.NewTicker(upkeepInterval)
	defer tick.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-tick.C:
		}
		highest := f.highest() // before the states are looked at: see records.go
		for _, s := range f.servers {
			if s.is(StateUp) {
				f.level(s, highest)
				f.notePeak(s)
			}
		}
	}
}

// level raises a server that this client has used, or not yet, to where the
// others are.
func (f *Fleet) level(s *server, highest int64) {
	s.mu.Lock()
	row, own, now := s.row, s.high, s.clock.now()
	s.mu.Unlock()
	target := roundsFor(highest, row.Increment)
	behind := roundsFor(own, row.Increment)
	if target-behind <= levelAfter {
		return
	}
	if own > 0 && target > row.TicketLine().Reach(behind, now) {
		s.keepAloof(behind, target)
		return
	}
	id := row.Class().ID(target)
	var reached int64
	err := s.do(f.ctx, func(ctx context.Context, c *Conn) error {
		reached = id // it may run twice
		highest, top, err := readTickets(ctx, c.conn)
		if err != nil {
			return err
		}
		if top < id {
			if target > row.TicketLine().Reach(roundsFor(top, row.Increment), now) {
				reached = highest // and stays there
				return nil
			}
			used := roundsFor(highest, row.Increment)
			if _, _, err := c.Exec(ctx, queryLevelling, used, used, target, c.row.Gen, c.id); err != nil {
				return err
			}
			if _, _, err := c.Exec(ctx, queryLevel, c.id, c.row.Gen, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return // in a second again
	}
	s.mu.Lock()
	s.high = max(s.high, reached)
	s.aloof = s.aloof && reached < id
	s.mu.Unlock()
	if reached < id {
		s.keepAloof(roundsFor(reached, row.Increment), target)
	}
}

// keepAloof says once that the server does not follow the others.
func (s *server) keepAloof(round, others int64) {
	s.mu.Lock()
	said := s.aloof
	s.aloof = true
	s.mu.Unlock()
	if !said {
		s.log.Error("ticket server not levelled: the others are further ahead than they can be; `oddeven doctor` says which", "server", s.label, "round", round, "others", others)
	}
}

// notePeak starts a new hour in the server's row when one has begun.
func (f *Fleet) notePeak(s *server) {
	s.mu.Lock()
	hour, round := s.clock.now()/3600, s.row.Class().Round(s.high)
	due := hour > s.row.TicketHour && s.high > 0
	s.mu.Unlock()
	if !due {
		return
	}
	_ = s.do(f.ctx, func(ctx context.Context, c *Conn) error { // the next second is as good
		if _, _, err := c.Exec(ctx, queryPeak, round, round, round, hour, hour, c.row.Gen, c.id); err != nil {
			return err
		}
		row, err := schema.ReadServer(ctx, c.conn)
		if err != nil || row.Gen != c.row.Gen {
			return err
		}
		s.mu.Lock()
		if s.row.Gen == row.Gen {
			s.row = row
		}
		s.mu.Unlock()
		return nil
	})
}
