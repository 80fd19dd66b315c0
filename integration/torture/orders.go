package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/oddeven/oddeven/integration/torture/order"
)

const (
	// lease is that of worker numbers, and the longest of the fleet: long enough to
	// outlast an outage, and short because a server that was restarted grants none for
	// that long.
	lease = 12 * time.Second
	// statementTimeout is that of clients: a server that is frozen is given up then.
	statementTimeout = time.Second
	// patience is how long clients wait for a call at most, longestCall how long a
	// call may take while a server is in order: it may ask each of four, and then
	// those that are left. Slower machines need more.
	patience    = 30 * time.Second
	longestCall = 10 * time.Second
	// slow is when a call is written down.
	slow = time.Second
)

// sequences are those of the fleet.
var sequences = []string{"orders", "users", "posts"}

// order is what a client is told to do. All draw tickets, slowly at least: that is
// how it is seen that a server is back. The rate is for those that draw most.
func (r *run) order(number int, process string, step int64) order.Order {
	o := order.Order{
		Process: process, Ledger: filepath.Join(r.logs, process+ledgerExtension), Calls: filepath.Join(r.dir, process+callsExtension),
		Timeout: statementTimeout, Lease: lease, Patience: patience, Slow: slow, Increment: int64(len(r.servers)), ShardBits: r.opts.shardBits, Step: step,
	}
	for _, v := range r.servers {
		o.DSNs = append(o.DSNs, v.app().FormatDSN())
	}
	// Every second client, counted by fours, keeps a state file: its restarts go on
	// with their leases.
	if number%4 == 1 || number%4 == 2 {
		o.StateFile = filepath.Join(r.dir, fmt.Sprintf("state-%d", number+1))
	}
	heavy := max(1, r.opts.rate/r.opts.clients)
	tickets := order.Job{Kind: order.JobTicket, Rate: 50, Batch: 1, Callers: 1}
	switch number % 4 {
	case 0: // a sequence, most of all
		o.Jobs = []order.Job{tickets,
			{Kind: order.JobSegment, Sequence: sequences[0], Rate: 2 * heavy * 9 / 10, Batch: 5000, Callers: 1},
			{Kind: order.JobSegment, Sequence: sequences[1], Rate: 500, Batch: 1, Callers: 2}}
	case 1: // the facade, ID by ID, and a worker
		o.Jobs = []order.Job{tickets,
			{Kind: order.JobFacade, Sequence: sequences[1], Rate: min(2000, heavy), Batch: 1, Callers: 2},
			{Kind: order.JobFacade, Sequence: sequences[2], Rate: min(10_000, heavy), Batch: 100, Callers: 1},
			{Kind: order.JobWorker, Rate: min(2000, heavy), Batch: 1, Callers: 2}}
	case 2: // tickets, and workers
		o.Jobs = []order.Job{
			{Kind: order.JobTicket, Rate: 300, Batch: 1, Callers: 6},
			{Kind: order.JobTicket, Rate: 1000, Batch: 64, Callers: 1},
			{Kind: order.JobWorker, Rate: min(5000, heavy), Batch: 50, Callers: 1}}
	case 3: // the facade, most of all
		o.Jobs = []order.Job{tickets,
			{Kind: order.JobFacade, Sequence: sequences[0], Rate: 2 * heavy * 9 / 10, Batch: 5000, Callers: 1},
			{Kind: order.JobFacade, Sequence: sequences[2], Rate: 500, Batch: 1, Callers: 2},
			{Kind: order.JobWorker, Rate: min(1000, heavy), Batch: 1, Callers: 1}}
	}
	return o
}
