package testfleet_test

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// greeter accepts connections and says its name, as a server says who it is.
func greeter(t *testing.T, name string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // a literal address: nothing to wait for
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, name)
			defer conn.Close() //nolint:errcheck // the proxy ends it
		}
	}()
	t.Cleanup(func() { require.NoError(t, l.Close()); <-done })
	return l.Addr().String()
}

func TestProxyLeadsElsewhereWhenTold(t *testing.T) {
	t.Parallel()
	p, err := testfleet.NewProxy(greeter(t, "one"))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	dial := func() (net.Conn, error) { return net.Dial("tcp4", p.Addr()) } //nolint:noctx // on this host
	greeted := func(by string) net.Conn {
		conn, err := dial()
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		name := make([]byte, 3)
		_, err = io.ReadFull(conn, name)
		require.NoError(t, err)
		require.Equal(t, by, string(name))
		return conn
	}
	ended := func(conn net.Conn) {
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err)
	}
	first := greeted("one")
	require.NoError(t, p.Retarget(greeter(t, "two")))
	ended(first)
	second := greeted("two")
	p.Reset()
	ended(second)
	third := greeted("two")
	p.Refuse()
	ended(third)
	_, err = dial()
	require.Error(t, err)
	require.NoError(t, p.Listen())
	greeted("two")
}
