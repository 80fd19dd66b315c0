package sequence

import "time"

// Usage is what a row keeps of the hours, as of its last refill.
type Usage struct {
	Hour         int64 `db:"hour"`          // of the last refill: Unix time / 3600
	HourRefills  int64 `db:"hour_refills"`  // refills when it began
	HourReserved int64 `db:"hour_reserved"` // rounds reserved when it began
	PastRefills  int64 `db:"past_refills"`  // in the hour before it
	PastReserved int64 `db:"past_reserved"` // rounds, in the hour before it
}

// Window is what was reserved on one server in a stretch of time.
type Window struct {
	Refills int64 // segments
	Rounds  int64 // in them; an ID each
}

const hour = 3600 // seconds

// Windows returns what was reserved in the hour that the server's time lies in,
// and in the full hour before it. Hours begin with the hours of UTC. After the
// server's clock was set back to an earlier hour both are zero until the next refill.
func (o OnServer) Windows() (thisHour, lastHour Window) {
	r := o.Row
	if r == nil {
		return
	}
	of := Window{Refills: max(0, r.Refills-r.HourRefills), Rounds: max(0, r.Reserved-r.HourReserved)}
	switch r.Hour {
	case o.Now / hour:
		return of, Window{Refills: r.PastRefills, Rounds: r.PastReserved}
	case o.Now/hour - 1:
		return Window{}, of
	}
	return Window{}, Window{}
}

// shortest is the least time that a rate is computed over: a burst in the first
// seconds of a sequence says nothing about its years.
const shortest = time.Minute

// Rate is the present rate of the server in rounds per second: what it reserved
// since the last full hour began, over the time since, or since the sequence was
// created, if that is later, but a minute at least.
func (o OnServer) Rate() float64 {
	if o.Row == nil {
		return 0
	}
	this, last := o.Windows()
	since := max((o.Now/hour-1)*hour, o.Row.CreatedAt.Unix())
	return float64(this.Rounds+last.Rounds) / max(shortest.Seconds(), float64(o.Now-since))
}

// PassedOver is how many rounds the server has gone past without reserving them
// since its row was made: rounds that other servers had reserved, leaps, bumps.
func (o OnServer) PassedOver() int64 {
	if o.Row == nil {
		return 0
	}
	return max(0, o.Row.Rounds-o.Row.Start-o.Row.Reserved)
}

// Line is the round of the row's clock line at the server's time, where a fence
// would leap to; 0 if there is no row.
func (o OnServer) Line() int64 {
	if o.Row == nil {
		return 0
	}
	return o.Row.line(o.Class).At(o.Now)
}

// Last is the last round below the ceiling of the newest state, the same on
// every server; 0 if no server answered.
func (s Sequence) Last() int64 {
	if len(s.Servers) == 0 {
		return 0
	}
	return s.State.line(s.Servers[0].Class).Last
}
