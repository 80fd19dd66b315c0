// Package overview puts together what there is to see of a fleet: its servers,
// its worker numbers and its sequences, how fast these are used, and when they
// run out. It changes nothing but what opening a fleet does, which fences a server that
// was restarted; what it computes has no I/O.
package overview

import (
	"time"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// Picture is a fleet at one time.
type Picture struct {
	At        time.Time // by the clock of the first server that answered; else by ours
	Fleet     string    // identity in hexadecimal; empty if no server answered, as is all up to Layout
	Increment int64     // capacity in servers
	ShardBits int       //
	Layout    string    // of Snowflake IDs
	TimeEnds  time.Time // when the time bits of the layout are used up; zero if not known
	Servers   []Server  // in the order of the configuration
	Sequences []Sequence

	read time.Time // by our clock, with its monotonic reading
}

// Server is one server.
type Server struct {
	ticket.Inspection
	Workers *Workers // nil if they could not be read
	ReadErr error    // why workers or sequences could not be read; nil if they were
}

// ToLine is how many tickets are left until the counter passes its clock line;
// negative if it has. Beyond the line a server that forgets is protected by what
// the other servers and the clients know, and by an hour's use.
func (s Server) ToLine() int64 { return s.Line - s.Top }

// Problem is why the server is not as it should be, nil if it is.
func (s Server) Problem() error {
	switch {
	case s.Err != nil:
		return s.Err
	case s.Verdict != nil:
		return s.Verdict
	}
	return s.ReadErr
}

// Workers are the worker numbers of a server, or of a fleet.
type Workers struct {
	Leased, Parked, Free int
}

// Total is how many numbers there are.
func (w Workers) Total() int { return w.Leased + w.Parked + w.Free }

// Up is how many servers answered and may issue.
func (p *Picture) Up() int {
	up := 0
	for _, s := range p.Servers {
		if s.Problem() == nil {
			up++
		}
	}
	return up
}

// Workers are the numbers of all servers that could be read.
func (p *Picture) Workers() Workers {
	var all Workers
	for _, s := range p.Servers {
		if s.Workers != nil {
			all.Leased += s.Workers.Leased
			all.Parked += s.Workers.Parked
			all.Free += s.Workers.Free
		}
	}
	return all
}

// Sequence is a sequence on the whole fleet.
type Sequence struct {
	sequence.Sequence
	On       []OnServer // in the order of Picture.Servers
	Rate     float64    // IDs per second, the sum over servers
	Lately   float64    // IDs per second between two pictures; negative if there is only one
	Reserved int64      // IDs reserved so far, by rows as they are
	Highest  int64      // highest round of any server
	Left     int64      // IDs that are left: rounds up to the ceiling, because each refill takes rounds above all servers'
	Gaps     int64      // rounds below Highest that no server reserved: leaps, bumps; negative if a row is missing, which would know
	Peak     int64      // most IDs reserved in an hour: each server's own best hour, added up
	Forecast Forecast
	Partial  bool // not every server could be read
}

// OnServer is a sequence on one server.
type OnServer struct {
	Server   string // host:port/database
	Offset   int64  // 0 if the server did not answer
	Answered bool
	sequence.OnServer
	ThisHour, LastHour sequence.Window
	Rate, Lately       float64 // as in Sequence
	Share              float64 // of all IDs reserved, 0 to 1
	Behind             int64   // rounds behind the server that is furthest
	ToLine             int64   // rounds until its clock line; negative if it is past it
}

// Forecast says when a sequence reaches its ceiling at the present rate.
// Leaps are not in it: those that a restart causes take no more of the space than
// the part of a hundred years gone by.
type Forecast struct {
	Kind Kind
	At   time.Time // with RunsOut only
}

// Kind is what a Forecast came to.
type Kind string

// The kinds of forecasts.
const (
	RunsOut   Kind = "runs out"  // at a time
	Never     Kind = "never"     // not within 200 years
	Idle      Kind = "idle"      // nothing was reserved in this hour and the one before
	Exhausted Kind = "exhausted" // nothing is left
	Deleted   Kind = "deleted"   // nothing is reserved any more
)
