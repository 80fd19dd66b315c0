package migrations

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

func TestTableName(t *testing.T) {
	t.Parallel()
	long := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'x'
		}
		return string(b)
	}
	tests := []struct{ name, table, database, want string }{
		{"Plain", "Tickets64", "", "Tickets64"},
		{"WithDatabase", "flickr.Tickets64", "flickr", "Tickets64"},
		{"DatabaseWithHyphen", "old-shop.t$1_", "old-shop", "t$1_"},
		{"LongestThatLeavesRoomForTheSuffix", long(64 - len(AdoptedSuffix)), "", long(64 - len(AdoptedSuffix))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, []string{tt.table, tt.database, tt.want}, tableName.FindStringSubmatch(tt.table))
		})
	}
	for _, bad := range []string{
		"", ".", "a.", ".b", "a.b.c", "a b", "a`b", "`a`", "a;b", "a'b", "a\n", "a.b\n", "a-b", "ä", "a--", "a/*b*/",
		long(65 - len(AdoptedSuffix)), long(65) + ".t",
	} {
		require.Nil(t, tableName.FindStringSubmatch(bad), "%q", bad)
	}
}

func TestAdoptRefusesWhatIsNoTableName(t *testing.T) {
	t.Parallel()
	report, err := Adopt(t.Context(), Config{}, "t`; DROP TABLE x; --")
	var bad *ticket.ConfigError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "table", bad.Field)
	require.Contains(t, err.Error(), "write TABLE or DATABASE.TABLE")
	require.Nil(t, report)
}

func TestNewAdoption(t *testing.T) {
	t.Parallel()
	a := newAdoption("", "Tickets64")
	require.Equal(t, "`Tickets64`", a.from)
	require.Equal(t, "`Tickets64_adopted`", a.to)
	a = newAdoption("flickr", "Tickets64")
	require.Equal(t, "`flickr`.`Tickets64`", a.from)
	require.Equal(t, "`flickr`.`Tickets64_adopted`", a.to)
}

func TestIncrementColumn(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, definition, want string }{
		{"Flickr", "CREATE TABLE `Tickets64` (\n  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,\n  `stub` char(1) NOT NULL DEFAULT '',\n" +
			"  PRIMARY KEY (`id`),\n  UNIQUE KEY `stub` (`stub`)\n) ENGINE=MyISAM AUTO_INCREMENT=9 DEFAULT CHARSET=latin1", "`id`"},
		{"NotTheFirst", "CREATE TABLE `t` (\n  `stub` char(1) NOT NULL,\n  `ticket` int NOT NULL AUTO_INCREMENT COMMENT 'x',\n  KEY (`ticket`)\n)", "`ticket`"},
		{"None", "CREATE TABLE `t` (\n  `id` bigint NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB", ""},
		{"OnlyTheTableOption", "CREATE TABLE `t` (\n  `id` bigint NOT NULL\n) ENGINE=InnoDB AUTO_INCREMENT=5", ""},
		{"QuoteInTheName", "CREATE TABLE `t` (\n  `i``d` bigint NOT NULL AUTO_INCREMENT,\n  PRIMARY KEY (`i``d`)\n)", "`i``d`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, incrementColumn(tt.definition))
		})
	}
}

func TestTargetIsTheNextOfTheClassAboveAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, schema.MaxIncrement).Draw(t, "n")
		k := rapid.Int64Range(1, n).Draw(t, "k")
		a := &adoption{top: rapid.Int64Range(0, schema.Ceiling).Draw(t, "top")}
		m := &member{row: &schema.Server{Offset: k, Increment: n}}
		target := a.target(m)
		if !m.row.Class().Owns(target) || target <= a.top || (target-n > a.top) {
			t.Fatalf("target %d for a table at %d on offset %d of %d", target, a.top, k, n)
		}
	})
}

func TestCheckRoom(t *testing.T) {
	t.Parallel()
	m := &member{report: ServerReport{Server: "db1:3306/oddeven"}, row: &schema.Server{Offset: 1, Increment: 2, TicketCeiling: schema.CeilingFor(0)}}
	require.NoError(t, (&adoption{}).checkRoom(t.Context(), m))
	require.NoError(t, (&adoption{top: 72157623227190424 / 10}).checkRoom(t.Context(), m))
	for _, top := range []int64{schema.Ceiling - 1, schema.Ceiling, 72157623227190424} {
		err := (&adoption{top: top}).checkRoom(t.Context(), m)
		require.ErrorIs(t, err, ErrAdopt)
		require.ErrorContains(t, err, "server db1:3306/oddeven: tickets cannot start above")
	}
}
