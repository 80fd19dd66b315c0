package overview

import (
	"errors"
	"time"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// never is how far ahead a forecast says a date.
const never = 200 * 365.25 * 24 * time.Hour

// Of puts a picture together from what the servers said: all of them in found,
// those that answered in the others.
func Of(found []ticket.Inspection, leases []snowflake.Lease, sequences []sequence.Sequence) *Picture {
	p := &Picture{At: time.Now().UTC().Truncate(time.Second), read: time.Now()}
	for _, i := range found {
		p.Servers = append(p.Servers, Server{Inspection: i})
	}
	for _, i := range found {
		if i.Err != nil || errors.Is(i.Verdict, ticket.ErrForeign) {
			continue
		}
		p.At, p.Fleet, p.Increment, p.ShardBits, p.Layout = i.Now, i.Fleet, i.Increment, i.ShardBits, i.Layout
		if l, err := snowflake.ParseLayout(i.Layout); err == nil {
			p.TimeEnds = l.Exhausted()
		}
		break
	}
	p.count(leases)
	for _, s := range sequences {
		p.add(s)
	}
	return p
}

// count counts worker numbers by server.
func (p *Picture) count(leases []snowflake.Lease) {
	byServer := map[string]*Workers{}
	for _, l := range leases {
		w := byServer[l.Server]
		if w == nil {
			w = &Workers{}
			byServer[l.Server] = w
		}
		switch l.State {
		case snowflake.LeaseFree:
			w.Free++
		case snowflake.LeaseParked:
			w.Parked++
		case snowflake.LeaseHeld:
			w.Leased++
		}
	}
	for i := range p.Servers {
		p.Servers[i].Workers = byServer[p.Servers[i].Server]
	}
}

// add computes a sequence for the picture. Server labels tell the rows apart.
func (p *Picture) add(s sequence.Sequence) {
	c := Sequence{Sequence: s, Lately: -1, Partial: len(s.Servers) < len(p.Servers)}
	rows := make(map[string]sequence.OnServer, len(s.Servers))
	start, complete := int64(-1), !c.Partial
	for _, o := range s.Servers {
		rows[o.Server] = o
		if o.Row == nil {
			complete = false
			continue
		}
		c.Rate += o.Rate()
		c.Reserved += o.Row.Reserved
		c.Peak += o.Row.Peak
		c.Highest = max(c.Highest, o.Row.Rounds)
		if start < 0 || o.Row.Start < start {
			start = o.Row.Start
		}
	}
	c.Left = max(0, s.Last()-c.Highest)
	c.Gaps = -1
	if complete {
		c.Gaps = max(0, c.Highest-max(0, start)-c.Reserved)
	}
	for _, server := range p.Servers {
		o, answered := rows[server.Server]
		on := OnServer{Server: server.Server, Offset: server.Offset, Answered: answered, OnServer: o, Lately: -1}
		if o.Row != nil {
			on.ThisHour, on.LastHour = o.Windows()
			on.Rate, on.Behind, on.ToLine = o.Rate(), c.Highest-o.Row.Rounds, o.Line()-o.Row.Rounds
			if c.Reserved > 0 {
				on.Share = float64(o.Row.Reserved) / float64(c.Reserved)
			}
		}
		c.On = append(c.On, on)
	}
	c.Forecast = c.forecast(p.At)
	p.Sequences = append(p.Sequences, c)
}

func (c *Sequence) forecast(now time.Time) Forecast {
	switch {
	case c.State.Deleted:
		return Forecast{Kind: Deleted}
	case c.Left == 0:
		return Forecast{Kind: Exhausted}
	case c.Rate == 0:
		return Forecast{Kind: Idle}
	}
	seconds := float64(c.Left) / c.Rate
	if seconds > never.Seconds() {
		return Forecast{Kind: Never}
	}
	return Forecast{Kind: RunsOut, At: now.Add(time.Duration(seconds * float64(time.Second))).Truncate(time.Second)}
}

// Hours adds the windows of all servers up.
func (c *Sequence) Hours() (thisHour, lastHour sequence.Window) {
	for _, o := range c.On {
		thisHour.Refills += o.ThisHour.Refills
		thisHour.Rounds += o.ThisHour.Rounds
		lastHour.Refills += o.LastHour.Refills
		lastHour.Rounds += o.LastHour.Rounds
	}
	return thisHour, lastHour
}

// LastRefill is the server on which a segment was reserved last; nil if none was.
func (c *Sequence) LastRefill() *OnServer {
	var last *OnServer
	for i := range c.On {
		o := &c.On[i]
		if o.Row == nil || o.Row.RefilledAt.IsZero() {
			continue
		}
		if last == nil || o.Row.RefilledAt.After(last.Row.RefilledAt) {
			last = o
		}
	}
	return last
}
