package bench

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// roundTripSlice is how long a caller keeps a connection for round trips: the
	// fleet bounds a function that it runs, and a long one looks like a stall.
	roundTripSlice = 100 * time.Millisecond
	factsWithin    = 10 * time.Second

	// queryRoundTrip makes the server do nothing but answer.
	queryRoundTrip = "DO 1"
	// queryFacts locks nothing.
	queryFacts = "SELECT VERSION() AS `version`, `longest_lease_ms`, `shard_bits`, `layout` FROM `server` WHERE `id` = 1"
)

// facts are what the servers say of themselves, the same on all of them.
type facts struct {
	longest   time.Duration // of a lease
	shardBits int
	layout    snowflake.Layout // zero if it could not be read
}

// readFacts puts the servers into the report.
func (r *runner) readFacts(ctx context.Context) {
	var mu sync.Mutex
	versions := map[string]string{}
	ctx, cancel := context.WithTimeout(ctx, factsWithin)
	defer cancel()
	_ = r.fleet.Each(ctx, func(ctx context.Context, c *ticket.Conn) error { // who does not answer has no version
		var row struct {
			Version   string `db:"version"`
			LongestMS int64  `db:"longest_lease_ms"`
			ShardBits int    `db:"shard_bits"`
			Layout    string `db:"layout"`
		}
		if err := c.Get(ctx, &row, queryFacts); err != nil {
			return err
		}
		layout, _ := snowflake.ParseLayout(row.Layout) // zero if a newer client has made it
		mu.Lock()
		defer mu.Unlock()
		versions[c.Server()] = row.Version
		r.facts = facts{longest: time.Duration(row.LongestMS) * time.Millisecond, shardBits: row.ShardBits, layout: layout}
		return nil
	})
	for _, s := range r.fleet.Stats().Servers {
		out := Server{Server: s.Server, Offset: s.Offset, Version: versions[s.Server], State: s.State.String()}
		if s.Err != nil {
			out.Error = s.Err.Error()
		}
		r.report.Servers = append(r.report.Servers, out)
	}
}

// roundTrips measures the least that anything on each server costs. Callers who
// have to wait for a connection would show nothing else.
func (r *runner) roundTrips(ctx context.Context) {
	for _, s := range r.report.Servers {
		if s.State != ticket.StateUp.String() {
			continue
		}
		for _, callers := range atMost(r.cfg.Callers, r.cfg.Conns) {
			if !r.begin(ctx, "round trips to %s, %s", s.Server, number(callers)) {
				return
			}
			m, err := load{callers: callers, duration: r.cfg.Duration, limit: math.MaxInt64}.run(ctx, func(ctx context.Context, c *caller) {
				r.trips(ctx, c, s.Offset)
			})
			m.Name, m.Server, m.Offset = RoundTrip, s.Server, s.Offset
			r.add(ctx, m, err)
		}
	}
}

// trips is what one caller does.
func (r *runner) trips(ctx context.Context, c *caller, offset int64) {
	for c.more(ctx) {
		began := time.Now()
		err := r.fleet.DoOn(ctx, offset, func(ctx context.Context, conn *ticket.Conn) error {
			for end := time.Now().Add(roundTripSlice); time.Now().Before(end); {
				began = time.Now()
				if _, _, err := conn.Exec(ctx, queryRoundTrip); err != nil {
					return err
				}
				c.note(ctx, began, 0, nil)
				if !c.more(ctx) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			c.note(ctx, began, 0, err)
		}
	}
}

// drawTickets measures tickets.
func (r *runner) drawTickets(ctx context.Context) {
	if r.plan.TicketsOut != "" {
		r.leaveOut("tickets", r.plan.TicketsOut)
		return
	}
	for _, callers := range r.cfg.Callers {
		if !r.begin(ctx, "tickets, %s", number(callers)) {
			return
		}
		m, err := load{callers: callers, duration: r.cfg.Duration, limit: r.plan.Tickets / int64(len(r.cfg.Callers)), set: r.tickets}.run(ctx, each(r.fleet.Next))
		m.Name = Ticket
		r.report.Used.Tickets += m.Count
		r.add(ctx, m, err)
	}
}

// refill measures what a refill costs at least: the reservation of one round.
func (r *runner) refill(ctx context.Context) {
	source, err := segment.NewSource(r.fleet, r.cfg.Sequence)
	var floor int64
	if err == nil {
		floor, err = source.Floor(ctx)
	}
	if err != nil {
		r.refuse(ctx, "refills", err)
		return
	}
	for _, callers := range r.cfg.Callers {
		if !r.begin(ctx, "refills, %s", number(callers)) {
			return
		}
		limit := int64(math.Ceil(r.cfg.Duration.Seconds() * fastest))
		m, err := load{callers: callers, duration: r.cfg.Duration, limit: limit, set: r.ids}.run(ctx, each(func(ctx context.Context) (int64, error) {
			got, err := source.Reserve(ctx, floor, 1)
			return got.First, err
		}))
		m.Name = Refill
		r.report.Used.Rounds += m.Count
		r.add(ctx, m, err)
	}
}

// refuse leaves something out because of an error, which makes the run fail.
func (r *runner) refuse(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	r.leaveOut(what, err.Error())
	if r.failed == nil {
		r.failed = err
	}
}
