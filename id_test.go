package oddeven_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
)

// largest is the largest ID.
const largest oddeven.ID = math.MaxInt64

var (
	_ fmt.Stringer             = oddeven.ID(0)
	_ encoding.TextAppender    = oddeven.ID(0)
	_ encoding.TextMarshaler   = oddeven.ID(0)
	_ encoding.TextUnmarshaler = (*oddeven.ID)(nil)
	_ json.Marshaler           = oddeven.ID(0)
	_ json.Unmarshaler         = (*oddeven.ID)(nil)
	_ driver.Valuer            = oddeven.ID(0)
	_ sql.Scanner              = (*oddeven.ID)(nil)
	_ slog.LogValuer           = oddeven.ID(0)
)

// interesting IDs are the ends of the ranges that IDs are in.
var interesting = []oddeven.ID{0, 1, 9, 10, 31, 32, 1<<31 - 1, 1 << 31, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1 << 60, largest - 1, largest}

// anyID draws IDs of all lengths, 0 included.
func anyID(t *rapid.T, label string) oddeven.ID {
	return oddeven.ID(rapid.Int64Range(0, math.MaxInt64).Draw(t, label) >> rapid.IntRange(0, 63).Draw(t, label+" shift"))
}

// requireIDError checks that err is an *IDError that is complete.
func requireIDError(t require.TestingT, err error, input string, position int, message string) {
	var e *oddeven.IDError
	require.ErrorAs(t, err, &e)
	require.Equal(t, input, e.Input)
	require.Equal(t, position, e.Position)
	require.NotEmpty(t, e.Problem)
	require.NotEmpty(t, e.Remedy)
	require.ErrorContains(t, err, message)
}

func TestIDString(t *testing.T) {
	t.Parallel()
	for id, want := range map[oddeven.ID]string{
		0: "0", 42: "42", largest: "9223372036854775807",
		-1: "-1", math.MinInt64: "-9223372036854775808", // for people
	} {
		require.Equal(t, want, id.String())
		require.Equal(t, want, fmt.Sprint(id))
		require.Equal(t, want, fmt.Sprintf("%d", id))
	}
}

func TestIDIsZero(t *testing.T) {
	t.Parallel()
	require.True(t, oddeven.ID(0).IsZero())
	for _, id := range []oddeven.ID{1, -1, largest} {
		require.False(t, id.IsZero())
	}
}

func TestIDShard(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id    oddeven.ID
		bits  int
		shard int64
	}{
		{0b1011_0110, 0, 0},
		{0b1011_0110, 1, 0},
		{0b1011_0110, 4, 0b0110},
		{0b1011_0110, 8, 0b1011_0110},
		{largest, 10, 1023},
		{largest, 62, 1<<62 - 1},
		{largest, 63, math.MaxInt64},
		{largest, 64, math.MaxInt64},
		{largest, math.MaxInt, math.MaxInt64},
		{largest, -1, 0},
		{largest, math.MinInt, 0},
		{-1, 10, 1023},
		{-1, 64, math.MaxInt64},
	} {
		require.Equal(t, tt.shard, tt.id.Shard(tt.bits), "%d, %d bits", tt.id, tt.bits)
	}
}

// What was composed as value and shard comes apart again.
func TestIDShardIsTheLowestBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.IntRange(0, 32).Draw(t, "bits")
		shard := rapid.Int64Range(0, 1<<bits-1).Draw(t, "shard")
		value := rapid.Int64Range(0, math.MaxInt64>>bits).Draw(t, "value")
		if got := oddeven.ID(value<<bits | shard).Shard(bits); got != shard {
			t.Fatalf("shard %d, want %d", got, shard)
		}
	})
}

// A number above 2^53 in a log is rounded by viewers in JavaScript.
func TestIDIsLoggedAsAString(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("created", "order", largest)
	require.Contains(t, out.String(), `"order":"9223372036854775807"`)
	out.Reset()
	slog.New(slog.NewTextHandler(&out, nil)).Info("created", "order", largest)
	require.Contains(t, out.String(), "order=9223372036854775807\n")
	require.Equal(t, slog.KindString, oddeven.ID(-5).LogValue().Kind())
}

func TestIDAsAFlag(t *testing.T) {
	t.Parallel()
	var id oddeven.ID
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(new(bytes.Buffer))
	flags.TextVar(&id, "id", oddeven.ID(7), "")
	require.NoError(t, flags.Parse(nil))
	require.Equal(t, oddeven.ID(7), id)
	require.NoError(t, flags.Parse([]string{"-id=42"}))
	require.Equal(t, oddeven.ID(42), id)
	require.ErrorContains(t, flags.Parse([]string{"-id=0x42"}), "'x' where a digit belongs")
	require.Equal(t, oddeven.ID(42), id)
}

func TestIDErrorShowsLittleOfTheInput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, input, shown string }{
		{"Short", "x", "x"},
		{"JustFits", "x234567890123456789012345678901234567890", "x234567890123456789012345678901234567890"},
		{"TooLong", "x2345678901234567890123456789012345678901", "x234567890123456789012345678901234567890…"},
		{"CharacterAtTheCut", "x23456789012345678901234567890123456789é", "x23456789012345678901234567890123456789…"},
		{"NoCharacterAtTheCut", "x2345678901234567890123456789\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "x2345678901234567890123456789\x80\x80\x80\x80\x80\x80\x80…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := oddeven.ParseID(tt.input)
			requireIDError(t, err, tt.shown, 0, "'x' where a digit belongs, at position 0")
		})
	}
}

func TestIDErrorEscapesTheInput(t *testing.T) {
	t.Parallel()
	for input, message := range map[string]string{
		"1\x1b[31m":   `oddeven: ID "1\x1b[31m" has '\x1b' where a digit belongs, at position 1: give 1 to 19 decimal digits and nothing else, without leading zeros`,
		"12\n":        `ID "12\n" has '\n' where a digit belongs, at position 2: `,
		"1\"2":        `ID "1\"2" has '"' where a digit belongs, at position 1: `,
		"1\xff2":      `ID "1\xff2" has the byte 0xff where a digit belongs, at position 1: `,
		"１２":          `ID "１２" has '１' where a digit belongs, at position 0: `,
		"1\u202e2":    `ID "1\u202e2" has '\u202e' where a digit belongs, at position 1: `,
		"1\xe2\x80":   `has the byte 0xe2 where a digit belongs, at position 1: `,
		"1\ufffd":     `has '�' where a digit belongs, at position 1: `,
		"1\U0001f600": `has '😀' where a digit belongs, at position 1: `,
	} {
		_, err := oddeven.ParseID(input)
		require.ErrorContains(t, err, message)
	}
}
