// Package order is what the driver of a torture run and its client processes say to
// each other.
package order

import "time"

// Order is what a client is told, as one line of JSON on its standard input.
// Passwords are in it, so it is not in the environment or the arguments.
type Order struct {
	// Process is the name of this incarnation, in the ledger: "c3.2".
	Process string
	// DSNs are the servers, in the order of their offsets.
	DSNs []string
	// Ledger is the file for what is issued, Calls for calls that failed or waited.
	Ledger, Calls string
	// StateFile is that of the worker; the incarnations of a client share it. Empty
	// means none.
	StateFile string
	// Timeout is that of a statement, Lease that of a worker number.
	Timeout, Lease time.Duration
	// Patience bounds a call, Slow is when one is worth a record.
	Patience, Slow time.Duration
	// Increment and ShardBits are those of the fleet.
	Increment int64
	ShardBits int
	// Step is by how many seconds the wall clock is wrong from the start.
	Step int64
	// Jobs are what to draw.
	Jobs []Job
}

// Job draws IDs of one kind, at a rate, with some callers.
type Job struct {
	// Kind is one of the kinds below.
	Kind string
	// Sequence is for segments and the facade.
	Sequence string
	// Rate is IDs per second of all callers, Batch how many a call asks for; 1 means
	// a call of Next, more NextN.
	Rate, Batch int
	// Callers draw at the same time.
	Callers int
}

// The kinds of jobs. All of a process have one fleet, that of its oddeven.Client if
// it has a job for the facade.
const (
	JobTicket  = "ticket"
	JobSegment = "segment"
	JobWorker  = "worker"
	JobFacade  = "facade"
)

// Call is a line of the file Calls: a call that failed or took long.
type Call struct {
	Process string
	Source  string // the kind of the job, or "open"
	Began   time.Time
	Took    time.Duration
	Err     string // empty if it was only slow
	// NoWorker says that the error is that there is no worker to fall back on, for a
	// reason that the documents name.
	NoWorker bool
}

// Status is a line of standard output, several times a second.
type Status struct {
	IDs  int64       // issued so far
	Seen []time.Time // when the last ID of each server came, by offset - 1
}

// What the driver writes to a client's standard input after the order, a line each.
// The end of the input ends the client like a kill.
const (
	// Stop ends the client in order: it closes what it has opened.
	Stop = "stop"
	// Clock, a blank and a number of seconds step the wall clock to that much beside
	// the right time.
	Clock = "clock"
)
