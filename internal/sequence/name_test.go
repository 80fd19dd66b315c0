package sequence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

func TestNamesThatCanBeUsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", "order", "Order", "order ", " ", "a.b/c", "`order`", "'", "ordre-éà", "命令", "🎫", "\u00a0", "%_", "NULL",
		strings.Repeat("x", 128), strings.Repeat("é", 64), "\u200b", "\ufeff",
	} {
		require.NoError(t, sequence.CheckName(name), "%q", name)
	}
}

func TestNamesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, sequence, says string }{
		{"Empty", "", "sequence: has no name; give it 1 to 128 bytes"},
		{"TooLong", strings.Repeat("x", 129), "is 129 bytes long; a name has at most 128"},
		{"TooManyBytes", strings.Repeat("é", 65), "is 130 bytes long"},
		{"NotUTF8", "a\xff", `sequence = "a\xff": is not UTF-8`},
		{"HalfARune", "é"[:1], "is not UTF-8"},
		{"Surrogate", "\xed\xa0\x80", "is not UTF-8"},
		{"NUL", "a\x00b", `sequence = "a\x00b": has a control character or line separator, U+0000, at byte 1`},
		{"Newline", "a\n", "U+000A"},
		{"Tab", "\ta", "U+0009, at byte 0"},
		{"Delete", "a\x7f", "U+007F"},
		{"C1", "a\u0085", "U+0085"},
		{"LastC1", "a\u009f", "U+009F"},
		{"LineSeparator", "a\u2028", "U+2028"},
		{"ParagraphSeparator", "a\u2029", "U+2029"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := sequence.CheckName(tt.sequence)
			var config *ticket.ConfigError
			require.ErrorAs(t, err, &config)
			require.Equal(t, "sequence", config.Field)
			require.ErrorContains(t, err, tt.says)
			require.NotRegexp(t, `[\x00-\x1f\x7f]`, err.Error())
		})
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	require.Equal(t, "leaf-segment-test", sequence.ShellQuote("leaf-segment-test"))
	require.Equal(t, `'it'\''s $x'`, sequence.ShellQuote("it's $x"))
	require.Equal(t, "''", sequence.ShellQuote(""))
	require.Equal(t, "-- -orders", sequence.ShellQuote("-orders"), "or it would be taken for a flag")
}
