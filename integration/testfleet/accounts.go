package testfleet

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/account"
)

// The accounts of the product. Every server of a fleet has both, each with a
// random password and the privileges of package account, and tests use no
// others unless they say so. A test compares names and privileges with the README.
const (
	MigrateUser = "oddeven_migrate"
	AppUser     = "oddeven_app"
)

// accounts are the product's accounts on one server.
type accounts struct {
	migrateUser, migratePassword string
	appUser, appPassword         string
}

// newAccounts returns accounts with new passwords. The suffix is for servers
// that are not ours alone.
func newAccounts(suffix string) accounts {
	return accounts{
		migrateUser: MigrateUser + suffix, migratePassword: newPassword(),
		appUser: AppUser + suffix, appPassword: newPassword(),
	}
}

// create makes the accounts on a server, without privileges.
func (a accounts) create(ctx context.Context, root *sql.DB) error {
	return execAll(ctx, root,
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY %s", a.migrateUser, quote(a.migratePassword)),
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY %s", a.appUser, quote(a.appPassword)))
}

// drop removes the accounts.
func (a accounts) drop(ctx context.Context, root *sql.DB) error {
	return execAll(ctx, root,
		fmt.Sprintf("DROP USER IF EXISTS '%s'@'%%', '%s'@'%%'", a.migrateUser, a.appUser))
}

// admit creates a database and gives the accounts their privileges on it.
func (a accounts) admit(ctx context.Context, root *sql.DB, database string) error {
	return execAll(ctx, root,
		fmt.Sprintf("CREATE DATABASE `%s`", database),
		account.Grant(a.migrateUser, account.MigratePrivileges, database),
		account.Grant(a.appUser, account.AppPrivileges, database))
}

// expel drops the database and the privileges on it, which would outlive it.
// It may be repeated.
func (a accounts) expel(ctx context.Context, root *sql.DB, database string) error {
	if err := execAll(ctx, root, fmt.Sprintf("DROP DATABASE IF EXISTS `%s`", database)); err != nil {
		return err
	}
	for _, user := range []string{a.migrateUser, a.appUser} {
		err := execAll(ctx, root, fmt.Sprintf("REVOKE ALL PRIVILEGES ON `%s`.* FROM '%s'@'%%'", database, user))
		if err != nil && !isNoSuchGrant(err) {
			return err
		}
	}
	return nil
}

// isNoSuchGrant reports whether a server says that there is nothing to revoke.
func isNoSuchGrant(err error) bool {
	fromServer, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && fromServer.Number == 1141
}

// execAll runs statements one after another. Errors don't show them: they hold
// passwords.
func execAll(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			verb, _, _ := strings.Cut(statement, " ")
			return fmt.Errorf("run %s statement: %w", verb, err)
		}
	}
	return nil
}

// quote returns s as an SQL string, for the default sql_mode.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// secrets are all passwords this process has made, and the random part of each
// by itself, in case an output shows a password escaped in some way.
var secrets struct {
	sync.Mutex
	list []string
}

// Secrets returns strings that no output, log or error may contain: the
// passwords of all accounts made so far, and the random part of each, which is
// left unchanged by any way of quoting.
func Secrets() []string {
	secrets.Lock()
	defer secrets.Unlock()
	return append([]string(nil), secrets.list...)
}

// passwordMarker is in every password made here, and random text, which has no
// small letters, cannot contain it. scripts/no-passwords reads it
// here and looks for it in all that the tests print.
const passwordMarker = "oddevenTestSecret"

// newPassword returns a password with every character that DSNs, URLs, shells
// and YAML give a meaning to, but white space and quotes: lists of DSNs are
// separated by white space, and the official images put root's password between
// quotes.
func newPassword() string {
	return keepSecret("p@ss:w/%2F#" + ShortPassword() + "?&=(){}[]!$*+,;~^|<>")
}

// ShortPassword returns a password of letters and digits, for accounts that
// tests make themselves. MySQL takes 32 characters at most for replication.
func ShortPassword() string { return keepSecret(passwordMarker + rand.Text()[:15]) }

// keepSecret adds a password to Secrets.
func keepSecret(password string) string {
	secrets.Lock()
	defer secrets.Unlock()
	secrets.list = append(secrets.list, password)
	return password
}
