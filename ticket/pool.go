package ticket

import (
	"context"
	"database/sql"
	"errors"

	"github.com/oddeven/oddeven/internal/mysqlerr"
)

const (
	// stubsPerConn is how many rows of the tickets table one connection
	// replaces: the most tickets that one statement draws.
	stubsPerConn = 64
	// blocks bounds the stub rows of a server, over all clients and for ever: a
	// connection has the block of its slot, and slots start at random.
	blocks = 1024
)

// pool holds the verified connections to one server. database/sql has a pool
// too, but its connections come and go unseen; here each has proved what it is
// connected to, and owns a block of stubs.
type pool struct {
	connect func(ctx context.Context, stub int64) (*Conn, error)
	slots   chan int64 // the first stub of every connection that is not open
	idle    chan *Conn // open, used by nobody
}

func newPool(size int, first int64, connect func(context.Context, int64) (*Conn, error)) *pool {
	p := &pool{connect: connect, slots: make(chan int64, size), idle: make(chan *Conn, size)}
	for i := range int64(size) {
		p.slots <- 1 + (first+i)%blocks*stubsPerConn
	}
	return p
}

// run hands a connection to f and takes it back, or closes it after an error
// that leaves its state in doubt. stale says that the connection had been used
// before, so that a broken one may have been broken for a while.
func (p *pool) run(ctx context.Context, f func(context.Context, *Conn) error) (stale bool, err error) {
	c, err := p.acquire(ctx)
	if err != nil {
		return false, err
	}
	stale = c.used
	c.used = true
	kept := false
	defer func() { // also when f panics
		if !kept {
			p.discard(c)
		}
	}()
	err = f(ctx, c)
	if sound(ctx, err) {
		kept = true
		p.idle <- c // has room: never more connections than slots
	}
	return stale, err
}

// sound reports whether a connection is as good as before after err: the server
// refused a statement, or what was read was not to f's liking. Everything else
// may have cut a statement short.
func sound(ctx context.Context, err error) bool {
	if err == nil {
		return true
	}
	if ctx.Err() != nil || broken(err) || errors.Is(err, errChanged) || errors.Is(err, ErrScheme) {
		return false
	}
	_, deliberate := errors.AsType[*ServerError](err)
	return deliberate || mysqlerr.Number(err) != 0 || errors.Is(err, sql.ErrNoRows)
}

// acquire returns an idle connection, or makes one if a slot is free, or waits.
func (p *pool) acquire(ctx context.Context) (*Conn, error) {
	select {
	case c := <-p.idle:
		return c, nil
	default:
	}
	select {
	case c := <-p.idle:
		return c, nil
	case stub := <-p.slots:
		c, err := p.connect(ctx, stub)
		if err != nil {
			p.slots <- stub
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// discard closes a connection for good and gives its slot back.
func (p *pool) discard(c *Conn) {
	_ = c.close() // nothing is pending on it
	p.slots <- c.stub
}

// drop discards the connections that nobody uses.
func (p *pool) drop() {
	for {
		select {
		case c := <-p.idle:
			p.discard(c)
		default:
			return
		}
	}
}
