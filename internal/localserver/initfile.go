package localserver

import (
	"fmt"
	"os"
	"strings"
)

// The init file is SQL that the server runs as root before it accepts
// connections. It sets the root password, at every start, so that the password
// needs no other way in; then it runs InitSQL.
//
// A server stops reading the file at the first error; MariaDB then starts all
// the same. So the last statement leaves a mark that shows, when the server
// answers, that the whole file was run: it moves the (unused) general log into
// the server's directory, where no default puts it.

// initScript returns the text of the init file.
func initScript(password string, statements []string, mark string) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+";\n", args...) }

	add("SET SESSION sql_mode = ''") // so that quote is right
	// Accounts belong to this server; a replica must not get them.
	add("SET SESSION sql_log_bin = 0")
	// MariaDB makes these two without a password, and they come before '%'.
	add("DROP USER IF EXISTS 'root'@'127.0.0.1', 'root'@'::1'")
	add("CREATE USER IF NOT EXISTS 'root'@'localhost', 'root'@'%%'")
	for _, host := range []string{"localhost", "%"} {
		add("ALTER USER 'root'@'%s' IDENTIFIED BY %s", host, quote(password))
		add("GRANT ALL PRIVILEGES ON *.* TO 'root'@'%s' WITH GRANT OPTION", host)
	}
	add("SET SESSION sql_log_bin = DEFAULT")
	add("SET SESSION sql_mode = DEFAULT")
	for _, statement := range statements {
		add("%s", trimStatement(statement))
	}
	add("SET SESSION sql_mode = ''")
	add("SET GLOBAL general_log_file = %s", quote(mark))
	return b.String()
}

// quote returns s as an SQL string, for the empty sql_mode.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// trimStatement removes what may surround a statement.
func trimStatement(statement string) string {
	return strings.TrimRight(strings.TrimSpace(statement), "; \t\r\n")
}

// writeInitFile writes the init file, for this user's eyes only.
func writeInitFile(h home, c Config) error {
	script := initScript(c.RootPassword, c.InitSQL, h.path(generalName))
	if err := writeFile(h.path(initName), script); err != nil {
		return fmt.Errorf("write init file: %w", err)
	}
	return nil
}

// removeInitFile deletes the init file, which holds the password.
func removeInitFile(h home) error {
	if err := os.Remove(h.path(initName)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove init file: %w", err)
	}
	return nil
}
