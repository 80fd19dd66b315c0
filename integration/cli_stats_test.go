//go:build unix

package integration

import (
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/sequence"
)

// terminal is the program on a terminal of its own.
type terminal struct {
	process
	pty *os.File
	eof chan struct{} // closed when all output has been read
}

// onTerminal starts the program on a terminal of so many lines. It is killed at
// the end of the test if it still runs.
func onTerminal(t testing.TB, lines uint16, env []string, args ...string) *terminal {
	t.Helper()
	p := &terminal{process: process{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), programPath(t), args...), done: make(chan struct{})}, eof: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR="), env...)
	p.cmd.Dir = t.TempDir()
	var err error
	p.pty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: lines, Cols: 100})
	require.NoError(t, err)
	go func() {
		defer close(p.eof)
		_, _ = io.Copy(&p.out, p.pty) // ends with an error when the program does
	}()
	go func() {
		p.result = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill(t)
		_ = p.pty.Close()
		<-p.eof
		requireNoSecrets(t, p.out.String())
	})
	return p
}

// picture is what one redrawing puts on the terminal.
var picture = regexp.MustCompile(`(?s)\x1b\[H(.*?)\x1b\[J`)

// pictures are those that are complete.
func (p *terminal) pictures() []string {
	var all []string
	for _, found := range picture.FindAllStringSubmatch(p.out.String(), -1) {
		all = append(all, found[1])
	}
	return all
}

// until waits for a picture, after the first so many, that holds a text, and
// returns how many there are up to it.
func (p *terminal) until(t testing.TB, after int, text string) int {
	t.Helper()
	for {
		all := p.pictures()
		for i := after; i < len(all); i++ {
			if strings.Contains(all[i], text) {
				return i + 1
			}
		}
		select {
		case <-p.done:
			require.Fail(t, "the program has ended", "%s", p.out.String())
		case <-bounded(t).Done():
			require.Fail(t, "waited in vain for "+text, "%s", p.out.String())
		case <-time.After(20 * time.Millisecond): // asks again
		}
	}
}

// stop presses Ctrl-C and returns the exit code.
func (p *terminal) stop(t testing.TB) int {
	t.Helper()
	_, err := p.pty.Write([]byte{3})
	require.NoError(t, err)
	return p.wait(t)
}

var escape = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// stats --watch draws in place, shows a server that fails and one that is back,
// keeps its connections, and ends with Ctrl-C.
func TestStatsAreWatchedOnATerminal(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	create(t, fleet, sequence.Spec{Name: "orders"})
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(servers.DSNs(), " ")}
	p := onTerminal(t, 40, env, "stats", "--watch")
	seen := p.until(t, 1, "2 of 2 servers up")
	had := connections(t, servers.Servers[0])
	seen = p.until(t, seen+1, "(now 0)")
	require.Subset(t, connections(t, servers.Servers[0]), had, "kept")
	servers.Servers[1].Cut()
	seen = p.until(t, seen, "unreachable")
	servers.Servers[1].Heal()
	p.until(t, seen, "2 of 2 servers up")
	require.Zero(t, p.stop(t))
	<-p.eof
	out := p.out.String()
	require.Equal(t, 1, strings.Count(out, "\x1b[2J"), "cleared once")
	require.Contains(t, out, "\x1b[32m2 of 2 servers up\x1b[0m")
	require.Contains(t, out, "\x1b[31munreachable\x1b[0m")
	require.NotContains(t, out, "\x1b[?", "no mode is switched that would have to be switched back")
	require.True(t, strings.HasSuffix(out, "\n"), "the shell goes on below")
	for _, drawn := range p.pictures() {
		for line := range strings.Lines(drawn) {
			if !strings.Contains(line, "server "+servers.Servers[1].Addr()) { // an error, cut at the terminal's width
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(escape.ReplaceAllString(line, ""), "\r\n")), 80, line)
			}
		}
	}

	// Without colours, and with room for five lines.
	p = onTerminal(t, 5, append(slices.Clone(env), "NO_COLOR=1"), "stats", "-w", "orders")
	seen = p.until(t, 0, " more lines; name sequences")
	require.Equal(t, 4, strings.Count(p.pictures()[seen-1], "\n"))
	require.Zero(t, p.stop(t))
	require.NotRegexp(t, `\x1b\[\d+m`, p.out.String())

	// A dumb terminal gets no colours, either.
	p = onTerminal(t, 40, append(slices.Clone(env), "TERM=dumb"), "stats")
	require.Zero(t, p.wait(t))
	<-p.eof
	require.NotContains(t, p.out.String(), "\x1b[")

	// A name that nobody has ends it at once.
	p = onTerminal(t, 40, env, "stats", "-w", "nothing")
	require.Equal(t, 1, p.wait(t))
}

// connections are those that applications have to the database of the test.
func connections(t testing.TB, s *testfleet.Server) []int64 {
	t.Helper()
	rows, err := s.DB().QueryContext(bounded(t), "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND USER LIKE '%app%'")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var all []int64
	for rows.Next() {
		var id int64
		require.NoError(t, rows.Scan(&id))
		all = append(all, id)
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, all)
	return all
}
