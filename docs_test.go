package oddeven_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/doctor"
)

// documents are all pages for people.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	more, err := filepath.Glob("integration/*/README.md")
	require.NoError(t, err)
	pages := map[string]string{}
	for _, path := range append(append(paths, more...), "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "metrics/README.md") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		pages[path] = string(text)
	}
	return pages
}

var (
	testName   = regexp.MustCompile("`((?:[a-z]+/)*[a-z]+)\\.(Test[A-Z]\\w*)`")
	testFunc   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	mutantName = regexp.MustCompile("`((?:i[1-7]|adopt|migrate)-[a-z-]+)`")
	sourceName = regexp.MustCompile("`((?:[a-z]+/)*[a-z_]+\\*?(?:_test)?\\.(?:go|sql))`")
)

// testsIn returns the names of the tests of a package's directory.
func testsIn(t *testing.T, dir string) []string {
	t.Helper()
	if dir == "oddeven" {
		dir = "."
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range testFunc.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

// What the pages say is shown by a test is shown by a test that there is.
func TestDocumentsNameTestsMutantsAndFilesThatExist(t *testing.T) {
	t.Parallel()
	for page, text := range documents(t) {
		for _, found := range testName.FindAllStringSubmatch(text, -1) {
			require.Contains(t, testsIn(t, found[1]), found[2], "%s names %s", page, found[0])
		}
		for _, found := range mutantName.FindAllStringSubmatch(text, -1) {
			require.FileExists(t, "integration/mutants/"+found[1]+".txtar", page)
		}
		if page != "docs/architecture.md" {
			continue
		}
		for _, found := range sourceName.FindAllStringSubmatch(text, -1) {
			files, err := filepath.Glob(found[1])
			require.NoError(t, err)
			require.NotEmpty(t, files, "%s names %s", page, found[0])
		}
	}
}

// Every guarantee names a test.
func TestEveryGuaranteeNamesATest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/guarantees.md")
	require.NoError(t, err)
	promised, _, _ := strings.Cut(string(text), "## What is not promised")
	rows := 0
	for line := range strings.Lines(promised) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise |") {
			continue
		}
		rows++
		require.Regexp(t, testName, line)
	}
	require.Greater(t, rows, 25)
}

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]+)">`)
)

// anchors are what links into a page can name: its headings, as they are shown
// on the web, and anchors written by hand.
func anchors(text string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, found[1]))
	}
	for _, found := range anchor.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	return all
}

func TestLinksBetweenDocumentsLead(t *testing.T) {
	t.Parallel()
	pages := documents(t)
	for page, text := range pages {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
				_, err := os.Stat(path)
				require.NoError(t, err, "%s links to %s", page, found[1])
			}
			if fragment != "" && strings.HasSuffix(path, ".md") {
				require.Contains(t, anchors(pages[path]), fragment, "%s links to %s", page, found[1])
			}
		}
	}
}

// Every check of doctor has its paragraph in the runbook.
func TestRunbookHasEveryCheckOfDoctor(t *testing.T) {
	t.Parallel()
	known := anchors(documents(t)["docs/operations.md"])
	for _, name := range doctor.Names() {
		require.Contains(t, known, "doctor-"+name)
	}
}

var alert = regexp.MustCompile(`(?m)^ *- alert: (\w+)$`)

// Every alert has its paragraph, under the anchor that its runbook_url leads to.
func TestRunbookHasEveryAlert(t *testing.T) {
	t.Parallel()
	page := documents(t)["docs/operations.md"]
	known := anchors(page)
	rules, err := os.ReadFile("metrics/alerts.yml")
	require.NoError(t, err)
	found := alert.FindAllStringSubmatch(string(rules), -1)
	require.Greater(t, len(found), 15)
	for _, name := range found {
		require.Contains(t, known, "alert-"+strings.ToLower(name[1]))
		require.Contains(t, string(rules), "docs/operations.md#alert-"+strings.ToLower(name[1])+"\n")
		require.Contains(t, page, "**"+name[1]+"**")
	}
}

var arithmetic = regexp.MustCompile("`(echo (?:\\$\\(\\([^`]*\\)\\) ?)+)`")

// Figures with a command beside them are what the command prints.
func TestFiguresAreWhatTheCommandsPrint(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	ran := 0
	for page, text := range documents(t) {
		for line := range strings.Lines(text) {
			for _, found := range arithmetic.FindAllStringSubmatch(line, -1) {
				printed, err := exec.CommandContext(t.Context(), shell, "-c", found[1]).Output()
				require.NoError(t, err, found[1])
				ran++
				// In running text it may be said in words.
				if !strings.HasSuffix(strings.TrimSpace(line), found[0]+" |") {
					continue
				}
				rest := strings.ReplaceAll(strings.ReplaceAll(line, found[0], ""), ",", "")
				for figure := range strings.FieldsSeq(string(printed)) {
					require.Regexp(t, `\b`+figure+`\b`, rest, "%s: %s", page, line)
				}
			}
		}
	}
	require.Greater(t, ran, 10)
}
