package migrations

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

var (
	createTable = regexp.MustCompile("^CREATE TABLE IF NOT EXISTS `([a-z_]+)` \\(")
	quoted      = regexp.MustCompile(`'[^']*'`)
	tableEnd    = regexp.MustCompile(`(?m)^\) ENGINE=InnoDB .*COMMENT='([^']*)';$`)
)

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	all := All()
	require.NotEmpty(t, all)
	for i, m := range all {
		require.Equal(t, int64(i+1), m.Version, m.Name)
		require.Regexp(t, `^\d{5}_[a-z_]+\.sql$`, m.Name)
	}
	require.Equal(t, int64(len(all)), Latest())
}

func TestRequiredSchemaIsKnown(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, int64(schema.Required), Latest())
	require.Positive(t, schema.Required)
}

// MySQL commits at every DDL statement, so a file of two could be left half done.
func TestMigrationIsOneStatementEachWay(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		for direction, statement := range map[string]string{"Up": m.Up, "Down": m.Down} {
			require.Equal(t, 1, strings.Count(quoted.ReplaceAllString(statement, ""), ";"), "%s %s", m.Name, direction)
			require.True(t, strings.HasSuffix(statement, ";"), "%s %s: %s", m.Name, direction, statement)
			require.NotContains(t, statement, "-- +goose", "%s %s", m.Name, direction)
		}
	}
}

func TestFileHasOneUpAndOneDown(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		text, err := embedded.ReadFile("sql/" + m.Name)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(text), "-- +goose Up\n"), m.Name)
		require.Equal(t, 1, strings.Count(string(text), "-- +goose Down\n"), m.Name)
		require.Equal(t, 2, strings.Count(string(text), "+goose"), m.Name)
	}
}

func TestMigrationMayBeRunAgainAfterItWasKilled(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		if strings.HasPrefix(m.Up, "CREATE") {
			require.Regexp(t, createTable, m.Up, m.Name)
			require.Equal(t, "DROP TABLE IF EXISTS `"+createTable.FindStringSubmatch(m.Up)[1]+"`;", m.Down, m.Name)
		}
	}
}

func TestEveryTableIsMarkedAsOurs(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		if !strings.HasPrefix(m.Up, "CREATE") {
			continue
		}
		end := tableEnd.FindStringSubmatch(m.Up)
		require.NotNil(t, end, m.Name)
		require.True(t, strings.HasPrefix(end[1], schema.CommentPrefix), "%s: %q", m.Name, end[1])
		require.Greater(t, len(end[1]), len(schema.CommentPrefix), m.Name)
	}
	versions := versionQueries{}.CreateTable(schema.VersionTable)
	require.Contains(t, versions, "CREATE TABLE IF NOT EXISTS `"+schema.VersionTable+"` (")
	require.Contains(t, versions, "ENGINE=InnoDB COMMENT='"+schema.CommentPrefix)
}

func TestTablesListsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	made := []string{schema.VersionTable}
	for _, m := range All() {
		if found := createTable.FindStringSubmatch(m.Up); found != nil {
			made = append(made, found[1])
		}
	}
	require.Equal(t, made, schema.Tables())
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(made))), len(made))
}

func TestVersionQueriesNameTheTable(t *testing.T) {
	t.Parallel()
	var q versionQueries
	for _, query := range []string{
		q.CreateTable("some_table"), q.InsertVersion("some_table"), q.DeleteVersion("some_table"),
		q.GetMigrationByVersion("some_table"), q.ListMigrations("some_table"), q.GetLatestVersion("some_table"),
	} {
		require.Contains(t, query, "`some_table`")
		require.NotContains(t, query, ";")
	}
}

func TestInsertsFillExactlyTheColumnsTheyName(t *testing.T) {
	t.Parallel()
	parts := regexp.MustCompile(`\(([^()]*)\) VALUES \((.*)\)$`)
	for name, query := range map[string]string{
		"Server": queryInsertServer, "Sequence": queryInsertSequence, "Workers": queryInsertWorkers + workerValues,
		"Floor": queryInsertFloor,
	} {
		found := parts.FindStringSubmatch(query)
		require.NotNil(t, found, name)
		require.Len(t, strings.Split(found[2], ","), len(strings.Split(found[1], ",")), name)
	}
}

// An INSERT that leaves a column out would rely on a default; no column but
// counters has one.
func TestInsertsNameEveryColumn(t *testing.T) {
	t.Parallel()
	column := regexp.MustCompile("(?m)^  `([a-z_]+)` ")
	named := regexp.MustCompile("`([a-z_]+)`")
	for table, query := range map[string]string{
		"server": queryInsertServer, "sequences": queryInsertSequence, "workers": queryInsertWorkers, "tickets": queryInsertFloor,
		"peers": strings.SplitN(queryRecordPeer, "VALUES", 2)[0],
	} {
		at := slices.IndexFunc(All(), func(m Migration) bool { return strings.HasPrefix(m.Up, "CREATE TABLE IF NOT EXISTS `"+table+"`") })
		require.GreaterOrEqual(t, at, 0, table)
		var made, filled []string
		for _, c := range column.FindAllStringSubmatch(All()[at].Up, -1) {
			made = append(made, c[1])
		}
		for _, c := range named.FindAllStringSubmatch(query, -1)[1:] {
			filled = append(filled, c[1])
		}
		require.ElementsMatch(t, made, filled, table)
	}
}
