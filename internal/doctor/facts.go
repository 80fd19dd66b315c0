package doctor

import (
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// facts are what was read from one server. A part that could not be read has
// its error beside it.
type facts struct {
	label    string
	database string
	err      error // it does not answer; then all below is zero

	socket   bool   // connected by a local socket
	loopback bool   // its address is on this host
	cipher   string // of the connection; empty if it is not encrypted
	verified bool   // the server's certificate was checked

	version   string            // VERSION()
	comment   string            // @@version_comment
	variables map[string]string // global, by lower-case name; one that the server does not know is missing
	status    map[string]string // global
	clock     clock

	schema    int64          // version
	row       *schema.Server // nil if it could not be read
	rowErr    error
	tables    map[string]table
	tablesErr error

	session    session
	privileges privileges

	sequences    []sequence
	sequencesErr error
	workers      workers
	workersErr   error
	group        group

	inspection ticket.Inspection
}

// clock is the server's clock against that of this host.
type clock struct {
	ahead time.Duration // of the server; negative if it is behind
	slack time.Duration // by how much that may be wrong
}

// table is one of our tables as the server describes it.
type table struct {
	Name    string `db:"name"`
	Engine  string `db:"engine"` // empty for a view
	Comment string `db:"comment"`
}

// session is what became of the settings that a client makes on every connection.
type session struct {
	err        error // the server refused them
	want, have increments
	moved      bool // a later statement was answered on another connection
	autocommit bool // as it reads in the end
}

// increments are the two session variables.
type increments struct{ increment, offset int64 }

// privileges are what the account may not do.
type privileges struct {
	lacking map[string][]string // verbs by table
	err     error               // why it could not be found out for all
}

// sequence is one row of the sequences.
type sequence struct {
	Name    string `db:"name"`
	Rounds  int64  `db:"rounds"`
	Base    int64  `db:"base"`
	Birth   int64  `db:"birth"`
	Ceiling int64  `db:"ceiling"`
	Held    bool   `db:"held"` // back: see schema.HeldBack
}

// line is the clock line of the sequence.
func (s sequence) line(c schema.Class) schema.ClockLine {
	return schema.ClockLine{Base: s.Base, Birth: s.Birth, Last: c.LastRound(s.Ceiling)}
}

// workers are the rows of worker numbers.
type workers struct {
	Rows int64 `db:"worker_rows"` // all of them
	Own  int64 `db:"own"`         // of the server's residue class and within the layout
	want int64 // as many as Own should be
}

// group is what Group Replication says of itself, if it is loaded.
type group struct {
	err   error  // the account may not ask
	state string // of this member: ONLINE, OFFLINE …; empty if there is no such table
	size  int
}

func (f *facts) variable(name string) string { return f.variables[name] }

// isOn reports whether a variable is there and on.
func (f *facts) isOn(name string) bool {
	switch strings.ToUpper(f.variables[name]) {
	case "", "OFF", "0", "NO":
		return false
	}
	return true
}

func (f *facts) mariaDB() bool { return strings.Contains(f.version, "MariaDB") }

// binlog reports whether the server writes a binary log.
func (f *facts) binlog() bool { return f.isOn("log_bin") }

// inspected reports whether the server could be judged as clients judge it.
func (f *facts) inspected() bool { return f.err == nil && f.row != nil && f.inspection.Err == nil }

// round is the round of the highest ticket.
func (f *facts) round() int64 { return f.row.Class().Round(f.inspection.Top) }

// now is the server's time, Unix seconds.
func (f *facts) now() int64 { return f.inspection.Now.Unix() }

// pastLine reports whether tickets or a sequence are used faster than their
// clock line rises, so that a fence can add no more than a margin.
func (f *facts) pastLine() bool {
	if !f.inspected() {
		return false
	}
	if f.inspection.Top > f.inspection.Line {
		return true
	}
	for _, s := range f.sequences {
		if s.Rounds > s.line(f.row.Class()).At(f.now()) {
			return true
		}
	}
	return false
}
