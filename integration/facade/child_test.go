package facade_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/clienttest"
)

// childEnv makes this program a process that draws.
const childEnv = "ODDEVEN_TEST_FACADE"

// order is what such a process is told.
type order struct {
	DSNs      []string
	StateFile string
}

// work is what it does: it prints an ID every millisecond, for ever, and what goes
// wrong. It never closes its client.
func work(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return clienttest.Report(err)
	}
	cfg := oddeven.Config{DSNs: o.DSNs, Timeout: clienttest.Timeout, Conns: 2, Segment: small}
	cfg.Worker.StateFile = o.StateFile
	ctx := context.Background()
	c, err := oddeven.Open(ctx, cfg)
	if err != nil {
		return clienttest.Report(err)
	}
	if err := c.Ready(ctx); err != nil {
		return clienttest.Report(err)
	}
	g, err := c.Sequence(ctx, orders)
	if err != nil {
		return clienttest.Report(err)
	}
	tick := time.NewTicker(time.Millisecond)
	for {
		id, err := g.Next(ctx)
		if err != nil {
			return clienttest.Report(err)
		}
		fmt.Fprintf(os.Stdout, "%d\n", id)
		<-tick.C
	}
}

// child is such a process, seen from the test.
type child struct {
	*clienttest.Child
	t testing.TB

	mu    sync.Mutex
	drawn map[bool]int // IDs, by whether they are of the worker
	err   string       // why it ended; empty if it was killed
}

// spawn starts a process whose IDs go to the ledger.
func (l *ledger) spawn(t testing.TB, o order) *child {
	t.Helper()
	c := &child{t: t, drawn: map[bool]int{}}
	c.Child = clienttest.Spawn(t, childEnv, o, func(line string) { c.read(l, line) })
	return c
}

func (c *child) read(l *ledger, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := clienttest.ReadError(line); ok {
		c.err = text
	} else if id, err := strconv.ParseInt(line, 10, 64); err == nil {
		l.add(oddeven.ID(id))
		c.drawn[oddeven.ID(id) >= ceiling]++
	}
}

// working waits until it has drawn so many more IDs of a plane.
func (c *child) working(more int, of oddeven.Plane) {
	c.t.Helper()
	worker := of == oddeven.PlaneSnowflake
	c.mu.Lock()
	from := c.drawn[worker]
	c.mu.Unlock()
	clienttest.Until(c.t, "IDs of a process", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Empty(c.t, c.err)
		return c.drawn[worker] >= from+more
	})
}
