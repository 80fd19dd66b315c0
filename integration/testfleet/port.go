package testfleet

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Servers and proxies give up their ports and take them again (a killed server
// refuses connections). So their ports must lie outside the range from which
// the kernel takes ports for outgoing connections: 32768 and up on Linux.
// Server processes choose theirs from 15000 (package localserver).
const (
	minPort   = 10000
	maxPort   = 15000
	portTries = 100
)

// choosePort returns a port of 127.0.0.1 on which nobody listens now.
func choosePort() (int, error) {
	for range portTries {
		port := minPort + rand.IntN(maxPort-minPort)
		l, err := net.Listen("tcp4", localAddr(port)) //nolint:noctx // a literal address: nothing to wait for
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return 0, fmt.Errorf("choose port: %w", err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("choose port: none of %d ports between %d and %d is free", portTries, minPort, maxPort)
}

// localAddr returns the address of a port on this host.
func localAddr(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
