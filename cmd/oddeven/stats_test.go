package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompactNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 9999: "9999", 10_000: "10.0k", 99_949: "99.9k", 99_950: "100k", 999_499: "999k", 999_500: "1.00M", 12_345_678: "12.3M",
		1<<53 - 1: "9.01P", 1<<63 - 1: "9.22E", -5: "-5", -12_345: "-12.3k", -1 << 63: "-0",
	} {
		require.Equal(t, want, compact(n), n)
		require.LessOrEqual(t, len(strings.TrimPrefix(compact(n), "-")), 5)
	}
	for rate, want := range map[float64]string{-1: "-", 0: "0", 0.001: "<0.01", 0.05: "0.05", 9.994: "9.99", 9.996: "10.0", 453.4: "453", 1e21: "1000E"} {
		require.Equal(t, want, perSecond(rate), rate)
	}
}

func TestShortenedTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abcdef", middle("abcdef", 6))
	require.Equal(t, "ab..f", middle("abcdef", 5))
	require.Equal(t, "ü..ß", middle("üäöß€ß", 4))
	require.Equal(t, "a", middle("abcdef", 1))
	require.Equal(t, "abc ..", end("abc defgh", 6))
	require.Equal(t, "ab", end("abcdef", 2))
	require.Empty(t, end("abcdef", 0))
	require.Equal(t, "plain", cut("plain", 5))
	require.Equal(t, "pla", cut("plain", 3))
	require.Equal(t, "\x1b[31mpl\x1b[0m", cut("\x1b[31mplain\x1b[0m", 2))
	require.Equal(t, "\x1b[31mplain\x1b[0m", cut("\x1b[31mplain\x1b[0m", 5), "escapes take no room")
}

// A column that gives way is left out before it says nothing any more.
func TestColumns(t *testing.T) {
	t.Parallel()
	heads := []tableColumn{{head: "#"}, {head: "NAME", left: true, short: true}, {head: "VALUE"}}
	row := func(name, value string) [][]cell { return [][]cell{{plain("1"), plain(name), {value, toneBad}}} }
	require.Equal(t, []string{"#  NAME  VALUE", "1  a         7"}, columns(false, heads, row("a", "7")))
	require.Equal(t, []string{"#  NAME  VALUE", "1  a         \x1b[31m7\x1b[0m"}, columns(true, heads, row("a", "7")))
	long := columns(false, heads, row(strings.Repeat("a", 50), strings.Repeat("7", 50)))
	require.Equal(t, "1 "+strings.Repeat("a", 13)+".."+strings.Repeat("a", 12)+" "+strings.Repeat("7", 50), long[1])
	require.Equal(t, "1  "+strings.Repeat("7", 75), columns(false, heads, row("aaaaaaaaa", strings.Repeat("7", 75)))[1])
}

func TestStatsUsage(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"--watch needs a terminal":                 {"--watch"},
		"--watch draws a table; leave it":          {"--watch", "-o", "csv"},
		`"xml": must be table, json or csv`:        {"-o", "xml"},
		"no servers: give --server ":               {},
		"read --config /nowhere/x.y: no such file": {"--config", "/nowhere/x.y"},
		"NAME": {""},
	} {
		r := command(t, nil, append([]string{"stats"}, args...)...)
		require.Equal(t, exitUsage, r.code, says)
		require.Empty(t, r.out)
		require.Contains(t, r.err, says)
		require.True(t, strings.HasSuffix(r.err, "\nTry: oddeven stats --help\n"), r.err)
	}
}

// Nobody is on a terminal in a test; what is written is plain.
func TestColoursOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	a := &app{streams: streams{out: &bytes.Buffer{}}, lookup: none}
	require.False(t, bool(a.colours()))
	a.screen = func() (columns, lines int) { return 0, 0 }
	require.True(t, bool(a.colours()))
	require.Equal(t, "x", colours(false).paint(toneBad, "x"))
	require.Equal(t, "x", colours(true).paint(toneNone, "x"))
	require.Equal(t, "\x1b[32mx\x1b[0m", colours(true).paint(toneGood, "x"))
}
