package bench

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// echo is a server that sends back what it gets, until the test ends.
func echo(t *testing.T) *mysql.Config {
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		<-ended
	})
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "tcp", l.Addr().String()
	return cfg
}

func dialThrough(t *testing.T, g *gate, cfg *mysql.Config) (net.Conn, error) {
	through := g.through([]*mysql.Config{cfg})[0]
	return through.DialFunc(t.Context(), cfg.Net, cfg.Addr)
}

func connect(t *testing.T, g *gate, cfg *mysql.Config) net.Conn {
	c, err := dialThrough(t, g, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	requireEcho(t, c)
	return c
}

func requireEcho(t *testing.T, c net.Conn) {
	_, err := c.Write([]byte("hello"))
	require.NoError(t, err)
	got := make([]byte, 5)
	_, err = io.ReadFull(c, got)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
}

func TestGateRefuses(t *testing.T) {
	t.Parallel()
	g, cfg := newGate(), echo(t)
	c := connect(t, g, cfg)
	reading := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		reading <- err
	}()
	g.set(refused)
	require.ErrorIs(t, <-reading, syscall.ECONNRESET, "a read under way ends")
	_, err := c.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	_, err = dialThrough(t, g, cfg)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	g.set(open)
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET, "what was closed stays so")
	connect(t, g, cfg)
	require.Nil(t, cfg.DialFunc, "the caller's configuration is not touched")
}

func TestGateKeepsRepliesBack(t *testing.T) {
	t.Parallel()
	g, cfg := newGate(), echo(t)
	c := connect(t, g, cfg)
	g.set(silent)
	_, err := c.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
	_, err = c.Read(make([]byte, 5))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	other := connectSilently(t, g, cfg)
	reading := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(other, make([]byte, 5))
		reading <- err
	}()
	g.set(open)
	require.NoError(t, <-reading, "and lets them through later")
	requireEcho(t, other)
}

// connectSilently returns a connection with a reply that the gate keeps back.
func connectSilently(t *testing.T, g *gate, cfg *mysql.Config) net.Conn {
	g.set(open)
	c := connect(t, g, cfg)
	g.set(silent)
	_, err := c.Write([]byte("later"))
	require.NoError(t, err)
	return c
}

func TestGateEndsWaitsOfThoseWhoLeave(t *testing.T) {
	t.Parallel()
	g, cfg := newGate(), echo(t)
	c := connectSilently(t, g, cfg)
	reading := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		reading <- err
	}()
	require.NoError(t, c.Close())
	require.ErrorIs(t, <-reading, net.ErrClosed)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.through([]*mysql.Config{cfg})[0].DialFunc(ctx, cfg.Net, cfg.Addr)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, g.conns)
}

func TestGateUsesTheDialFunctionOfTheCaller(t *testing.T) {
	t.Parallel()
	g, cfg := newGate(), echo(t)
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return nil, os.ErrPermission }
	_, err := dialThrough(t, g, cfg)
	require.ErrorIs(t, err, os.ErrPermission)
}
