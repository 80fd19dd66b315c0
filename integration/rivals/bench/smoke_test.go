package bench

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// shortScenes kill both servers and start them again.
var shortScenes = []scene{
	{300 * time.Millisecond, []int{0, 1}, true}, {time.Second, []int{0, 1}, false},
}

// TestSmoke measures every line for a moment: what it does must work, and the
// table, the page and the picture must be whole. Figures are of no interest.
func TestSmoke(t *testing.T) {
	r := Options{
		Window: 2 * time.Millisecond, Rounds: 1, IDs: 20_000, Paced: 100 * time.Millisecond, Kill: true, Scenes: shortScenes, Progress: io.Discard,
	}.run(t)
	require.NotNil(t, r)
	require.NotNil(t, r.failover)
	for _, what := range r.missing { // Redis, where it is not installed
		fmt.Fprintf(os.Stderr, "bench: NOT TESTED: %s\n", what)
	}
	require.Subset(t, []string{"Redis"}, r.missing)
	r.command = "make bench"
	checkTable(t, &r.table)
	checkFailover(t, r.failover)

	dir := filepath.Join(t.TempDir(), "docs")
	require.NoError(t, r.write(dir))
	page := read(t, dir, pageName)
	for _, g := range r.table.groups {
		require.Contains(t, page, "**"+g.title+"**")
		for _, l := range g.lines {
			require.Contains(t, page, "| "+l.name+" |")
		}
	}
	for _, want := range []string{"# Benchmarks\n", "## The table\n", "## Through a failover\n", "](failover.svg)", "## Measured on\n", "github.com/rs/xid v", "`make bench`"} {
		require.Contains(t, page, want)
	}
	hand := strings.Replace(page, handBegin+"\n", handBegin+"\nmine\n", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, pageName), []byte(hand), 0o600))
	require.NoError(t, r.write(dir))
	require.Contains(t, read(t, dir, pageName), handBegin+"\nmine\n"+handEnd, "what is written by hand stays")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2, "nothing is left over")
	wellFormed(t, read(t, dir, pictureName))
}

func checkTable(t *testing.T, table *table) {
	require.GreaterOrEqual(t, len(table.groups), 2)
	for _, g := range table.groups {
		for _, l := range g.lines {
			require.LessOrEqual(t, utf8.RuneCountInString(l.name), nameWidth, l.name)
			require.NotEmpty(t, l.does, l.name)
			for _, callers := range g.callers {
				require.Positive(t, l.costs[callers], "%s, %d callers", l.name, callers)
			}
			if l.base != "" {
				require.NotNil(t, table.base(g, l), "%s is compared with %s", l.name, l.base)
			}
		}
	}
	for _, name := range []string{lineGenerator, "Allocator.Next", lineBurst, lineSustained, lineTickets, "tickets, two servers", lineRefill} {
		ours := table.line(name)
		require.NotNil(t, ours, name)
		require.True(t, ours.looked, name)
		require.Zero(t, ours.found.duplicates, name)
		require.Zero(t, ours.killed, "%s after a kill", name)
	}
	if forgetful := table.line("INCR, no AOF"); forgetful != nil {
		require.EqualValues(t, killDraws, forgetful.killed, "a server that keeps nothing begins anew")
		require.Zero(t, table.line("INCR, always").killed)
	}
	var out strings.Builder
	require.NoError(t, table.print(&out))
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
}

func checkFailover(t *testing.T, f *failover) {
	require.Len(t, f.spans, 2)
	require.Positive(t, f.sequence.calls[fromWorker], "both servers were down")
	require.Zero(t, f.sequence.calls[failed], "%v", f.sequence.err)
	require.Zero(t, f.sequence.duplicates())
	require.Zero(t, f.tickets.duplicates())
}

func read(t *testing.T, dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func wellFormed(t *testing.T, svg string) {
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}
