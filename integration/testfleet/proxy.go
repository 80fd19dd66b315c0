package testfleet

import (
	"context"
	"sync"
	"time"
)

// A Proxy is what stands between clients and one server: for programs that are
// no tests and run their servers themselves. Within a test take [Server], which
// has one. All methods are safe for concurrent use.
type Proxy struct {
	mu    sync.Mutex // held while faults are set, so that Retarget gets in between
	chain *chain
}

// NewProxy opens a proxy on a port of 127.0.0.1 to a server at upstream,
// host:port, which need not listen yet. Close it.
func NewProxy(upstream string) (*Proxy, error) {
	c, err := newChain(upstream)
	if err != nil {
		return nil, err
	}
	return &Proxy{chain: c}, nil
}

// Addr is host:port for clients. It stays the same.
func (p *Proxy) Addr() string { return p.chain.tap.addr }

// Retarget lets connections that come from now on lead to another server, and
// resets those there are. Faults of the network end.
func (p *Proxy) Retarget(upstream string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chain.retarget(upstream)
}

// Refuse resets all connections and refuses new ones until Listen.
func (p *Proxy) Refuse() { p.chain.tap.refuse() }

// Listen lets clients in again; no error if they are.
func (p *Proxy) Listen() error { return p.chain.tap.listen() }

// Reset breaks all connections there are; new ones are let in as before.
func (p *Proxy) Reset() { p.chain.tap.reset() }

// Latency delays every reply; see [Server.Latency].
func (p *Proxy) Latency(d, jitter time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chain.latency(d, jitter)
}

// Blackhole lets everything vanish; see [Server.Blackhole].
func (p *Proxy) Blackhole() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chain.blackhole()
}

// CutReply loses the reply of one statement; see [Server.CutReply].
func (p *Proxy) CutReply(match func(query string) bool) <-chan struct{} {
	return p.chain.tap.arm(false, match)
}

// Heal ends all faults of the network but Refuse, and disarms cuts.
func (p *Proxy) Heal(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chain.heal(ctx)
}

// Close ends all connections and returns when all goroutines have ended.
func (p *Proxy) Close() { p.chain.close() }
