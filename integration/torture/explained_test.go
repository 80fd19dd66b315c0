package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every explanation is of a mutant that there is.
func TestExplanationsAreOfMutants(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("..", "mutants", "*.txtar"))
	require.NoError(t, err)
	for _, e := range explanations {
		require.True(t, slices.ContainsFunc(paths, func(path string) bool {
			return e.mutants.MatchString(strings.TrimSuffix(filepath.Base(path), ".txtar"))
		}), "%s", e.mutants)
		require.NotEmpty(t, e.why)
	}
}
