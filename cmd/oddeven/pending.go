package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/dsn"
)

// pending knows which servers owe an answer. It looks at the connections
// themselves, so it is right whichever package uses them. Safe for concurrent use.
type pending struct {
	mu     sync.Mutex
	labels []string       // in the order given
	owed   map[string]int // answers, by label; connections being made count
}

// watch makes the connections of a configuration known to it. It keeps a
// DialFunc that is there.
func (p *pending) watch(cfg *mysql.Config) {
	label, dial := dsn.Label(cfg), cfg.DialFunc
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	p.mu.Lock()
	p.labels = append(p.labels, label)
	p.mu.Unlock()
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		p.add(label, 1)
		conn, err := dial(ctx, network, addr)
		if err != nil {
			p.add(label, -1)
			return nil, err
		}
		if _, ok := conn.(syscall.Conn); !ok {
			p.add(label, -1) // the driver would take a watched one for dead
			return conn, nil
		}
		return &watchedConn{Conn: conn, owes: true, add: func(n int) { p.add(label, n) }}, nil // the server speaks first
	}
}

func (p *pending) add(label string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed == nil {
		p.owed = map[string]int{}
	}
	p.owed[label] += n
}

// servers are those that owe an answer.
func (p *pending) servers() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	seen := map[string]bool{}
	for _, label := range p.labels {
		if p.owed[label] > 0 && !seen[label] {
			all = append(all, label)
		}
		seen[label] = true
	}
	return all
}

// watchedConn owes an answer from a Write to the next Read that brings something.
type watchedConn struct {
	net.Conn
	add  func(int)
	mu   sync.Mutex
	owes bool
}

func (c *watchedConn) set(owes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owes == owes {
		return
	}
	c.owes = owes
	if owes {
		c.add(1)
	} else {
		c.add(-1)
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.set(false)
	}
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.set(true)
	return c.Conn.Write(p)
}

func (c *watchedConn) Close() error {
	c.set(false)
	return c.Conn.Close()
}

// SyscallConn lets the driver see whether an idle connection is still alive.
func (c *watchedConn) SyscallConn() (syscall.RawConn, error) {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.New("the connection has no file descriptor")
	}
	return conn.SyscallConn()
}
