// Package mysqlerr is the only place that knows the error numbers of MySQL
// and MariaDB. It answers questions about an error; it never looks at its text.
package mysqlerr

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// Numbers as listed in the MySQL Server Error Message Reference and in
// MariaDB's list of error codes; the two agree on all of them.
const (
	dbAccessDenied     = 1044
	accessDenied       = 1045
	noDatabase         = 1046
	hostBlocked        = 1129
	hostNotAllowed     = 1130
	unknownDatabase    = 1049
	tableExists        = 1050
	unknownTable       = 1051
	duplicateEntry     = 1062
	tableDenied        = 1142
	columnDenied       = 1143
	noSuchTable        = 1146
	lockWaitTimeout    = 1205
	deadlock           = 1213
	specificDenied     = 1227
	optionPreventsRun  = 1290
	tooManyConns       = 1040
	outOfRange         = 1690
	accessDeniedSocket = 1698
	readOnlyTx         = 1792
	readOnlyMode       = 1836
)

// Number returns the server's error number, or 0 if err did not come from a server.
func Number(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

func oneOf(err error, numbers ...uint16) bool {
	return slices.Contains(numbers, Number(err))
}

// IsAccessDenied reports whether the server refused user name or password.
func IsAccessDenied(err error) bool { return oneOf(err, accessDenied, accessDeniedSocket) }

// IsHostRefused reports whether the server does not talk to this host.
func IsHostRefused(err error) bool { return oneOf(err, hostNotAllowed, hostBlocked) }

// IsMissingPrivilege reports whether the account lacks a privilege that the statement needs.
func IsMissingPrivilege(err error) bool {
	return oneOf(err, dbAccessDenied, tableDenied, columnDenied, specificDenied)
}

// IsUnknownDatabase reports whether the database named by the DSN does not exist.
func IsUnknownDatabase(err error) bool { return oneOf(err, unknownDatabase, noDatabase) }

// IsNoSuchTable reports whether a table in the statement does not exist.
func IsNoSuchTable(err error) bool { return oneOf(err, noSuchTable, unknownTable) }

// IsTableExists reports whether the table to be created is already there.
func IsTableExists(err error) bool { return oneOf(err, tableExists) }

// IsDuplicateEntry reports whether a unique key refused the row.
func IsDuplicateEntry(err error) bool { return oneOf(err, duplicateEntry) }

// IsRetryable reports whether the server undid the statement because of a
// deadlock or a lock wait, so that the same statement may be sent again.
func IsRetryable(err error) bool { return oneOf(err, deadlock, lockWaitTimeout) }

// IsReadOnly reports whether the server does not accept writes.
func IsReadOnly(err error) bool { return oneOf(err, optionPreventsRun, readOnlyTx, readOnlyMode) }

// IsTooManyConnections reports whether the server's connection limit is reached.
func IsTooManyConnections(err error) bool { return oneOf(err, tooManyConns) }

// IsOutOfRange reports whether an expression in the statement left its type's
// range; the scheme check in a ticket statement fails this way on purpose.
func IsOutOfRange(err error) bool { return oneOf(err, outOfRange) }

// IsUnreachable reports whether the server did not answer: no connection, a
// connection that broke, or a wait that ran out. The statement may or may not
// have been carried out.
func IsUnreachable(err error) bool {
	var netErr net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr)
}
