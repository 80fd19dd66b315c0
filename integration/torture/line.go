package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

// place is where a sequence, or the tickets under "", is on one server.
type place struct {
	name   string
	server string
	round  int64
	line   int64 // the round of its clock line
	before int64 // that of an hour earlier, which is now's share without the hour that a leap adds
	margin int64 // what a fence adds beyond the line to what it hears of here
}

const (
	queryPlaces = "SELECT `name`, `rounds`, `base`, `birth`, `ceiling`, `peak`, UNIX_TIMESTAMP() FROM `" + database + "`.`sequences`"
	queryPlace  = "SELECT '', (SELECT COALESCE(MAX(`id`), 0) FROM `" + database + "`.`tickets`), `ticket_base`, `ticket_birth`, `ticket_ceiling`, `ticket_peak`, UNIX_TIMESTAMP() " +
		"FROM `" + database + "`.`server` WHERE `id` = 1"
)

// places are where everything is on a server.
func (v *server) places(ctx context.Context, increment int64) (all []place, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, query := range []string{queryPlaces, queryPlace} {
		more, err := v.placesOf(ctx, query, increment)
		if err != nil {
			return nil, fmt.Errorf("read rounds of server %s: %w", v.name(), err)
		}
		all = append(all, more...)
	}
	return all, nil
}

func (v *server) placesOf(ctx context.Context, query string, increment int64) (all []place, err error) {
	rows, err := v.db().QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name sql.RawBytes
		var l schema.ClockLine
		var round, ceiling, margin, now int64
		if err := rows.Scan(&name, &round, &l.Base, &l.Birth, &ceiling, &margin, &now); err != nil {
			return nil, err
		}
		if len(name) == 0 {
			round = (round + increment - 1) / increment // tickets have IDs there
			margin = max(margin, ticketMargin)
		}
		l.Last = schema.Class{Offset: int64(v.number + 1), Increment: increment}.LastRound(ceiling)
		all = append(all, place{name: string(name), server: v.name(), round: round, line: l.At(now), before: l.At(now - 3600), margin: margin})
	}
	return all, rows.Err()
}

// tolerated is how far beyond its clock line a sequence may be, as a part of what
// the line rises in an hour. Clients that draw until the very moment of a fence go
// past it by what they have reserved, and then every fence adds a margin until the
// line has caught up; here servers are fenced every few seconds. Leaps that add up for
// good, or clients that draw faster than the line rises, go much further.
const tolerated = 1

// lines finds out how far everything is, and whether anything is far beyond its clock
// line.
func (r *run) lines(ctx context.Context) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	for _, v := range r.servers {
		wg.Go(func() {
			all, err := v.places(ctx, int64(len(r.servers)))
			mu.Lock()
			defer mu.Unlock()
			r.places = append(r.places, all...)
			errs = append(errs, err)
		})
	}
	wg.Wait()
	for _, p := range r.places {
		if hour := p.line - p.before; float64(p.round-p.line) > tolerated*float64(hour) {
			r.find("%s at round %d on server %s, %.2f hours beyond the clock line %d: leaps add up, or clients reserve faster than the line rises",
				sequenceName(p.name), p.round, p.server, float64(p.round-p.line)/float64(hour), p.line)
		}
	}
	return errors.Join(errs...)
}

func sequenceName(name string) string {
	if name == "" {
		return "tickets"
	}
	return "sequence " + name
}
