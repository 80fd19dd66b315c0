package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// A page is a document whose fenced blocks are run, from the first to the last:
//
//	sh          by a shell, with the program in its path and fleet.yaml beside it
//	sql NAME    as root, on the servers of that name
//	text        lines that the sh block before has printed, blanks aside
//
// What the page calls by a name of its own (a DSN, a database, an address) is
// replaced by what it is in the test, and in output the other way round.
type page struct {
	name    string
	fleet   []string                       // DSNs of fleet.yaml
	servers map[string][]*testfleet.Server // of sql blocks
	names   [][2]string                    // of the page, of the test; the longer ones first
	after   map[string]func(output string) // by what exactly one block has in it; runs after that one, with the last output
}

// block is a fenced block.
type block struct{ kind, where, text string }

// fence finds blocks, also indented ones in lists.
var fence = regexp.MustCompile("(?ms)^([ \t]*)```(\\w+) ?(\\w*)\n(.*?)^[ \t]*```$")

func readPage(t testing.TB, name string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", name))
	require.NoError(t, err)
	var blocks []block
	for _, found := range fence.FindAllStringSubmatch(string(text), -1) {
		var lines []string
		for line := range strings.Lines(found[4]) {
			lines = append(lines, strings.TrimPrefix(line, found[1]))
		}
		blocks = append(blocks, block{kind: found[2], where: found[3], text: strings.Join(lines, "")})
	}
	require.Equal(t, strings.Count(string(text), "```"), 2*len(blocks), "a block that is not understood")
	return blocks
}

// run runs the page.
func (p page) run(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	env := p.config(t, dir)
	exported, output, done := "", "", map[string]bool{}
	for i, b := range readPage(t, p.name) {
		what := fmt.Sprintf("%s, block %d:\n%s", p.name, i+1, b.text)
		switch b.kind {
		case "sh":
			output = p.shell(t, dir, env, exported, b.text)
			for line := range strings.Lines(b.text) {
				if strings.HasPrefix(line, "export ") {
					exported += line
				}
			}
		case "sql":
			require.NotEmpty(t, p.servers[b.where], what)
			for _, s := range p.servers[b.where] {
				p.sql(t, s, b.text)
			}
		case "text":
			p.compare(t, b.text, output, what)
		default:
			require.Fail(t, "unknown kind", what)
		}
		for key, do := range p.after {
			if strings.Contains(b.text, key) {
				require.False(t, done[key], "%q is in two blocks", key)
				done[key] = true
				do(output)
			}
		}
	}
	require.Len(t, done, len(p.after), "done: %v", done)
}

// config writes fleet.yaml and returns the environment of the shell.
func (p page) config(t testing.TB, dir string) []string {
	t.Helper()
	env := append(os.Environ(), "PATH="+filepath.Dir(programPath(t))+":"+os.Getenv("PATH"))
	text := "servers:\n"
	for i, dsn := range p.fleet {
		text += fmt.Sprintf("  - dsn_env: SERVER_%d\n", i+1)
		env = append(env, fmt.Sprintf("SERVER_%d=%s", i+1, dsn))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fleet.yaml"), []byte(text), 0o600))
	return env
}

// shell runs a block; each of its lines must succeed.
func (p page) shell(t testing.TB, dir string, env []string, exported, text string) string {
	t.Helper()
	cmd := exec.CommandContext(bounded(t), "sh", "-eu", "-c", p.forTest(exported+text))
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	requireNoSecrets(t, string(out))
	require.NoError(t, err, "%s%s", text, out)
	return p.forPage(string(out))
}

// setGlobal is done by the fleet, which restores it at the end of the test.
var setGlobal = regexp.MustCompile(`^SET GLOBAL (\w+) = (\d+)$`)

func (p page) sql(t testing.TB, s *testfleet.Server, text string) {
	t.Helper()
	for statement := range strings.SplitSeq(strings.TrimSpace(text)+"\n", ";\n") {
		if statement == "" {
			continue
		}
		if found := setGlobal.FindStringSubmatch(statement); found != nil {
			s.SetGlobal(found[1], number(t, found[2]))
			continue
		}
		execute(t, s, p.forTest(statement))
	}
}

// version is that of a schema, which grows.
var version = regexp.MustCompile(`\d+ of \d+`)

// wrapped is where a line goes on: where it is broken depends on how long the
// names of servers and databases are, and in tests they are longer.
var wrapped = regexp.MustCompile(`\n {6,}`)

// compare looks for every line of a text block in the output before it.
func (p page) compare(t testing.TB, text, output, what string) {
	t.Helper()
	squeeze := func(s string) string {
		return version.ReplaceAllString(strings.Join(strings.Fields(s), " "), "N of N")
	}
	got := map[string]bool{}
	for line := range strings.Lines(wrapped.ReplaceAllString(output, " ")) {
		got[squeeze(line)] = true
	}
	for line := range strings.Lines(wrapped.ReplaceAllString(text, " ")) {
		require.True(t, got[squeeze(line)] || squeeze(line) == "", "%s\nnot printed: %s\nbut:\n%s", what, line, output)
	}
}

func (p page) forTest(text string) string {
	for _, n := range p.names {
		text = strings.ReplaceAll(text, n[0], n[1])
	}
	return text
}

// forPage turns what a page shows back: addresses and names of databases.
func (p page) forPage(text string) string {
	for _, n := range p.names {
		text = strings.ReplaceAll(text, n[1], n[0])
	}
	return text
}

// renameServers are the names of a fleet's servers as pages have them.
func renameServers(f *testfleet.Fleet) (names [][2]string) {
	for i, s := range f.Servers {
		names = append(names, [2]string{fmt.Sprintf("db%d:3306/oddeven", i+1), s.Addr() + "/" + f.Database})
	}
	return names
}
