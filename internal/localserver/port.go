package localserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Ports are chosen from this range, half open. It lies below the range from
// which systems take the local ports of outgoing connections (Linux 32768,
// macOS 49152 and up). A port in that range could be taken by somebody's
// connection while the server is down, and a client that keeps dialling a dead
// port of 127.0.0.1 in that range may even end up connected to itself.
const (
	minPort = 15000
	maxPort = 32000
)

// portTries is how many ports are tried before giving up.
const portTries = 100

// choosePort returns a port that is free now.
func choosePort() (int, error) {
	for range portTries {
		port := minPort + rand.IntN(maxPort-minPort)
		taken, err := portTaken(port)
		if err != nil {
			return 0, err
		}
		if !taken {
			return port, nil
		}
	}
	return 0, fmt.Errorf("choose port: none of %d ports between %d and %d is free", portTries, minPort, maxPort)
}

// portTaken reports whether somebody listens on the port.
func portTaken(port int) (bool, error) {
	l, err := net.Listen("tcp4", address(port)) //nolint:noctx // a literal address: nothing to wait for
	if errors.Is(err, syscall.EADDRINUSE) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("probe port: %w", err)
	}
	return false, l.Close()
}

// requireFree returns a [*PortInUseError] if somebody listens on the port.
func requireFree(port int) error {
	taken, err := portTaken(port)
	if err == nil && taken {
		err = &PortInUseError{Port: port}
	}
	return err
}

// address returns the address servers listen on.
func address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// readPort returns the port remembered in a file; 0 if there is no such file.
func readPort(path string) (int, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read port: %w", err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("read port: file %s holds %q, not a port", path, shorten(string(text)))
	}
	return int(port), nil
}

// writePort remembers the port in a file.
func writePort(path string, port int) error {
	if err := writeFile(path, strconv.Itoa(port)+"\n"); err != nil {
		return fmt.Errorf("write port: %w", err)
	}
	return nil
}
