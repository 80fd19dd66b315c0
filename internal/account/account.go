// Package account lists what the two database accounts of a fleet may do: the
// one that migrates and the one that applications use. README, development
// fleets and tests all take it from here.
package account

import "fmt"

const (
	// MigratePrivileges is what `oddeven migrate` needs in the database.
	MigratePrivileges = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX"
	// AppPrivileges is what applications need in the database. REPLACE deletes.
	AppPrivileges = "SELECT, INSERT, UPDATE, DELETE"
)

// Create returns the statements that make an account with these privileges in
// the database, or change its password. They may be repeated. The database is
// a pattern: a literal underscore is written \_. The password must not contain
// a quote or a backslash.
func Create(user, password, privileges, database string) []string {
	return []string{
		fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", user, password),
		fmt.Sprintf("ALTER USER '%s'@'%%' IDENTIFIED BY '%s'", user, password),
		Grant(user, privileges, database),
	}
}

// Grant returns the statement that gives an account these privileges in the
// database, which is a pattern as in Create. It may be repeated.
func Grant(user, privileges, database string) string {
	return fmt.Sprintf("GRANT %s ON `%s`.* TO '%s'@'%%'", privileges, database, user)
}
