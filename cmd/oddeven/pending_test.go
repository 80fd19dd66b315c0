package main

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// watched is a configuration that is watched, whose connections lead to a
// listener of the test.
func watched(t *testing.T, p *pending, addr string) *mysql.Config {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", addr, "oddeven"
	p.watch(cfg)
	return cfg
}

func TestPendingFollowsTheConversation(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	p := &pending{}
	cfg := watched(t, p, listener.Addr().String())
	label := cfg.Addr + "/oddeven"
	require.Empty(t, p.servers())

	conn, err := cfg.DialFunc(t.Context(), cfg.Net, cfg.Addr)
	require.NoError(t, err)
	server, err := listener.Accept()
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	require.Equal(t, []string{label}, p.servers(), "the server speaks first")
	answer := func() {
		_, err := server.Write([]byte("hello"))
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 5))
		require.NoError(t, err)
	}
	answer()
	require.Empty(t, p.servers())
	for range 2 {
		_, err = conn.Write([]byte("DO 1"))
		require.NoError(t, err)
		require.Equal(t, []string{label}, p.servers())
	}
	answer()
	require.Empty(t, p.servers())

	_, isSyscall := conn.(syscall.Conn)
	require.True(t, isSyscall, "the driver looks whether it is alive")
	_, err = conn.Write([]byte("quit"))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Empty(t, p.servers())
	require.Error(t, conn.Close())
	require.Empty(t, p.servers())
}

func TestPendingCountsServersThatCannotBeReached(t *testing.T) {
	t.Parallel()
	p := &pending{}
	two := watched(t, p, "127.0.0.1:2")
	watched(t, p, "127.0.0.1:1")
	during := []string(nil)
	cfg := mysql.NewConfig()
	cfg.Addr, cfg.DBName = "127.0.0.1:3", "oddeven"
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		during = p.servers()
		return nil, errors.New("no")
	}
	p.watch(cfg)
	_, err := cfg.DialFunc(t.Context(), "tcp", cfg.Addr)
	require.EqualError(t, err, "no", "a DialFunc of one's own is kept")
	require.Equal(t, []string{"127.0.0.1:3/oddeven"}, during)
	require.Empty(t, p.servers())

	_, err = two.DialFunc(t.Context(), "tcp", two.Addr)
	require.Error(t, err)
	require.Empty(t, p.servers())
}

// A connection that the driver cannot look at is left as it is.
func TestPendingLeavesOtherConnectionsAlone(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	defer func() { _ = client.Close() }()
	defer func() { _ = server.Close() }()
	cfg := mysql.NewConfig()
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return client, nil }
	p := &pending{}
	p.watch(cfg)
	conn, err := cfg.DialFunc(t.Context(), "tcp", "")
	require.NoError(t, err)
	require.Same(t, client, conn)
	require.Empty(t, p.servers())
}
