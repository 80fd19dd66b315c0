package importer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

// What gets one name becomes one sequence, above the largest of all.
func TestReadingsWithOneNameAreOneNumbering(t *testing.T) {
	t.Parallel()
	readings := []Reading{
		{Source: "db1/a", Old: "a.orders.id", Highest: 7, Limit: math.MaxInt64, keys: []string{"a.orders", "a.orders", "orders"}, name: "orders", warnings: []string{"w"}},
		{Source: "db2/b", Old: "b.orders.id", Highest: 9, Limit: math.MaxInt32, keys: []string{"b.orders", "b.orders", "orders"}, name: "orders", warnings: []string{"w"}},
		{Source: "db1/a", Old: "a.items.id", Highest: 3, Limit: math.MaxInt64, keys: []string{"items", "a.items", "items"}, name: "items"},
	}
	all, err := Config{}.group(readings)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "items", all[0].Sequence)
	require.Equal(t, int64(9), all[1].Highest)
	require.Equal(t, int64(math.MaxInt32), all[1].Limit)
	require.Equal(t, []string{"w"}, all[1].Warnings)
	require.Equal(t, "b.orders.id on db2/b", all[1].narrowest())

	all, err = Config{As: map[string]string{"b.orders": "old", "items": "old"}}.group(readings)
	require.NoError(t, err)
	require.Equal(t, []string{"old", "orders"}, []string{all[0].Sequence, all[1].Sequence})
	require.Equal(t, int64(9), all[0].Highest)

	_, err = Config{As: map[string]string{"nothing": "old"}}.group(readings)
	config, ok := errors.AsType[*ticket.ConfigError](err)
	require.True(t, ok)
	require.Equal(t, "As", config.Field)
}

// A table that may be missing in one source must be in another one.
func TestScatteredTablesAreSomewhere(t *testing.T) {
	t.Parallel()
	readings := []Reading{{Source: "db2/b", Old: "b.orders.id", keys: []string{"orders", "b.orders", "orders"}}}
	c := Config{Kind: AutoIncrement, Tables: []string{"orders"}, Scattered: true}
	require.NoError(t, c.unread(readings))
	c.Tables = append(c.Tables, "items")
	err := c.unread(readings)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "table items: is in no source, or the accounts may not read it")
	require.NotContains(t, err.Error(), "orders")
}

func TestRises(t *testing.T) {
	t.Parallel()
	at := func(sequence, source string, highest int64) Numbering {
		return Numbering{Sequence: sequence, Readings: []Reading{{Source: source, Old: "t", Highest: highest}}}
	}
	require.Empty(t, rises(nil, []Numbering{at("a", "db1", 5)}), "nobody was asked")
	require.Empty(t, rises([]Numbering{at("a", "db1", 5)}, []Numbering{at("a", "db1", 5), at("b", "db1", 9)}))
	require.Equal(t, []rise{{"a", "t on db2", 5, 6}}, rises([]Numbering{at("a", "db1", 5), at("a", "db2", 5)}, []Numbering{at("a", "db1", 4), at("a", "db2", 6)}))
}

func TestDescriptionsBecomeFit(t *testing.T) {
	t.Parallel()
	require.Equal(t, "of the shop", describe(" of\nthe\u2028shop\x7f"))
	require.Equal(t, strings.Repeat("é", 255), describe(strings.Repeat("é", 256)))
	require.Equal(t, "a\ufffdb", describe("a\xffb"))
	require.Empty(t, describe("\t"))
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "12": 12, "9223372036854775807": math.MaxInt64, "18446744073709551615": math.MaxInt64, "x": math.MaxInt64} {
		got, negative := number(text)
		require.Equal(t, want, got, text)
		require.False(t, negative)
	}
	_, negative := number("-3")
	require.True(t, negative)
}
