package testfleet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// ThisRun returns what tells the files and containers of this run from others,
// and the process id of its reaper.
func ThisRun() (id string, reaper int) {
	return string(current.owner), current.reaper.cmd.Process.Pid
}

// Leftovers returns what exists of a run: its directory, and its containers if
// this run uses Docker.
func Leftovers(ctx context.Context, id string) ([]string, error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+id+"-*"))
	if err != nil {
		return nil, err
	}
	current.mu.Lock()
	defer current.mu.Unlock()
	if d, ok := current.sources["docker"].(*dockerSource); ok {
		containers, err := d.owned(ctx, func(o owner) bool { return string(o) == id })
		return append(left, containers...), err
	}
	return left, nil
}

// ServerProcesses returns the command lines of server processes that use the
// directory of a run; none where there is no /proc.
func ServerProcesses(id string) ([]string, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(line), dirPrefix+id+"-") {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found, err
}
