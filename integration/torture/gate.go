package main

import (
	"sync"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// Why a server's connections are refused.
const (
	gateDown = 1 << iota // it is down
	gateCut              // the network is cut
)

// gate refuses connections as long as there is a reason to.
type gate struct {
	proxy *testfleet.Proxy

	mu      sync.Mutex
	reasons int
}

func (g *gate) shut(reason int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reasons |= reason
	g.proxy.Refuse()
}

func (g *gate) open(reason int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reasons &^= reason
	if g.reasons != 0 {
		return nil
	}
	return g.proxy.Listen()
}
