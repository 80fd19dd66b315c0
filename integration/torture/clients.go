package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/oddeven/oddeven/integration/torture/order"
)

// client is a client process, and the ones that took its place after it was killed.
type client struct {
	number int // from 0
	run    *run
	use    chan struct{} // held by the fault of the client, if there is one

	mu      sync.Mutex // guards all below
	starts  int
	cmd     *exec.Cmd
	input   io.WriteCloser
	ended   chan struct{} // closed when the process is gone and its output read
	process string        // its name
	since   time.Time     // when it was started, or let go on
	frozen  bool
	first   bool // it has issued since
	last    order.Status
	issued  int64 // by the processes before
	wanted  bool  // that it runs: if it ends, something is wrong
	freezes []span
	began   map[string]time.Time // by process, all there were
	step    int64                // of its clock
}

// span is a time in which a process was frozen.
type span struct {
	process    string
	from, till time.Time
}

func (r *run) newClient(number int) *client {
	return &client{number: number, run: r, use: make(chan struct{}, 1), began: map[string]time.Time{}}
}

// start starts the process anew.
func (c *client) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts++
	c.process = fmt.Sprintf("c%d.%d", c.number+1, c.starts)
	text, err := json.Marshal(c.run.order(c.number, c.process, c.step))
	if err != nil {
		return fmt.Errorf("order of client %s: %w", c.process, err)
	}
	cmd := exec.Command(c.run.binary) //nolint:noctx // it is ended in order, or killed
	log, err := os.OpenFile(filepath.Join(c.run.dir, clientsLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer log.Close() //nolint:errcheck // the process has its own
	cmd.Stderr = log
	cmd.SysProcAttr = withDriver()
	input, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start client: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start client: %w", err)
	}
	c.ended = make(chan struct{})
	started := make(chan error, 1)
	go c.watch(cmd, output, c.process, started, c.ended)
	if err := <-started; err != nil {
		return fmt.Errorf("start client: %w", err)
	}
	if _, err := input.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("order to client %s: %w", c.process, err)
	}
	c.issued += c.last.IDs
	c.began[c.process] = time.Now()
	c.cmd, c.input, c.since, c.last, c.frozen, c.first, c.wanted = cmd, input, time.Now(), order.Status{}, false, false, true
	return nil
}

// watch starts the process, reads what it says, and waits for its end. Its thread
// lives as long as the process, which the kernel would kill otherwise.
func (c *client) watch(cmd *exec.Cmd, output io.Reader, process string, started chan<- error, ended chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(ended)
	err := cmd.Start()
	started <- err
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var st order.Status
		if json.Unmarshal(lines.Bytes(), &st) != nil {
			continue // cut short by a kill
		}
		c.mu.Lock()
		if c.process == process {
			c.last, c.first = st, c.first || st.IDs > 0
		}
		c.mu.Unlock()
		c.run.health.saw(process, st.Seen)
	}
	err = cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wanted && c.process == process {
		c.run.find("client %s ended by itself: %v; see clients.log", process, err)
	}
}

// kill ends it as a crash does.
func (c *client) kill() error {
	c.mu.Lock()
	c.wanted = false
	cmd, ended := c.cmd, c.ended
	c.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill client: %w", err)
	}
	<-ended
	return nil
}

// freeze stops it where it is, until thaw.
func (c *client) freeze() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
	c.freezes = append(c.freezes, span{process: c.process, from: time.Now()})
	return c.cmd.Process.Signal(syscall.SIGSTOP)
}

func (c *client) thaw() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.frozen {
		return nil
	}
	c.frozen, c.since = false, time.Now()
	c.freezes[len(c.freezes)-1].till = c.since
	return c.cmd.Process.Signal(syscall.SIGCONT)
}

// clock makes its wall clock wrong by so many seconds, also after a restart.
func (c *client) clock(seconds int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = seconds
	_, err := fmt.Fprintf(c.input, "%s %d\n", order.Clock, seconds)
	return err
}

// stopWithin bounds the end of a client: closing waits for the release of leases.
const stopWithin = 30 * time.Second

// stop ends it in order.
func (c *client) stop() error {
	c.mu.Lock()
	c.wanted = false
	process, ended := c.process, c.ended
	_, err := fmt.Fprintln(c.input, order.Stop)
	c.mu.Unlock()
	if err != nil {
		return errors.Join(fmt.Errorf("stop client %s: %w", process, err), c.kill())
	}
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case <-ended:
		if state := c.cmd.ProcessState; !state.Success() {
			c.run.find("client %s ended with %s; see clients.log", process, state)
		}
		return nil
	case <-timer.C:
		c.run.find("client %s did not stop within %s", process, stopWithin)
		return c.kill()
	}
}

// sees is what it has seen; false if it does not run, or stands still.
func (c *client) sees() (seenBy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.wanted || c.frozen || len(c.last.Seen) == 0 {
		return seenBy{}, false
	}
	return seenBy{since: c.since, seen: c.last.Seen}, true
}

// issues reports whether it has issued since it was started.
func (c *client) issues() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

// startedWithin reports whether a process was started no more than d before a moment.
func (c *client) startedWithin(d time.Duration, process string, moment time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	began, mine := c.began[process]
	return mine && moment.Sub(began) <= d
}

// total is how many IDs it has said that it issued.
func (c *client) total() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.issued + c.last.IDs
}

// wasFrozen is for how long of a call the process was frozen.
func (c *client) wasFrozen(process string, began, ended time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var frozen time.Duration
	for _, f := range c.freezes {
		till := f.till
		if till.IsZero() {
			till = time.Now()
		}
		if f.process == process {
			if d := earlier(till, ended).Sub(later(f.from, began)); d > 0 {
				frozen += d
			}
		}
	}
	return frozen
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// running reports whether there is a process.
func (c *client) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wanted
}
