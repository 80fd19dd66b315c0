package testfleet

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// A tap is a proxy in front of one server that reads along in the MySQL
// protocol. It notes every command, and it can cut a connection at a chosen
// statement: before the statement reaches the server, or after the server has
// carried it out and before a byte of its reply gets back.
//
// It listens on a fixed port of 127.0.0.1 that lies outside the range of
// outgoing connections, so that it can stop listening ("connection refused")
// and take the same port again.
type tap struct {
	addr    string // where clients connect
	journal journal

	wg sync.WaitGroup // the accept loop and two goroutines per connection

	mu       sync.Mutex // guards the fields below; no I/O under it but closing
	upstream string     // where the bytes of new connections go
	listener net.Listener
	conns    map[*tapConn]struct{}
	lastConn int
	cuts     []*cut
}

// newTap returns a tap that listens.
func newTap(upstream string) (*tap, error) {
	t := &tap{upstream: upstream, conns: make(map[*tapConn]struct{})}
	for range portTries {
		port, err := choosePort()
		if err != nil {
			return nil, err
		}
		t.addr = localAddr(port)
		if err := t.listen(); err == nil {
			return t, nil
		}
	}
	return nil, errors.New("open proxy: no port to listen on")
}

// listen accepts connections from now on. No error if it does already.
func (t *tap) listen() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp4", t.addr) //nolint:noctx // a literal address: nothing to wait for
	if err != nil {
		return fmt.Errorf("open proxy: %w", err)
	}
	t.listener = l
	t.wg.Go(func() { t.accept(l) })
	return nil
}

// refuse stops listening and resets every connection.
func (t *tap) refuse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listener != nil {
		_ = t.listener.Close() // the port is free again whatever it says
		t.listener = nil
	}
	for c := range t.conns {
		c.reset()
	}
}

// reset breaks every connection there is.
func (t *tap) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		c.reset()
	}
}

// lead makes the tap lead elsewhere, and breaks the connections there are.
func (t *tap) lead(upstream string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.upstream = upstream
	for c := range t.conns {
		c.reset()
	}
}

// target is where a new connection leads.
func (t *tap) target() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.upstream
}

// close ends everything and returns when all goroutines have ended.
func (t *tap) close() {
	t.refuse()
	t.wg.Wait()
}

// accept serves connections until the listener is closed.
func (t *tap) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		t.wg.Go(func() { t.serve(l, client) })
	}
}

// serve connects one client to the server and copies until either side ends.
func (t *tap) serve(l net.Listener, client net.Conn) {
	upstream := t.target()
	server, err := net.Dial("tcp4", upstream) //nolint:noctx // our own listener, on this host
	if err != nil {
		abort(client)
		return
	}
	c, ok := t.admit(l, upstream, client, server)
	if !ok {
		abort(client)
		_ = server.Close()
		return
	}
	t.wg.Go(c.copyReplies)
	c.copyCommands()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// admit registers a connection, unless the listener it came from was closed
// in the meantime, or leads elsewhere now.
func (t *tap) admit(l net.Listener, upstream string, client, server net.Conn) (*tapConn, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listener != l || t.upstream != upstream {
		return nil, false
	}
	t.lastConn++
	c := &tapConn{tap: t, id: t.lastConn, client: client, server: server, prepared: make(map[uint32]string)}
	t.conns[c] = struct{}{}
	return c, true
}

// abort closes a connection with a reset, so that the peer sees a broken
// connection and not an orderly end.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only if the connection is gone already
	}
	_ = c.Close()
}
