package bench

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// passage says what a gate does with connections.
type passage int

const (
	open    passage = iota // nothing
	refused                // closes them, and refuses new ones
	silent                 // lets nothing back from the servers, and new ones hang
)

// gate is what the connections of one client run through, so that the client can
// be cut off from servers that stay as they are. It starts open, and has no
// goroutine. All methods are safe for concurrent use.
type gate struct {
	mu      sync.Mutex // guards all below; never held across I/O
	passage passage
	changed chan struct{} // closed when passage changes
	conns   map[*gated]struct{}
}

func newGate() *gate {
	return &gate{changed: make(chan struct{}), conns: map[*gated]struct{}{}}
}

// through returns copies of the servers whose connections run through the gate.
func (g *gate) through(servers []*mysql.Config) []*mysql.Config {
	through := make([]*mysql.Config, len(servers))
	for i, s := range servers {
		c := s.Clone()
		dial := c.DialFunc
		if dial == nil {
			var d net.Dialer
			dial = d.DialContext
		}
		c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return g.dial(ctx, network, addr, dial)
		}
		through[i] = c
	}
	return through
}

// set changes what the gate does. Connections made before are closed when it
// refuses; those that were silent go on when it opens.
func (g *gate) set(p passage) {
	g.mu.Lock()
	g.passage = p
	close(g.changed)
	g.changed = make(chan struct{})
	var cut []*gated
	if p == refused {
		for c := range g.conns {
			c.reset = true
			cut = append(cut, c)
		}
	}
	g.mu.Unlock()
	for _, c := range cut {
		_ = c.Conn.Close() // ends reads under way; the client closes it once more
	}
}

func (g *gate) dial(ctx context.Context, network, addr string, dial func(context.Context, string, string) (net.Conn, error)) (net.Conn, error) {
	if err := g.pass(ctx.Done(), nil, time.Time{}); err != nil {
		if errors.Is(err, errGone) {
			err = ctx.Err()
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	conn, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &gated{Conn: conn, gate: g, closed: make(chan struct{})}
	g.mu.Lock()
	late := g.passage == refused
	if !late {
		g.conns[c] = struct{}{}
	}
	g.mu.Unlock()
	if late {
		return nil, errors.Join(&net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}, conn.Close())
	}
	return c, nil
}

// errGone says that nobody waits any more.
var errGone = errors.New("bench: gone")

// pass waits while the gate is silent, and returns why one may not pass: refused,
// one of the channels closed, or the deadline over.
func (g *gate) pass(done, closed <-chan struct{}, deadline time.Time) error {
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	for {
		g.mu.Lock()
		p, changed := g.passage, g.changed
		g.mu.Unlock()
		switch p {
		case open:
			return nil
		case refused:
			return syscall.ECONNREFUSED
		case silent:
		}
		select {
		case <-changed:
		case <-done:
			return errGone
		case <-closed:
			return net.ErrClosed
		case <-late:
			return os.ErrDeadlineExceeded
		}
	}
}

// gated is a connection that runs through a gate.
type gated struct {
	net.Conn
	gate   *gate
	once   sync.Once
	closed chan struct{} // by its owner

	reset    bool // by the gate, whose mu guards this and deadline
	deadline time.Time
}

// Read reads. What arrives while the gate is silent is kept until it opens.
func (c *gated) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.gate.mu.Lock()
	deadline := c.deadline
	c.gate.mu.Unlock()
	if why := c.gate.pass(nil, c.closed, deadline); why != nil && !errors.Is(why, syscall.ECONNREFUSED) {
		return 0, &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: why}
	}
	if c.wasReset() {
		return 0, c.resetError("read")
	}
	return n, err
}

// Write writes: what is sent while the gate is silent arrives, and the reply does
// not, which is the worse case for whoever reserves something.
func (c *gated) Write(p []byte) (int, error) {
	if c.wasReset() {
		return 0, c.resetError("write")
	}
	return c.Conn.Write(p)
}

// SetDeadline and SetReadDeadline are kept for reads that the gate holds back.
func (c *gated) SetDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline is for reads.
func (c *gated) SetReadDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *gated) keep(t time.Time) {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.deadline = t
}

func (c *gated) wasReset() bool {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	return c.reset
}

// resetError is what a connection returns that the other side has closed.
func (c *gated) resetError(op string) error {
	return &net.OpError{Op: op, Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: syscall.ECONNRESET}
}

// Close closes the connection, and ends reads that the gate holds back.
func (c *gated) Close() error {
	c.once.Do(func() { close(c.closed) })
	c.gate.mu.Lock()
	delete(c.gate.conns, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
