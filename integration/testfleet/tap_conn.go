package testfleet

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A tapConn is one client's connection through the tap. The protocol is half
// duplex: the client sends a command when it has read the whole reply to the
// last one. So whatever the server sends after a command was forwarded belongs
// to that command.
type tapConn struct {
	tap            *tap
	id             int
	client, server net.Conn
	opaque         atomic.Bool // TLS or compression: bytes are copied unread

	prepared map[uint32]string // SQL by statement number; guarded by mu

	mu        sync.Mutex
	cutReply  []*cut // to be cut by when the next byte arrives from the server
	preparing string // SQL of the COM_STMT_PREPARE that is not answered yet
	reply     []byte // beginning of the answer to it
}

// reset breaks the connection on both sides.
func (c *tapConn) reset() {
	abort(c.client)
	_ = c.server.Close()
}

// copyCommands passes on what the client sends until either side ends.
func (c *tapConn) copyCommands() {
	defer c.server.Close() //nolint:errcheck // nothing was buffered
	defer c.client.Close() //nolint:errcheck // same
	r := bufio.NewReader(c.client)
	var p packet
	for first := true; ; first = false {
		var err error
		if p, err = readPacket(r, p); err != nil {
			return
		}
		if first && p.isOpaque() {
			c.copyOpaque(r, p)
			return
		}
		if p.isCommand() && !c.command(p.payload()) {
			return
		}
		if _, err := c.server.Write(p); err != nil {
			return
		}
	}
}

// copyOpaque passes on p and the rest without looking at it.
func (c *tapConn) copyOpaque(r *bufio.Reader, p packet) {
	c.opaque.Store(true)
	c.tap.journal.add(Statement{Conn: c.id, Command: Opaque, At: time.Now()})
	if _, err := c.server.Write(p); err == nil {
		_, _ = r.WriteTo(c.server) // either side may end it
	}
}

// command notes a command before it is passed on, and reports false if the
// connection was cut instead.
func (c *tapConn) command(payload []byte) bool {
	s := c.statement(payload)
	c.tap.journal.add(s)
	if !s.executes() {
		return true
	}
	hits := c.tap.match(s.Query)
	if anyBefore(hits) {
		done(hits)
		c.reset()
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutReply = hits
	return true
}

// statement turns the payload of a command into a Statement.
func (c *tapConn) statement(payload []byte) Statement {
	s := Statement{Conn: c.id, Command: commandName(payload[0]), At: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s.Command {
	case ComQuery, ComInitDB:
		s.Query = string(payload[1:])
	case ComPrepare:
		s.Query = string(payload[1:])
		c.preparing, c.reply = s.Query, nil
	case ComExecute, ComBulkExecute:
		if id, ok := statementID(payload); ok {
			s.Query = c.prepared[id]
		}
	case ComClose:
		if id, ok := statementID(payload); ok {
			delete(c.prepared, id)
		}
	}
	return s
}

// copyReplies passes on what the server sends until either side ends.
func (c *tapConn) copyReplies() {
	defer c.server.Close() //nolint:errcheck // nothing was buffered
	defer c.client.Close() //nolint:errcheck // same
	buf := make([]byte, 16<<10)
	for {
		n, err := c.server.Read(buf)
		if n > 0 && !c.opaque.Load() && !c.replied(buf[:n]) {
			return
		}
		if n > 0 {
			if _, err := c.client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// replied looks at bytes of a reply before they are passed on, and reports
// false if the connection was cut instead.
func (c *tapConn) replied(data []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cutReply) > 0 {
		done(c.cutReply)
		c.reset()
		return false
	}
	if c.preparing != "" {
		c.reply = append(c.reply, data[:min(len(data), preparedReply-len(c.reply))]...)
		if len(c.reply) == preparedReply {
			if id, ok := preparedID(c.reply); ok {
				c.prepared[id] = c.preparing
			}
			c.preparing = ""
		}
	}
	return true
}
