package oddeven_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/oddeven/oddeven"

// driverModules are what talking to a server takes.
var driverModules = []string{
	"github.com/go-sql-driver/mysql",
	"filippo.io/edwards25519", // of the driver, for MariaDB's ed25519 login
	"github.com/jmoiron/sqlx",
}

// gooseModules are goose and what it drags in without its database drivers.
var gooseModules = []string{
	"github.com/pressly/goose/v3",
	"github.com/mfridman/interpolate",
	"github.com/sethvargo/go-retry",
	"go.uber.org/multierr",
	"golang.org/x/sync",
}

// libraryPackages are the packages that users import, by directory, with the
// modules that may get into the users' programs through them.
var libraryPackages = map[string][]string{
	".":          driverModules,
	"ticket":     driverModules,
	"segment":    driverModules,
	"snowflake":  driverModules,
	"migrations": slices.Concat(driverModules, gooseModules),
}

// platforms are looked at in turn, because imports differ between them.
var platforms = []string{"linux", "darwin", "windows"}

// TestLibraryDependencies holds each library package, with everything it
// imports, to its list of modules, and keeps package testing out of all.
func TestLibraryDependencies(t *testing.T) {
	t.Parallel()
	noticeSources(t)
	for dir, allowed := range libraryPackages {
		for _, goos := range platforms {
			t.Run(dir+"/"+goos, func(t *testing.T) {
				t.Parallel()
				if !hasGoFiles(t, dir) {
					return // not written yet
				}
				deps := listDeps(t, dir, goos)
				for _, p := range deps {
					problem := p.problem(allowed)
					if problem == "" {
						continue
					}
					t.Errorf("%s\nimported by: %s\nto see all of it: GOOS=%s go list -deps ./%s; go mod why %s\n"+
						"Take the import out of the library package, or move the code to cmd/ or integration/. "+
						"If every user of the package really should carry it, add its module to libraryPackages in deps_test.go.",
						problem, chain(deps, p.ImportPath), goos, dir, p.ImportPath)
				}
			})
		}
	}
}

// dependency is a package as go list -json describes it.
type dependency struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *struct{ Path string }
}

// problem says what is wrong with a library package depending on p, or "".
func (p dependency) problem(allowed []string) string {
	switch {
	case p.ImportPath == "testing" || strings.HasPrefix(p.ImportPath, "testing/"):
		return p.ImportPath + " is for tests only"
	case p.Standard || p.Module == nil || p.Module.Path == modulePath:
		return ""
	case slices.Contains(allowed, p.Module.Path):
		return ""
	}
	return "module " + p.Module.Path + " is not on the list of this package"
}

// listDeps lists the package in dir and all it depends on, the package itself
// last.
func listDeps(t *testing.T, dir, goos string) []dependency {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Module", "./"+dir)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var deps []dependency
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p dependency
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return deps
		}
		require.NoError(t, err)
		deps = append(deps, p)
	}
}

// chain returns a shortest chain of imports from the listed package to target.
func chain(deps []dependency, target string) string {
	imports := map[string][]string{}
	for _, p := range deps {
		imports[p.ImportPath] = p.Imports
	}
	start := deps[len(deps)-1].ImportPath
	from := map[string]string{start: ""}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		for _, next := range imports[queue[0]] {
			if _, seen := from[next]; !seen {
				from[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	var path []string
	for p := target; p != ""; p = from[p] {
		path = append(path, p)
	}
	slices.Reverse(path)
	return strings.Join(path, " -> ")
}

// noticeSources looks at every source file of the module. What the go command
// reads on behalf of a test is unknown to the cache of test results, which would
// answer with an old result after an import was added.
func noticeSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "integration" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.IsDir() && (filepath.Ext(path) == ".go" || path == "go.mod"):
			_, err = os.Stat(path)
		}
		return err
	})
	require.NoError(t, err)
}

func hasGoFiles(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(f string) bool { return !strings.HasSuffix(f, "_test.go") })
}

func TestDependencyProblem(t *testing.T) {
	t.Parallel()
	module := func(path string) *struct{ Path string } { return &struct{ Path string }{path} }
	for _, c := range []struct {
		p    dependency
		want string
	}{
		{dependency{ImportPath: "fmt", Standard: true}, ""},
		{dependency{ImportPath: "testing", Standard: true}, "for tests only"},
		{dependency{ImportPath: "testing/synctest", Standard: true}, "for tests only"},
		{dependency{ImportPath: modulePath + "/ticket", Module: module(modulePath)}, ""},
		{dependency{ImportPath: "github.com/jmoiron/sqlx/reflectx", Module: module("github.com/jmoiron/sqlx")}, ""},
		{dependency{ImportPath: "github.com/spf13/cobra", Module: module("github.com/spf13/cobra")}, "not on the list"},
	} {
		require.Contains(t, c.p.problem(driverModules), c.want, c.p.ImportPath)
		require.Equal(t, c.want == "", c.p.problem(driverModules) == "", c.p.ImportPath)
	}
}

func TestDependencyChain(t *testing.T) {
	t.Parallel()
	deps := []dependency{
		{ImportPath: "testing"},
		{ImportPath: "long", Imports: []string{"testing"}},
		{ImportPath: "detour", Imports: []string{"long"}},
		{ImportPath: "root", Imports: []string{"detour", "long"}},
	}
	require.Equal(t, "root -> long -> testing", chain(deps, "testing"))
}
