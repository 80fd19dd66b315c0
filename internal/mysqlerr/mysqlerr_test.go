package mysqlerr_test

import (
	"context"
	"database/sql"
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

	"github.com/oddeven/oddeven/internal/mysqlerr"
)

var questions = map[string]func(error) bool{
	"IsAccessDenied":       mysqlerr.IsAccessDenied,
	"IsMissingPrivilege":   mysqlerr.IsMissingPrivilege,
	"IsUnknownDatabase":    mysqlerr.IsUnknownDatabase,
	"IsNoSuchTable":        mysqlerr.IsNoSuchTable,
	"IsTableExists":        mysqlerr.IsTableExists,
	"IsDuplicateEntry":     mysqlerr.IsDuplicateEntry,
	"IsRetryable":          mysqlerr.IsRetryable,
	"IsReadOnly":           mysqlerr.IsReadOnly,
	"IsTooManyConnections": mysqlerr.IsTooManyConnections,
	"IsOutOfRange":         mysqlerr.IsOutOfRange,
	"IsUnreachable":        mysqlerr.IsUnreachable,
}

// requireOnly asks every question; exactly one, or with "" none, says yes.
func requireOnly(t *testing.T, want string, err error) {
	t.Helper()
	for name, question := range questions {
		require.Equal(t, name == want, question(err), "%s(%v)", name, err)
	}
}

func TestServerErrors(t *testing.T) {
	t.Parallel()
	for number, want := range map[uint16]string{
		1044: "IsMissingPrivilege", 1142: "IsMissingPrivilege", 1143: "IsMissingPrivilege", 1227: "IsMissingPrivilege",
		1045: "IsAccessDenied",
		1046: "IsUnknownDatabase", 1049: "IsUnknownDatabase",
		1050: "IsTableExists", 1062: "IsDuplicateEntry",
		1051: "IsNoSuchTable", 1146: "IsNoSuchTable",
		1205: "IsRetryable", 1213: "IsRetryable",
		1290: "IsReadOnly", 1792: "IsReadOnly", 1836: "IsReadOnly",
		1040: "IsTooManyConnections",
		1690: "IsOutOfRange",
		1064: "",
	} {
		plain := &mysql.MySQLError{Number: number, Message: "some words"}
		require.Equal(t, number, mysqlerr.Number(plain))
		requireOnly(t, want, plain)
		requireOnly(t, want, fmt.Errorf("read row: %w", plain))
		requireOnly(t, want, errors.Join(errors.New("other"), plain))
	}
}

func TestErrorsThatAreNoServers(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("Error 1045: Access denied"), sql.ErrNoRows, context.Canceled} {
		require.Zero(t, mysqlerr.Number(err))
		requireOnly(t, "", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"BadConn":     driver.ErrBadConn,
		"InvalidConn": mysql.ErrInvalidConn,
		"EOF":         io.EOF,
		"CutShort":    io.ErrUnexpectedEOF,
		"Timeout":     context.DeadlineExceeded,
		"IOTimeout":   os.ErrDeadlineExceeded,
		"Refused":     &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"Reset":       &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"UnknownHost": &net.DNSError{Err: "no such host", Name: "db1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireOnly(t, "IsUnreachable", err)
			requireOnly(t, "IsUnreachable", fmt.Errorf("draw: %w", err))
		})
	}
}
