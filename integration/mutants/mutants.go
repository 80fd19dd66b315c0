// Package mutants reads the mutants, which lie beside it as NAME.txtar, and
// applies them. README.md explains their format.
package mutants

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Dir is where the mutants are, and Module the module they are in, from the
// repository root.
const (
	Dir    = Module + "/mutants"
	Module = "integration"
)

// Ext is the extension of a mutant's file.
const Ext = ".txtar"

// Mutant is one change of one source file, and the tests that must notice it.
type Mutant struct {
	Name string // file name without Ext
	Why  string // the rule that the change removes
	File string // slash-separated path from the repository root
	Old  string // whole lines
	New  string // whole lines; may be empty

	Tests        []Test
	TimeoutKills bool
}

// Test is one invocation of go test. It is comparable.
type Test struct {
	Module  string // directory from the repository root
	Pattern string // packages, as go test takes them
	Run     string // regexp for -run
	Race    bool
}

func (t Test) String() string {
	s := t.Module + " " + t.Pattern + " " + t.Run
	if t.Race {
		s += " (race)"
	}
	return s
}

// Root climbs from dir to the nearest directory with a go.mod and mutants: the
// root of the repository. It resolves symbolic links, because an overlay names
// files by the path that the go command finds them under.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find repository root: %w", err)
	}
	if start, err = filepath.EvalSymlinks(start); err != nil {
		return "", fmt.Errorf("find repository root: %w", err)
	}
	for d := start; ; d = filepath.Dir(d) {
		if exists(filepath.Join(d, "go.mod")) && exists(filepath.Join(d, Dir)) {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("find repository root: no directory with go.mod and %s above %s", Dir, start)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Load reads the mutants of a repository whose names match, in the order of
// their names. It reports every malformed file at once. No match is an error,
// so that a typo is not taken for success.
func Load(root string, match *regexp.Regexp) ([]Mutant, error) {
	dir := filepath.Join(root, Dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read mutants: %w", err)
	}
	var (
		all  []Mutant
		errs []error
	)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), Ext)
		if !ok || !match.MatchString(name) {
			continue
		}
		m, err := Read(filepath.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, m)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no mutant in %s matches %q", dir, match)
	}
	return all, nil
}

// Read reads the file of one mutant.
func Read(path string) (Mutant, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Mutant{}, fmt.Errorf("read mutant: %w", err)
	}
	name := strings.TrimSuffix(filepath.Base(path), Ext)
	m, err := Parse(name, data)
	if err != nil {
		return Mutant{}, fmt.Errorf("mutant %s: %w", name, err)
	}
	return m, nil
}
