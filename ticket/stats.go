package ticket

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/mysqlerr"
)

// Stats is a snapshot of a fleet.
type Stats struct {
	Fleet     string // identity of the fleet in hexadecimal; empty before a server was reached
	Increment int64
	Servers   []ServerStats // in the order of Config.Servers
}

// ServerStats is a snapshot of one server. Counts are of this Fleet alone, since Open.
type ServerStats struct {
	Server      string        // host:port/database
	Offset      int64         // 0 before it was reached
	Gen         int64         // generation
	State       State         // whether it takes part
	For         time.Duration // how long it has been in that state
	Err         error         // why it is not up; nil if it is
	Issued      int64         // tickets
	Statements  int64         // that issued them; Issued/Statements is the mean number of rows
	Highest     int64         // highest ticket seen
	Line        int64         // its clock line now: a fence takes it at least there; 0 before it was reached
	Ceiling     int64         // largest ticket that there may be; 0 before it was reached
	Gaps        int64         // statements whose outcome never became known
	Retries     int64         // statements sent again after a deadlock or a lock wait
	Fences      int64         // run by this client
	FencesBy    FenceCounts   // the same by reason
	Connections int64         // made
	Errors      ErrorCounts   // statements and connections that failed
	Latency     Histogram     // of the statements that issued
	LatencySum  time.Duration // altogether, of the statements in Latency
}

// FenceCounts counts fences by reason.
type FenceCounts struct {
	Restarted int64 // a new start of the server
	Replaced  int64 // another server in its place, or a copy of it, in a fleet with single writers
	Peer      int64 // a peer remembered more of it
	Scheme    int64 // it returned a number that broke the scheme
}

// Total is the sum of all reasons.
func (c FenceCounts) Total() int64 { return c.Restarted + c.Replaced + c.Peer + c.Scheme }

// count counts a fence that was run for a reason of judge's.
func (c *FenceCounts) count(reason string) {
	switch {
	case reason == reasonRestarted:
		c.Restarted++
	case reason == reasonReplaced, reason == reasonEarlier:
		c.Replaced++
	case strings.HasPrefix(reason, reasonPeer):
		c.Peer++
	default:
		c.Scheme++
	}
}

// ErrorCounts counts failures by cause.
type ErrorCounts struct {
	Unreachable int64 // no connection, or it broke
	Timeout     int64 // no answer within Config.Timeout
	Denied      int64 // account, database or privilege
	ReadOnly    int64
	Changed     int64 // generation or incarnation changed, so that it had to be checked
	Scheme      int64 // numbers that broke the scheme
	Other       int64
}

// Total is the sum of all causes.
func (e ErrorCounts) Total() int64 {
	return e.Unreachable + e.Timeout + e.Denied + e.ReadOnly + e.Changed + e.Scheme + e.Other
}

// Histogram counts durations in buckets that double: bucket i holds those below
// Bound(i) that are in no lower one; the last bucket holds all the rest.
type Histogram [24]int64

// histogramUnit is the bound of the first bucket.
const histogramUnit = 16 * time.Microsecond

// Bound is the upper bound of bucket i: 16 microseconds times 2 to the i.
func (h Histogram) Bound(i int) time.Duration { return histogramUnit << i }

// Count is how many durations were added.
func (h Histogram) Count() int64 {
	var n int64
	for _, b := range h {
		n += b
	}
	return n
}

// Quantile is a bound that the share q (0 to 1) of the durations stayed below; 0 if there are none.
func (h Histogram) Quantile(q float64) time.Duration {
	left := max(1, int64(math.Ceil(q*float64(h.Count())))) - 1
	if h.Count() == 0 {
		return 0
	}
	for i, b := range h {
		if left -= b; left < 0 || i == len(h)-1 {
			return h.Bound(i)
		}
	}
	return 0
}

// Add counts a duration; one below zero counts as zero. Of all methods only this
// one changes h, which is not safe for concurrent use.
func (h *Histogram) Add(d time.Duration) {
	h[min(bits.Len64(uint64(max(0, d)/histogramUnit)), len(h)-1)]++
}

// counts are a server's counters; guarded by the server's mu.
type counts struct {
	issued, statements, gaps, retries, connections int64
	fences                                         FenceCounts
	errors                                         ErrorCounts
	latency                                        Histogram
	took                                           time.Duration
}

func (c *counts) fail(err error) {
	switch {
	case isChange(err):
		c.errors.Changed++
	case errors.Is(err, ErrScheme):
		c.errors.Scheme++
	case errors.Is(err, context.DeadlineExceeded):
		c.errors.Timeout++
	case mysqlerr.IsAccessDenied(err), mysqlerr.IsMissingPrivilege(err), mysqlerr.IsUnknownDatabase(err):
		c.errors.Denied++
	case mysqlerr.IsReadOnly(err), errors.Is(err, errIsReadOnly):
		c.errors.ReadOnly++
	case mysqlerr.IsUnreachable(err):
		c.errors.Unreachable++
	default:
		c.errors.Other++
	}
}

// Stats returns a snapshot. It does no I/O, and works after Close.
func (f *Fleet) Stats() Stats {
	f.mu.Lock()
	st := Stats{Increment: f.fleet.Increment}
	if st.Increment != 0 {
		st.Fleet = f.fleet.Fleet.String()
	}
	f.mu.Unlock()
	for _, s := range f.servers {
		st.Servers = append(st.Servers, s.stats())
	}
	return st
}

func (s *server) stats() ServerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	st := ServerStats{
		Server: s.label, Offset: s.row.Offset, Gen: s.row.Gen, State: s.state, For: time.Since(s.since), Issued: c.issued,
		Statements: c.statements, Highest: s.high, Gaps: c.gaps, Retries: c.retries, Fences: c.fences.Total(), FencesBy: c.fences,
		Connections: c.connections, Errors: c.errors, Latency: c.latency, LatencySum: c.took, Ceiling: s.row.TicketCeiling,
	}
	if now := s.clock.now(); s.row.Increment > 0 && now > 0 {
		st.Line = s.row.Class().ID(s.row.TicketLine().At(now))
	}
	if s.lastErr != nil {
		st.Err = s.lastErr
	}
	return st
}
