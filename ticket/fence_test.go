package ticket

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestRoundsForLiesAboveOnEveryServer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, schema.MaxIncrement).Draw(t, "n")
		id := rapid.Int64Range(0, schema.Ceiling).Draw(t, "id")
		round := roundsFor(id, n)
		first := schema.Class{Offset: 1, Increment: n}
		if first.ID(round) <= id || round > 0 && first.ID(round-1) > id {
			t.Fatalf("round %d of increment %d for %d", round, n, id)
		}
	})
}

func TestShortenCutsWholeCharacters(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abc", shorten("abc", 3))
	require.Equal(t, "ab", shorten("abc", 2))
	require.Equal(t, "a", shorten("aäb", 2))
	require.Empty(t, shorten("ä", 1))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		n := rapid.IntRange(0, 300).Draw(t, "n")
		cut := shorten(s, n)
		if len(cut) > n || !strings.HasPrefix(s, cut) || utf8.ValidString(s) != utf8.ValidString(cut) || len(cut)+4 <= min(n, len(s)) {
			t.Fatalf("%q cut to %d is %q", s, n, cut)
		}
	})
}

func TestSameScheme(t *testing.T) {
	t.Parallel()
	a := rowOf(1, 1, 1)
	used := a
	used.TicketPeak, used.TicketHour, used.TicketHourRound = 1, 2, 3
	require.True(t, sameScheme(a, used))
	for name, change := range map[string]func(*schema.Server){
		"Gen":       func(s *schema.Server) { s.Gen++ },
		"Offset":    func(s *schema.Server) { s.Offset++ },
		"Increment": func(s *schema.Server) { s.Increment++ },
		"Identity":  func(s *schema.Server) { s.Identity[15]++ },
		"StartedAt": func(s *schema.Server) { s.StartedAt++ },
		"Ceiling":   func(s *schema.Server) { s.TicketCeiling-- },
	} {
		b := a
		change(&b)
		require.False(t, sameScheme(a, b), name)
	}
}
