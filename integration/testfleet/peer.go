package testfleet

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/moby/moby/client"
)

// peerTimeout bounds the question for an address.
const peerTimeout = 30 * time.Second

// peerInstance is an instance that other servers reach at another address than we do.
type peerInstance interface {
	peerAddr(ctx context.Context) (string, error)
}

// PeerAddr returns host:port at which the other servers of the fleet reach this
// one, around the proxies: for replication.
func (s *Server) PeerAddr() string {
	s.fleet.t.Helper()
	p, ok := s.node.inst.(peerInstance)
	if !ok {
		return s.node.inst.addr()
	}
	ctx, cancel := context.WithTimeout(s.fleet.t.Context(), peerTimeout)
	defer cancel()
	addr, err := p.peerAddr(ctx)
	if err != nil {
		s.fleet.t.Fatalf("testfleet: %s: find its address: %v", s.Name, err)
	}
	return addr
}

// peerAddr is the container's own address, on the engine's network.
func (i *dockerInstance) peerAddr(ctx context.Context) (string, error) {
	found, err := i.source.client.ContainerInspect(ctx, i.id, client.ContainerInspectOptions{})
	if err != nil {
		return "", fmt.Errorf("inspect container: %w", err)
	}
	for _, network := range found.Container.NetworkSettings.Networks {
		if network.IPAddress.IsValid() {
			return net.JoinHostPort(network.IPAddress.String(), "3306"), nil
		}
	}
	return "", fmt.Errorf("container %s has no address", i.id)
}
