package oddeven_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	makeCommand = regexp.MustCompile("(?m)(?:^ {4,}|`)(?:\\$ )?(?:[A-Z_]+=[^\\s`]* )*make ([^`#\n]+)")
	targetWord  = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// makeTargets are the targets of the make commands in a page.
func makeTargets(page string) []string {
	var all []string
	for _, found := range makeCommand.FindAllStringSubmatch(page, -1) {
		for word := range strings.FieldsSeq(found[1]) {
			if !targetWord.MatchString(word) {
				break // a variable, or the end of the command
			}
			all = append(all, word)
		}
	}
	return all
}

// Every target of make that the documents name is in the Makefile.
func TestDocumentedTargetsOfMake(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	var known []string
	for _, found := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		known = append(known, found[1])
	}
	named := 0
	for page, text := range documents(t) {
		for _, target := range makeTargets(text) {
			named++
			require.Contains(t, known, target, "%s names it", page)
		}
	}
	require.Greater(t, named, 15)
	require.Equal(t, []string{"demo", "race", "test", "mutate"},
		makeTargets("    make demo    # see\n    $ make race\n`A=b make test`, which `make mutate RUN=x V=1` is not; make it"))
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// fragmentHead is what stands around a fragment: what the text before it says is there.
const fragmentHead = `package fragments

import (
	"context"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

var (
	_ *oddeven.Client
	_ *segment.Allocator
	_ *snowflake.Worker
)

`

// Pieces of programs in the documents compile. Whole programs are run on
// servers, in integration/.
func TestDocumentedFragmentsCompile(t *testing.T) {
	t.Parallel()
	noticeSources(t)
	var source strings.Builder
	source.WriteString(fragmentHead)
	count := 0
	for page, text := range documents(t) {
		if page != "README.md" && !strings.HasPrefix(page, "docs/") {
			continue
		}
		for _, found := range goBlock.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], "package main") {
				continue
			}
			count++
			source.WriteString("func _(ctx context.Context, client *oddeven.Client, fleet *ticket.Fleet, ids []int64) error {\n" + found[1] + "\nreturn err\n}\n\n")
		}
	}
	require.GreaterOrEqual(t, count, 3)
	require.Empty(t, compile(t, source.String()))
	require.Contains(t, compile(t, fragmentHead+"func _(fleet *ticket.Fleet) { fleet.Bogus() }"), "fleet.Bogus undefined")
}

// compile returns what the compiler finds wrong, but not that something is
// declared and not used: what comes after a fragment would use it.
func compile(t *testing.T, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fragments.go")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-o", os.DevNull, path).CombinedOutput()
	if err == nil {
		return ""
	}
	var wrong strings.Builder
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "# ") && !strings.Contains(line, "declared and not used") {
			wrong.WriteString(line)
		}
	}
	return wrong.String()
}
