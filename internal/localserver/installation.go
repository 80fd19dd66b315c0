package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Flavor says which family a server belongs to.
type Flavor string

// The flavors this package can run. Servers derived from MySQL, such as
// Percona Server, count as MySQL.
const (
	MySQL   Flavor = "mysql"
	MariaDB Flavor = "mariadb"
)

// Installation is a server binary that was found on this machine.
type Installation struct {
	Flavor  Flavor
	Version string // three numbers: "9.7.4", "10.11.19"
	// Server is the path of mysqld or mariadbd. A wrapper script is fine if
	// it passes on all arguments, in order and first, and ends in exec, so
	// that signals to its process reach the server.
	Server string
	// Install is the path of mariadb-install-db. Empty for MySQL, whose
	// server initialises its own data directory.
	Install string
}

// inspectTimeout bounds one "--version" call, for binaries that are no servers
// and wait for something instead.
const inspectTimeout = 10 * time.Second

// maxOutput bounds, in bytes, how much of an unexpected output is shown in an error.
const maxOutput = 200

// Inspect runs "serverPath --version" and returns what it finds. The error
// wraps [ErrNotServer] if the program runs but is not a MySQL or MariaDB
// server, and says what is missing if mariadb-install-db is not there.
// Cancelling ctx ends the program. Inspect may be called concurrently.
func Inspect(ctx context.Context, serverPath string) (Installation, error) {
	path, err := filepath.Abs(serverPath)
	if err != nil {
		return Installation{}, fmt.Errorf("inspect server %q: %w", serverPath, err)
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second // a child of a wrapper script may hold the pipe
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return Installation{}, fmt.Errorf("inspect server %q: %w", path, ctx.Err())
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return Installation{}, fmt.Errorf("inspect server %q: %w", path, err)
	}
	inst, ok := parseVersion(string(out))
	if err != nil || !ok {
		return Installation{}, fmt.Errorf("inspect server %q: %w: it printed %q", path, ErrNotServer, shorten(string(out)))
	}
	inst.Server = path
	if inst.Flavor == MariaDB {
		inst.Install, err = findInstall(path)
		if err != nil {
			return Installation{}, fmt.Errorf("inspect server %q: %w", path, err)
		}
	}
	return inst, nil
}

// versionPattern matches the part all servers share:
//
//	mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)
//	/usr/sbin/mysqld  Ver 9.7.4 for Linux on x86_64 (MySQL Community Server - GPL)
var versionPattern = regexp.MustCompile(`(?m)\bVer (\d+\.\d+\.\d+)(\S*) for `)

// parseVersion reads the output of "mysqld --version"; false if it is not that.
func parseVersion(out string) (Installation, bool) {
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return Installation{}, false
	}
	inst := Installation{Flavor: MySQL, Version: m[1]}
	if strings.Contains(m[2], "MariaDB") {
		inst.Flavor = MariaDB
	}
	return inst, true
}

// findInstall returns the mariadb-install-db that belongs to a server: beside
// it, in the places where packages and archives put it, else from PATH.
func findInstall(server string) (string, error) {
	starts := []string{server}
	if real, err := filepath.EvalSymlinks(server); err == nil && real != server {
		starts = append(starts, real)
	}
	names := []string{"mariadb-install-db", "mysql_install_db"}
	for _, start := range starts {
		dir := filepath.Dir(start)
		for _, sub := range []string{".", "../bin", "../scripts"} {
			for _, name := range names {
				if path := filepath.Join(dir, sub, name); executable(path) {
					return path, nil
				}
			}
		}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("find mariadb-install-db: %w; it comes with the full server package: %s", os.ErrNotExist, aptCommand)
}

// executable reports whether path is a file that somebody may execute.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// shorten cuts s to maxOutput bytes for an error message.
func shorten(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxOutput {
		return s[:maxOutput] + "..."
	}
	return s
}
