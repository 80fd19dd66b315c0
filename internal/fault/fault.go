// Package fault says in plain words what an error from a server means and what
// to do about it, so that every package and the command explain it alike.
package fault

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"syscall"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
)

// Explain returns the problem in a few words and the remedy in a sentence.
// Both are empty when nothing is known about err.
func Explain(err error) (problem, remedy string) {
	var dns *net.DNSError
	var cert x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case err == nil:
		return "", ""
	case errors.Is(err, schema.ErrNoSchema), errors.Is(err, schema.ErrNotInitialized):
		return err.Error(), "Run `oddeven migrate up` on the whole fleet."
	case mysqlerr.IsAccessDenied(err):
		return "access denied", "Check the user name and the password in its DSN."
	case mysqlerr.IsUnknownDatabase(err):
		return "no such database", "Create it (CREATE DATABASE) or correct the name at the end of the DSN."
	case mysqlerr.IsMissingPrivilege(err):
		return "missing privilege", "Grant the account what the README lists for it."
	case mysqlerr.IsReadOnly(err):
		return "read-only", "Turn read_only off on it, or point the DSN at the primary."
	case mysqlerr.IsTooManyConnections(err):
		return "too many connections", "Raise max_connections on it, or lower the number of clients or their Conns."
	case mysqlerr.IsNoSuchTable(err):
		return "schema missing", "Run `oddeven migrate up` on the whole fleet."
	case errors.As(err, &cert), errors.As(err, &authority), errors.As(err, &host):
		return "certificate refused", "Check the TLS files of the DSN and the server's certificate."
	case errors.As(err, &dns):
		return "unknown host", "Check the host name in the DSN, and the name service."
	case mysqlerr.IsHostRefused(err):
		return "host refused", "Let the account log in from this host (CREATE USER 'name'@'host'), or unblock the host (FLUSH HOSTS)."
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return "connection refused", "Check that the server runs, and host and port in its DSN."
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time", "Check that the server runs and that the network lets it through."
	case errors.Is(err, context.Canceled):
		return "cancelled", ""
	case mysqlerr.IsUnreachable(err):
		return "connection broke", "Check that the server runs and that the network lets it through."
	}
	return "", ""
}
