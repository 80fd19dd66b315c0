package migrations

import (
	"errors"
	"fmt"
	"strings"
)

// State says how a server stands after a command.
type State string

// The states of a server in a report.
const (
	StateMigrated    State = "migrated"    // something was changed on it
	StateUpToDate    State = "up to date"  // nothing to do
	StatePlanned     State = "planned"     // a dry run: SQL holds what would be done
	StatePending     State = "pending"     // status: migrations are missing, or its row
	StateNewer       State = "newer"       // status: its schema is newer than this build
	StateNew         State = "new"         // status: has no schema yet
	StateUnreachable State = "unreachable" // it could not be worked on at all
	StateFailed      State = "failed"      // something went wrong on the way
	StateUntouched   State = "untouched"   // the command was refused because of another server
)

// Report says what a command found and did, one entry per server in the order given.
type Report struct {
	Fleet     string // identity of the fleet in hexadecimal; empty if there is none yet
	Increment int64  // 0 if there is no fleet yet
	ShardBits int
	Layout    string
	Warnings  []string // what is allowed and probably not meant, a sentence each
	Servers   []ServerReport
}

// ServerReport is one server's share of a [Report].
type ServerReport struct {
	Server   string   // host:port/database
	Offset   int64    // 0 if it has none yet
	Identity string   // in hexadecimal; empty if it has none yet
	Before   int64    // schema version found
	Version  int64    // schema version left behind
	Latest   int64    // newest version known to this build
	State    State    //
	Done     []string // what was done, or with DryRun would be: one line each
	SQL      []string // with DryRun: the statements, without semicolons
	Err      error    // why it failed; nil otherwise
}

// FleetError is returned when a command failed on at least one server; the
// others were still worked on. It unwraps to the errors of the servers.
type FleetError struct {
	Failed, Total int
	Errs          []error
}

// Error counts the servers and lists their errors, one line each.
func (e *FleetError) Error() string {
	lines := make([]string, 0, len(e.Errs)+1)
	lines = append(lines, fmt.Sprintf("migrations: %d of %d servers failed", e.Failed, e.Total))
	for _, err := range e.Errs {
		lines = append(lines, "  "+err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors of the servers.
func (e *FleetError) Unwrap() []error { return e.Errs }

// err collects the errors of the servers.
func (r *Report) err() error {
	e := &FleetError{Total: len(r.Servers)}
	for _, s := range r.Servers {
		if s.Err != nil {
			e.Failed++
			e.Errs = append(e.Errs, s.Err)
		}
	}
	if e.Failed == 0 {
		return nil
	}
	return e
}

var (
	// ErrAllocations is returned by Down and To, for a server on which a table to
	// be dropped says which numbers have been issued.
	ErrAllocations = errors.New("migrations: tables hold allocations")
	// ErrLocked is returned when another migration of the fleet did not end
	// within LockTimeout.
	ErrLocked = errors.New("migrations: another migration is running")
	// ErrNewerSchema is returned when a server's schema is newer than this build.
	ErrNewerSchema = errors.New("migrations: schema is newer than this build")
	// ErrForeignTable is returned when a table has the name of one of ours but is not ours.
	ErrForeignTable = errors.New("migrations: table belongs to something else")
	// ErrWaiting is returned by Up for a new server that cannot be given an
	// offset before every server of the fleet has answered.
	ErrWaiting = errors.New("migrations: no offset assigned")
	// ErrClocks is returned by Up for a new server while the clocks of the servers
	// differ by more than clock lines can bear.
	ErrClocks = errors.New("migrations: clocks of the servers differ")
	// ErrSettings is returned by Up when a setting is asked for that differs from the fleet's.
	ErrSettings = errors.New("migrations: setting cannot be changed")
	// ErrMixedFleets is returned when the servers do not belong to one fleet.
	ErrMixedFleets = errors.New("migrations: servers of different fleets")
	// ErrSameServer is returned when two of the DSNs lead to one server.
	ErrSameServer = errors.New("migrations: two DSNs lead to the same server")
	// ErrOffsets is returned when offsets clash or none is free.
	ErrOffsets = errors.New("migrations: offsets")
)
