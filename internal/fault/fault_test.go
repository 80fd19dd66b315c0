package fault_test

import (
	"context"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/fault"
	"github.com/oddeven/oddeven/internal/schema"
)

func server(number uint16) error { return &mysql.MySQLError{Number: number, Message: "some words"} }

func TestExplain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		err     error
		problem string
		remedy  string // part of it
	}{
		{"WrongPassword", server(1045), "access denied", "the password in its DSN"},
		{"NoSuchDatabase", server(1049), "no such database", "CREATE DATABASE"},
		{"NoDatabaseSelected", server(1046), "no such database", "DSN"},
		{"NoPrivilegeOnDatabase", server(1044), "missing privilege", "Grant"},
		{"NoPrivilegeOnTable", server(1142), "missing privilege", "Grant"},
		{"ReadOnly", server(1290), "read-only", "primary"},
		{"TooManyConnections", server(1040), "too many connections", "max_connections"},
		{"NoSuchTable", server(1146), "schema missing", "oddeven migrate up"},
		{"NoSchema", schema.ErrNoSchema, "has no oddeven schema", "oddeven migrate up"},
		{"NotInitialized", schema.ErrNotInitialized, "has the oddeven tables but belongs to no fleet yet", "oddeven migrate up"},
		{"UnknownAuthority", x509.UnknownAuthorityError{}, "certificate refused", "TLS files"},
		{"WrongHostName", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "db1"}, "certificate refused", "TLS files"},
		{"UnknownHost", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "db1", IsNotFound: true}}, "unknown host", "host name"},
		{"Refused", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "connection refused", "port"},
		{"Timeout", context.DeadlineExceeded, "no answer in time", "network"},
		{"BadConn", driver.ErrBadConn, "connection broke", "network"},
		{"InvalidConn", mysql.ErrInvalidConn, "connection broke", "network"},
		{"CutShort", io.ErrUnexpectedEOF, "connection broke", "network"},
		{"Reset", &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "connection broke", "network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			problem, remedy := fault.Explain(tt.err)
			require.Equal(t, tt.problem, problem)
			require.Contains(t, remedy, tt.remedy)
			require.Regexp(t, `^[A-Z].*\.$`, remedy, "a sentence")
			_, wrapped := fault.Explain(fmt.Errorf("connect: %w", tt.err))
			require.Equal(t, remedy, wrapped)
		})
	}
}

func TestCancelledHasNoRemedy(t *testing.T) {
	t.Parallel()
	problem, remedy := fault.Explain(fmt.Errorf("draw: %w", context.Canceled))
	require.Equal(t, "cancelled", problem)
	require.Empty(t, remedy)
}

func TestNothingToSay(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("Error 1045 (28000): Access denied"), server(1064)} {
		problem, remedy := fault.Explain(err)
		require.Empty(t, problem)
		require.Empty(t, remedy)
	}
}

// A server error says more than the timeout that it is joined with.
func TestServersOwnWordsComeFirst(t *testing.T) {
	t.Parallel()
	problem, _ := fault.Explain(errors.Join(context.DeadlineExceeded, server(1045)))
	require.Equal(t, "access denied", problem)
}
