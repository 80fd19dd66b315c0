package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/mutants"
)

// A new Go version may read its clock in another way: then the overlay is adapted.
func TestClockOverlayFitsThisGo(t *testing.T) {
	t.Parallel()
	goroot, err := goTool(t.Context(), "env", "GOROOT")
	require.NoError(t, err)
	dir := t.TempDir()
	replace, err := clockOverlay(goroot, dir)
	require.NoError(t, err, runtime.Version())
	require.Len(t, replace, 2)
	text, err := os.ReadFile(filepath.Join(dir, "time.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), timePatch)
}

// Every rule that torture looks for has a mutant.
func TestThereAreMutantsToAimAt(t *testing.T) {
	t.Parallel()
	root, err := mutants.Root(".")
	require.NoError(t, err)
	for _, a := range aims {
		_, err := mutants.Load(root, regexp.MustCompile(a.mutants))
		require.NoError(t, err)
	}
}
