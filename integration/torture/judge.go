package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/order"
)

// judge writes the calls that failed or took long into the ledger, and whether the
// documents allow that: only the driver knows what was wrong with the servers then.
//
// A call may fail, and take as long as its context allows, if every server was
// affected in the course of it. A call of the facade may fail if it had no worker to
// fall back on and a server was affected, or its process had just begun: there is none
// yet, or servers that were restarted keep numbers back, or the lease has ended. Such a
// call waits for an answer for Failover.After only.
func (r *run) judge() error {
	files, err := filepath.Glob(filepath.Join(r.dir, "*"+callsExtension))
	if err != nil {
		return fmt.Errorf("find calls: %w", err)
	}
	for _, path := range files {
		if err := r.judgeFile(path); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) judgeFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c order.Call
		if json.Unmarshal(lines.Bytes(), &c) != nil {
			continue // cut short by a kill
		}
		if err := r.judgeCall(c); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (r *run) judgeCall(c order.Call) error {
	ended := c.Began.Add(c.Took)
	took := c.Took
	for _, cl := range r.clients {
		took -= cl.wasFrozen(c.Process, c.Began, ended)
	}
	if c.Err == "" && took < slow {
		return nil // it was frozen
	}
	return r.ledger.Call(ledger.Call{
		Process: c.Process, Source: c.Source, Began: c.Began, Took: max(took, 0), Err: strings.ReplaceAll(c.Err, "\n", "; "), Allowed: r.allowed(c)})
}

// allowed reports whether the documents allow a call to fail, or to take long.
func (r *run) allowed(c order.Call) bool {
	affected := r.health.affected(c.Process, c.Began, c.Began.Add(c.Took))
	all := affected == len(r.servers)
	switch {
	case c.Err == "":
		return all
	case c.Source == order.JobFacade:
		return c.NoWorker && (affected > 0 || r.young(c))
	case c.Source == "open worker":
		return true // there may be no number: servers that were restarted keep theirs back
	case c.Source == order.JobWorker:
		return over(c)
	default:
		return all
	}
}

// youth is how long a process may take to find a lease, on a busy machine.
const youth = 15 * time.Second

// young reports whether the process of a call had just begun.
func (r *run) young(c order.Call) bool {
	return slices.ContainsFunc(r.clients, func(cl *client) bool { return cl.startedWithin(youth, c.Process, c.Began) })
}

// over reports whether a worker's lease was over, for which there are good reasons:
// its server was away for longer than the lease, or has forgotten it, or the state
// file's mark was not moved while the process was frozen.
func over(c order.Call) bool {
	return strings.Contains(c.Err, "lease of worker number") || strings.Contains(c.Err, "lease lost")
}
