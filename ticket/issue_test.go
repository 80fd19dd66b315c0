package ticket

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		row           schema.Server
		before, first int64
		rows          int
		kind          error
		says          string
	}{
		{"FirstEver", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, 0, 1, 1, nil, ""},
		{"JustAbove", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, 5, 7, 1, nil, ""},
		{"AfterAGap", schema.Server{Offset: 2, Increment: 2, TicketCeiling: 100}, 4, 90, 1, nil, ""},
		{"OneServer", schema.Server{Offset: 1, Increment: 1, TicketCeiling: 100}, 4, 5, 3, nil, ""},
		{"LastIsTheCeiling", schema.Server{Offset: 1, Increment: 3, TicketCeiling: 100}, 4, 100, 1, nil, ""},
		{"LastOfABatchIsTheCeiling", schema.Server{Offset: 1, Increment: 3, TicketCeiling: 100}, 4, 91, 4, nil, ""},
		{"OtherClass", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, 0, 2, 1, ErrScheme, "issued 2, which is not congruent to its offset 1 modulo 2"},
		{"Zero", schema.Server{Offset: 2, Increment: 2, TicketCeiling: 100}, -1, 0, 1, ErrScheme, "issued 0"},
		{"Negative", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, -10, -1, 1, ErrScheme, "issued -1"},
		{"Repeated", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, 7, 7, 1, ErrScheme, "issued 7 although it had issued 7 before"},
		{"WentBack", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, 99, 3, 1, ErrScheme, "issued 3 although it had issued 99 before"},
		{"AboveTheCeiling", schema.Server{Offset: 1, Increment: 2, TicketCeiling: 100}, 99, 101, 1, ErrExhausted, "has reached the ceiling 100"},
		{"LastOfABatchIsAboveTheCeiling", schema.Server{Offset: 1, Increment: 3, TicketCeiling: 100}, 4, 94, 4, ErrExhausted, "has reached the ceiling 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := check(tt.row, tt.before, tt.first, tt.rows)
			if tt.kind == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.kind)
			var e *ServerError
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Problem, tt.says)
			require.NotEmpty(t, e.Remedy)
			require.Empty(t, e.Server, "whoever knows its name fills it in")
		})
	}
}

func TestWhatCheckAcceptsKeepsTheScheme(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, schema.MaxIncrement).Draw(t, "n")
		row := schema.Server{Offset: rapid.Int64Range(1, n).Draw(t, "k"), Increment: n, TicketCeiling: rapid.Int64Range(n, schema.Ceiling-1).Draw(t, "ceiling")}
		before := rapid.Int64Range(0, row.TicketCeiling).Draw(t, "before")
		first := rapid.Int64Range(-10, row.TicketCeiling+10*n).Draw(t, "first")
		if rapid.Bool().Draw(t, "in class") {
			first = row.Class().ID(row.Class().Round(first))
		}
		rows := rapid.IntRange(1, stubsPerConn).Draw(t, "rows")
		wrong := false
		for i := range rows {
			id := first + int64(i)*n
			wrong = wrong || id <= before || id > row.TicketCeiling || id < 1 || (id-row.Offset)%n != 0
		}
		if err := check(row, before, first, rows); (err != nil) != wrong {
			t.Fatalf("wrong %v, but check says %v", wrong, err)
		}
	})
}

func TestReplaceRows(t *testing.T) {
	t.Parallel()
	require.Equal(t, queryReplace, replaceRows(1))
	for _, rows := range []int{1, 2, stubsPerConn} {
		query := replaceRows(rows)
		require.Equal(t, 4+rows, strings.Count(query, "?"), "connection, increment, offset, generation, and a stub for each row")
		require.Equal(t, 1, strings.Count(query, "EXP(1000)"), "only the first row proves the scheme")
		require.Equal(t, strings.Count(query, "("), strings.Count(query, ")"))
		require.True(t, strings.HasPrefix(query, "REPLACE INTO `tickets` (`stub`) VALUES ("), "never REPLACE … SELECT, which does not lock the server's row")
	}
}
