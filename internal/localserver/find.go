package localserver

import (
	"context"
	"os"
	"path/filepath"
)

// aptCommand is what helps on Debian and Ubuntu. mariadb-server-core alone is
// not enough: it lacks my_print_defaults, which mariadb-install-db needs.
const aptCommand = "apt-get install -y --no-install-recommends mariadb-server"

// serverNames are the names of server binaries, in order of preference
// within one directory.
var serverNames = []string{"mysqld", "mariadbd"}

// serverDirs are the directories searched after PATH; patterns as in [filepath.Glob].
var serverDirs = []string{
	"/usr/sbin",
	"/usr/local/sbin",
	"/usr/libexec",
	"/usr/local/mysql/bin",
	"/usr/local/opt/*/bin",
	"/opt/*/bin",
	"/opt/*/sbin",
	"/opt/homebrew/opt/*/bin",
	"/opt/rh/*/root/usr/libexec",
}

// Find returns the servers installed on this machine: those in PATH first, in
// its order, then those in the directories where packages put them. A binary
// with several names is returned once. Binaries that do not run are left out;
// if nothing is left the error is a [*NotFoundError]. Cancelling ctx ends the
// search. Find may be called concurrently.
func Find(ctx context.Context) ([]Installation, error) {
	return find(ctx, append(filepath.SplitList(os.Getenv("PATH")), serverDirs...))
}

// find searches the directories that match patterns, in order.
func find(ctx context.Context, patterns []string) ([]Installation, error) {
	var found []Installation
	missing := &NotFoundError{Searched: patterns}
	seen := make(map[string]bool)
	for _, path := range candidates(patterns) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		inst, err := Inspect(ctx, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			missing.Problems = append(missing.Problems, err)
			continue
		}
		found = append(found, inst)
	}
	if len(found) == 0 {
		return nil, missing
	}
	return found, nil
}

// candidates lists the executables with a server's name in the directories
// that match patterns. An empty or relative entry (of PATH) is passed over, as
// package os/exec does.
func candidates(patterns []string) []string {
	var paths []string
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) {
			continue
		}
		for _, name := range serverNames {
			matches, err := filepath.Glob(filepath.Join(pattern, name))
			if err != nil { // a directory of PATH that is no valid pattern
				matches = []string{filepath.Join(pattern, name)}
			}
			for _, path := range matches {
				if executable(path) {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}
