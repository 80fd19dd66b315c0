package mutants

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoadReportsEveryMalformedFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, Dir)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range []string{"a.txtar", "b.txtar", "README.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("what: is this\n"), 0o600))
	}
	_, err := Load(root, regexp.MustCompile(""))
	require.ErrorContains(t, err, "mutant a:")
	require.ErrorContains(t, err, "mutant b:")
	_, err = Load(root, regexp.MustCompile("^c$"))
	require.ErrorContains(t, err, `matches "^c$"`)
}

func TestRootIsFoundFromInside(t *testing.T) {
	t.Parallel()
	root, err := Root(".")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, Module, "go.mod"))
	_, err = Root(t.TempDir())
	require.ErrorContains(t, err, "find repository root")
}

// TestProjectMutants holds the project's own mutants to the format and to the source.
func TestProjectMutants(t *testing.T) {
	t.Parallel()
	root, err := Root(".")
	require.NoError(t, err)
	all, err := Load(root, regexp.MustCompile(""))
	require.NoError(t, err)
	for _, m := range all {
		_, _, err = m.Apply(root, t.TempDir())
		require.NoError(t, err, m.Name)
	}
}
