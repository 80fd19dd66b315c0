package facade_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
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
		return report(err)
	}
	cfg := oddeven.Config{DSNs: o.DSNs, Timeout: clienttest.Timeout, Conns: 2, Segment: small}
	cfg.Worker.StateFile = o.StateFile
	ctx := context.Background()
	c, err := oddeven.Open(ctx, cfg)
	if err != nil {
		return report(err)
	}
	if err := c.Ready(ctx); err != nil {
		return report(err)
	}
	g, err := c.Sequence(ctx, orders)
	if err != nil {
		return report(err)
	}
	tick := time.NewTicker(time.Millisecond)
	for {
		id, err := g.Next(ctx)
		if err != nil {
			return report(err)
		}
		fmt.Fprintf(os.Stdout, "%d\n", id)
		<-tick.C
	}
}

func report(err error) int {
	fmt.Fprintf(os.Stdout, "error %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	return 0
}

// child is such a process, seen from the test.
type child struct {
	t    testing.TB
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and everything is read

	mu    sync.Mutex
	drawn map[bool]int // IDs, by whether they are of the worker
	err   string       // why it ended; empty if it was killed
}

// spawn starts a process whose IDs go to the ledger.
func (l *ledger) spawn(t testing.TB, o order) *child {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{t: t, cmd: cmd, done: make(chan struct{}), drawn: map[bool]int{}}
	go func() {
		defer close(c.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.read(l, lines.Text())
		}
		_ = cmd.Wait() // killed, as a rule
	}()
	t.Cleanup(c.kill)
	return c
}

// read takes a line. One that was cut short by a kill is shorter than an ID of its
// plane can be compared with, and no ID that anybody got: it is left out.
func (c *child) read(l *ledger, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := strings.CutPrefix(line, "error "); ok {
		c.err = text
	} else if id, err := strconv.ParseInt(line, 10, 64); err == nil {
		l.add(oddeven.ID(id))
		c.drawn[oddeven.ID(id) >= ceiling]++
	}
}

// kill ends it as a crash does.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
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
