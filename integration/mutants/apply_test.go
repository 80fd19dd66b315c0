package mutants

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApply(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	source := filepath.Join(root, "a.go")
	require.NoError(t, os.WriteFile(source, []byte("one\n\ttwo\nthree\n"), 0o600))
	m := Mutant{File: "a.go", Old: "\ttwo\n", New: "\t2\n"}
	original, changed, err := m.Apply(root, dir)
	require.NoError(t, err)
	require.Equal(t, source, original)
	text, err := os.ReadFile(changed)
	require.NoError(t, err)
	require.Equal(t, "one\n\t2\nthree\n", string(text))

	m.Old = "\tmissing\n"
	_, _, err = m.Apply(root, dir)
	require.ErrorIs(t, err, ErrStale)
	m.File = "gone.go"
	_, _, err = m.Apply(root, dir)
	require.ErrorIs(t, err, ErrStale)
}

func TestReplaceLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, old, new, want string
		n                    int
	}{
		"once":                {"a\nb\nc\n", "b\n", "x\ny\n", "a\nx\ny\nc\n", 1},
		"first line":          {"a\nb\n", "a\n", "", "b\n", 1},
		"never":               {"a\nb\n", "c\n", "", "a\nb\n", 0},
		"not a part of lines": {"ab\nb\n", "b\n", "c\n", "ab\nc\n", 1},
		"indentation counts":  {"\tb\n", "b\n", "c\n", "\tb\n", 0},
		"twice":               {"b\na\nb\n", "b\n", "", "b\na\n", 2},
		"overlapping":         {"b\nb\nb\n", "b\nb\n", "", "b\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, n := replaceLines(c.text, c.old, c.new)
			require.Equal(t, c.n, n)
			require.Equal(t, c.want, got)
		})
	}
}
