package importer

import (
	"math"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

func TestConfigsThatCannotBe(t *testing.T) {
	t.Parallel()
	sources := []*mysql.Config{mysql.NewConfig()}
	for want, c := range map[string]Config{
		"Sources":    {Kind: Leaf},
		"Sources[0]": {Kind: Leaf, Sources: []*mysql.Config{nil}},
		"Kind":       {Sources: sources},
		"Kind ":      {Kind: "tinyid", Sources: sources},
		"Margin":     {Kind: Leaf, Sources: sources, Margin: -1},
		"Margin ":    {Kind: Leaf, Sources: sources, Margin: schema.Ceiling},
		"Ceiling":    {Kind: Leaf, Sources: sources, Ceiling: -1},
		"Tables":     {Kind: Leaf, Sources: sources, Tables: []string{"a", "b"}},
		"Tables ":    {Kind: AutoIncrement, Sources: sources},
		"Tables  ":   {Kind: AutoIncrement, Sources: sources, Tables: []string{""}},
		"Tables   ":  {Kind: AutoIncrement, Sources: sources, Tables: []string{".b"}},
		"Tables    ": {Kind: AutoIncrement, Sources: sources, Tables: []string{"a`b"}},
		"Tags":       {Kind: AutoIncrement, Sources: sources, Tables: []string{"a"}, Tags: []string{"b"}},
		"Column":     {Kind: Leaf, Sources: sources, Column: "id"},
		"Scattered":  {Kind: Leaf, Sources: sources, Scattered: true},
		"As":         {Kind: Leaf, Sources: sources, As: map[string]string{"a": "b\n"}},
	} {
		_, err := c.withDefaults()
		var config *ticket.ConfigError
		require.ErrorAs(t, err, &config, want)
		require.Equal(t, strings.TrimSpace(want), config.Field)
	}
	c, err := Config{Kind: Leaf, Sources: sources}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, []string{LeafTable}, c.Tables)
}

func TestParseTable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]table{"a": {"", "a"}, "shop.a b": {"shop", "a b"}, "-": {"", "-"}} {
		got, err := parseTable(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Equal(t, "`sh``op`.`a`", table{"sh`op", "a"}.quoted())
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for want, c := range map[int64]columnRow{
		127: {Type: "tinyint"}, 255: {Type: "TINYINT", Unsigned: true}, 32767: {Type: "smallint"}, 65535: {Type: "smallint", Unsigned: true},
		8388607: {Type: "mediumint"}, 16777215: {Type: "mediumint", Unsigned: true}, math.MaxInt32: {Type: "int"}, math.MaxUint32: {Type: "int", Unsigned: true},
		math.MaxInt64: {Type: "bigint"}, 0: {Type: "decimal"},
	} {
		require.Equal(t, want, limitOf(c), c)
	}
}

// A counter at the end of its column stands still: that number may be issued.
func TestPassedBy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		next  uint64
		limit int64
		want  uint64
	}{{0, 127, 0}, {1, 127, 0}, {2, 127, 1}, {126, 127, 125}, {127, 127, 127}, {128, math.MaxInt64, 127}, {math.MaxUint64, math.MaxInt64, math.MaxUint64 - 1}} {
		require.Equal(t, c.want, passedBy(c.next, c.limit), c)
	}
}

func TestCeilings(t *testing.T) {
	t.Parallel()
	wide := int64(math.MaxInt64)
	for name, c := range map[string]struct {
		highest, limit, margin, ceiling int64
		bits                            int
		want                            int64  // or
		problem                         string // of the error
	}{
		"widest":              {5, wide, 0, 0, 0, 1<<53 - 1, ""},
		"int":                 {5, math.MaxInt32, 0, 0, 0, math.MaxInt32, ""},
		"int, shards":         {5, math.MaxInt32, 0, 0, 8, 1<<23 - 1, ""},
		"bigint, shards":      {5, wide, 0, 0, 8, 1<<45 - 1, ""},
		"asked for":           {5, wide, 0, 1000, 0, 1000, ""},
		"lower than int":      {5, math.MaxInt32, 0, 1000, 0, 1000, ""},
		"higher than int":     {5, math.MaxInt32, 0, 1 << 31, 0, 0, "holds, 2147483647"},
		"higher than all":     {5, wide, 0, 1 << 53, 0, 0, "largest ID of this fleet"},
		"full":                {127, 127, 0, 0, 0, 0, "would start at 128, above its ceiling, 127"},
		"margin":              {100, 127, 27, 0, 0, 0, "would start at 128"},
		"margin, last":        {100, 127, 26, 0, 0, 127, ""},
		"margin, overflowing": {1<<53 - 1, wide, 1<<53 - 1, 0, 0, 0, "above its ceiling"},
		"shards, full":        {1 << 30, math.MaxInt32, 0, 0, 8, 0, "above its ceiling, 8388607"},
	} {
		n := Numbering{Sequence: "s", Highest: c.highest, Limit: c.limit, Readings: []Reading{{Source: "db/a", Old: "a.id", Limit: c.limit}}}
		got, err := Config{Margin: c.margin, Ceiling: c.ceiling}.ceiling(n, c.bits)
		if c.problem != "" {
			require.ErrorIs(t, err, ErrRow, name)
			require.ErrorContains(t, err, c.problem, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}
