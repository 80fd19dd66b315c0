package testfleet

import (
	"slices"
	"sync"
	"time"
)

// A Statement is one command that a client sent through the proxy of a server.
type Statement struct {
	Conn    int     // number of the connection, from 1, in order of connecting
	Command Command // such as ComQuery
	Query   string  // its SQL, for ComQuery, ComPrepare and ComExecute; the database for ComInitDB
	At      time.Time
}

// executes reports whether the command runs SQL.
func (s Statement) executes() bool {
	return s.Command == ComQuery || s.Command == ComExecute || s.Command == ComBulkExecute
}

// Statements is a log of commands, oldest first.
type Statements []Statement

// Of returns those that are one of the given commands.
func (l Statements) Of(commands ...Command) Statements {
	return l.filter(func(s Statement) bool { return slices.Contains(commands, s.Command) })
}

// Executed returns those that run SQL: ComQuery and ComExecute.
func (l Statements) Executed() Statements { return l.filter(Statement.executes) }

// Matching returns those that run SQL for which match reports true.
func (l Statements) Matching(match func(query string) bool) Statements {
	return l.filter(func(s Statement) bool { return s.executes() && match(s.Query) })
}

// Queries returns the SQL of each.
func (l Statements) Queries() []string {
	queries := make([]string, len(l))
	for i, s := range l {
		queries[i] = s.Query
	}
	return queries
}

// Conns returns the numbers of the connections they came on, each once.
func (l Statements) Conns() []int {
	var conns []int
	for _, s := range l {
		if !slices.Contains(conns, s.Conn) {
			conns = append(conns, s.Conn)
		}
	}
	return conns
}

func (l Statements) filter(keep func(Statement) bool) Statements {
	var kept Statements
	for _, s := range l {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Limits of a journal, so that tests under load don't fill the memory.
const (
	journalLength = 1 << 15 // statements
	journalQuery  = 2 << 10 // bytes of SQL of each
)

// A journal keeps the most recent statements since a mark and counts all.
type journal struct {
	mu    sync.Mutex
	log   []Statement // a ring once it is full
	next  int         // where the ring continues
	count int         // that run SQL, since the mark
}

// add notes a statement.
func (j *journal) add(s Statement) {
	if len(s.Query) > journalQuery {
		s.Query = s.Query[:journalQuery]
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.executes() {
		j.count++
	}
	if len(j.log) < journalLength {
		j.log = append(j.log, s)
		return
	}
	j.log[j.next] = s
	j.next = (j.next + 1) % journalLength
}

// mark forgets everything up to now.
func (j *journal) mark() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log, j.next, j.count = nil, 0, 0
}

// since returns a copy of what came after the mark, oldest first.
func (j *journal) since() Statements {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append(slices.Clone(j.log[j.next:]), j.log[:j.next]...)
}

// executed returns how many statements ran SQL since the mark.
func (j *journal) executed() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count
}
