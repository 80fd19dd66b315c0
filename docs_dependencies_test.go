package oddeven_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goMods are the go.mod files of all modules of the repository, except those
// that tests use as data.
func goMods(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod", "*/*/*/go.mod"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range found {
			if !strings.HasPrefix(path, ".") && !strings.Contains(path, "testdata") {
				all = append(all, path)
			}
		}
	}
	return all
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.-]+(?:/[\w.-]+)+) v\S+(.*)$`)

// directDependencies are the modules that a go.mod requires directly, without
// those of this repository.
func directDependencies(goMod string) []string {
	var direct []string
	for _, found := range requirement.FindAllStringSubmatch(goMod, -1) {
		own := found[1] == modulePath || strings.HasPrefix(found[1], modulePath+"/")
		if !own && !strings.Contains(found[2], "// indirect") {
			direct = append(direct, found[1])
		}
	}
	slices.Sort(direct)
	return direct
}

// listedDependencies are the modules in the first column of the table under the
// heading that names a go.mod.
func listedDependencies(page, goMod string) []string {
	_, section, _ := strings.Cut(page, "\n## `"+goMod+"`\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed = append(listed, name[1])
			}
		}
	}
	slices.Sort(listed)
	return listed
}

// Every direct dependency of every module is on the page, and no other.
func TestDependenciesAreListed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/dependencies.md")
	require.NoError(t, err)
	mods := goMods(t)
	for _, path := range mods {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		direct := directDependencies(string(text))
		require.NotEmpty(t, direct, path)
		require.Equal(t, direct, listedDependencies(string(page), path), "docs/dependencies.md, section `%s`", path)
	}
	require.Len(t, regexp.MustCompile("(?m)^## `").FindAllString(string(page), -1), len(mods), "a section of docs/dependencies.md is about no go.mod")
}

func TestDirectDependencies(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a.example/x", "b.example/y/v2"}, directDependencies("module "+modulePath+`/z

go 1.26.0

require b.example/y/v2 v2.0.1

require (
	a.example/x v1.0.0
	c.example/w v1.0.0 // indirect
	`+modulePath+` v0.0.0
	`+modulePath+`/metrics v0.0.0
)

replace `+modulePath+` => ../
`))
}
