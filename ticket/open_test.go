package ticket_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

// nobody is a server that is not there.
func nobody(t *testing.T) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = "app", "hunter2", "oddeven"
	c.Net, c.Addr = "unix", filepath.Join(t.TempDir(), "none.sock")
	return c
}

// speechless accepts connections and does with each what it is told.
func speechless(t *testing.T, handle func(net.Conn)) *mysql.Config {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	var held []net.Conn
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			held = append(held, conn)
			handle(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, conn := range held {
			_ = conn.Close()
		}
	})
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = "app", "hunter2", "tcp", l.Addr().String(), "oddeven"
	return c
}

func TestOpenFailsWhenNoServerAnswers(t *testing.T) {
	t.Parallel()
	a, b := nobody(t), nobody(t)
	fleet, err := ticket.Open(t.Context(), ticket.Config{Servers: []*mysql.Config{a, b}})
	require.Nil(t, fleet)
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	require.ErrorContains(t, err, "server "+a.Addr+"/oddeven: ")
	require.ErrorContains(t, err, "server "+b.Addr+"/oddeven: ")
	require.NotContains(t, err.Error(), "hunter2")
	require.NotContains(t, err.Error(), "app")
	var server *ticket.ServerError
	require.ErrorAs(t, err, &server)
	require.Equal(t, a.Addr+"/oddeven", server.Server)
}

func TestOpenFailsWhenTheServerHangsUp(t *testing.T) {
	t.Parallel()
	c := speechless(t, func(conn net.Conn) { _ = conn.Close() })
	_, err := ticket.Open(t.Context(), ticket.Config{Servers: []*mysql.Config{c}})
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	require.ErrorContains(t, err, "server "+c.Addr+"/oddeven: connection broke: ")
}

func TestOpenWaitsNoLongerThanTimeoutForAServer(t *testing.T) {
	t.Parallel()
	c := speechless(t, func(net.Conn) {})
	_, err := ticket.Open(t.Context(), ticket.Config{Servers: []*mysql.Config{c}, Timeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	require.ErrorContains(t, err, "no answer in time")
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := speechless(t, func(net.Conn) {})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := ticket.Open(ctx, ticket.Config{Servers: []*mysql.Config{c}, Timeout: time.Minute})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
