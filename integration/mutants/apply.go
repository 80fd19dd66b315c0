package mutants

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrStale means that a mutant no longer fits the source it was written for.
var ErrStale = errors.New("does not fit the source")

// Apply writes the changed copy of the mutant's file into dir. It returns the
// path of the original, below root, and that of the copy, as an overlay needs
// them. Its error is ErrStale if the old text does not occur exactly once.
func (m Mutant) Apply(root, dir string) (original, changed string, err error) {
	original = filepath.Join(root, filepath.FromSlash(m.File))
	source, err := os.ReadFile(original)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", fmt.Errorf("%w: no file %s", ErrStale, m.File)
	}
	if err != nil {
		return "", "", fmt.Errorf("read source: %w", err)
	}
	text, n := replaceLines(string(source), m.Old, m.New)
	if n != 1 {
		return "", "", fmt.Errorf("%w: the old text occurs %d times in %s, want 1", ErrStale, n, m.File)
	}
	changed = filepath.Join(dir, "mutant-"+filepath.Base(original)) // dir may hold files of an overlay already
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", "", fmt.Errorf("write mutant: %w", err)
	}
	return original, changed, nil
}

// replaceLines replaces old, which is whole lines, and reports how often it
// occurs. Occurrences may overlap; with any number but one the text is useless.
func replaceLines(text, old, replacement string) (string, int) {
	var (
		n  int
		at int
	)
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], old) {
			n, at = n+1, i
		}
		line := strings.IndexByte(text[i:], '\n')
		if line < 0 {
			break
		}
		i += line + 1
	}
	if n == 0 {
		return text, 0
	}
	return text[:at] + replacement + text[at+len(old):], n
}
