package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPictureShowsWhereIDsCameFrom(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := sources{began: began}
	for i, id := range []int64{1, 2, 3, plane, plane + 5, 4} {
		s.note(id, began.Add(time.Duration(i)*slot))
	}
	var out strings.Builder
	s.print(&out, "events")
	require.Equal(t, "where events came from, one column for 50ms:\n"+
		"  server 1   #.#...\n"+
		"  server 2   .#...#\n"+
		"  Snowflake  ...##.\n", out.String())
	require.Equal(t, 5*slot, s.lastOf(servers))
	require.Zero(t, (&sources{}).lastOf(servers))
}

func TestPictureFitsATerminal(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, n := range []int{1, 59, 60, 61, 1000} {
		s := sources{began: began}
		for i := range n {
			s.note(1, began.Add(time.Duration(i)*slot))
		}
		var out strings.Builder
		s.print(&out, "events")
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, len(line), 80, "%d slots", n)
		}
	}
}
