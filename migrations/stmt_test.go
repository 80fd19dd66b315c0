package migrations

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStmtString(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 14, 0, 5, 0, time.FixedZone("", 2*3600))
	tests := []struct {
		name string
		s    stmt
		want string
	}{
		{"NoArguments", stmt{"DROP TABLE `t`", nil}, "DROP TABLE `t`"},
		{"Number", stmt{"VALUES (?, ?)", []any{int64(-3), 1 << 40}}, "VALUES (-3, 1099511627776)"},
		{"Bool", stmt{"VALUES (?, ?)", []any{true, false}}, "VALUES (1, 0)"},
		{"Null", stmt{"SET a = ?", []any{nil}}, "SET a = NULL"},
		{"Bytes", stmt{"SET a = ?", []any{[]byte{0, 0xab, '\''}}}, "SET a = x'00ab27'"},
		{"NoBytes", stmt{"SET a = ?", []any{[]byte{}}}, "SET a = x''"},
		{"Text", stmt{"SET a = ?", []any{"abc"}}, "SET a = 'abc'"},
		{"QuoteAndBackslash", stmt{"SET a = ?", []any{`it's a \`}}, `SET a = 'it''s a \\'`},
		{"QuestionMarkInAnArgument", stmt{"SET a = ?, b = ?", []any{"why?", 2}}, "SET a = 'why?', b = 2"},
		{"TimeInUTC", stmt{"SET a = ?", []any{at}}, "SET a = '2026-07-01 12:00:05'"},
		{"FewerArgumentsThanMarks", stmt{"SET a = ?, b = ?", []any{1}}, "SET a = 1, b = ?"},
		{"NotASCII", stmt{"SET `ä` = ?", []any{"ö"}}, "SET `ä` = 'ö'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.s.String())
		})
	}
}

func TestFirstWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "INSERT INTO `workers`", firstWords(queryInsertWorkers))
	require.Equal(t, "COMMIT", firstWords("COMMIT"))
	require.Empty(t, firstWords(""))
}
