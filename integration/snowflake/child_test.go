package snowflake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// childEnv makes this program a process that leases a number and draws.
const childEnv = "ODDEVEN_TEST_LEASE"

// order is what such a process is told.
type order struct {
	DSNs      []string
	Lease     time.Duration
	StateFile string
}

// work is what it does: it prints its worker number and then an ID every
// millisecond, until there are none. It never closes the worker.
func work(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return clienttest.Report(err)
	}
	var fleet *ticket.Fleet
	if len(o.DSNs) > 0 {
		var err error
		if fleet, err = dial(o.DSNs); err != nil {
			return clienttest.Report(err)
		}
	}
	w, err := snowflake.Open(context.Background(), fleet, snowflake.Config{Lease: o.Lease, StateFile: o.StateFile})
	if err != nil {
		return clienttest.Report(err)
	}
	fmt.Fprintf(os.Stdout, "number %d\n", w.Stats().Number)
	tick := time.NewTicker(time.Millisecond)
	for {
		id, err := w.Next(context.Background())
		if err != nil {
			return clienttest.Report(err)
		}
		fmt.Fprintf(os.Stdout, "%d\n", id)
		<-tick.C
	}
}

func dial(dsns []string) (*ticket.Fleet, error) {
	cfg := ticket.Config{Timeout: clienttest.Timeout, Conns: 2}
	for _, dsn := range dsns {
		c, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, err
		}
		cfg.Servers = append(cfg.Servers, c)
	}
	return ticket.Open(context.Background(), cfg)
}

// child is such a process, seen from the test.
type child struct {
	*clienttest.Child
	t testing.TB

	mu     sync.Mutex
	number int64  // -1 until it has one
	drawn  int    // IDs
	err    string // why it ended; empty if it was killed
}

// spawn starts a process whose IDs go to the ledger.
func (l *ledger) spawn(t testing.TB, o order) *child {
	t.Helper()
	c := &child{t: t, number: -1}
	c.Child = clienttest.Spawn(t, childEnv, o, func(line string) { c.read(l, line) })
	return c
}

func (c *child) read(l *ledger, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := strings.CutPrefix(line, "number "); ok {
		c.number, _ = strconv.ParseInt(text, 10, 64)
	} else if text, ok := clienttest.ReadError(line); ok {
		c.err = text
	} else if id, err := strconv.ParseInt(line, 10, 64); err == nil {
		l.add(id)
		c.drawn++
	}
}

// count is how many IDs it has drawn.
func (c *child) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drawn
}

// working waits until it has drawn so many more IDs, and returns its number.
func (c *child) working(more int) int64 {
	c.t.Helper()
	from := c.count()
	clienttest.Until(c.t, "IDs of a process", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Empty(c.t, c.err)
		return c.drawn >= from+more
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.number
}

// ended waits until it has ended by itself, and returns why.
func (c *child) ended() string {
	c.t.Helper()
	c.RequireEnd()
	return c.err
}

// requireRefused checks that it ends, for the reason given, without an ID.
func (c *child) requireRefused(why string) {
	c.t.Helper()
	clienttest.Until(c.t, "a refusal", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Zero(c.t, c.drawn)
		return c.err != ""
	})
	require.Contains(c.t, c.ended(), why)
}
