package integration

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/importer"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// leafSchema is the table of Leaf's segment mode as it is published, at
// https://github.com/Meituan-Dianping/Leaf, README.
const leafSchema = "CREATE TABLE `leaf_alloc` (" +
	"`biz_tag` varchar(128)  NOT NULL DEFAULT ''," +
	"`max_id` bigint(20) NOT NULL DEFAULT '1'," +
	"`step` int(11) NOT NULL," +
	"`description` varchar(256)  DEFAULT NULL," +
	"`update_time` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP," +
	"PRIMARY KEY (`biz_tag`)" +
	") ENGINE=InnoDB"

// leafTable makes Leaf's table with one tag.
func leafTable(t testing.TB, s *testfleet.Server, tag string, max, step int64) {
	t.Helper()
	execute(t, s, leafSchema)
	execute(t, s, "insert into leaf_alloc(biz_tag, max_id, step, description) values(?, ?, ?, 'Test leaf Segment Mode Get Id')", tag, max, step)
}

// leafSegment reserves as a Leaf server does: with its two statements in a
// transaction. The numbers are those from max_id - step to max_id - 1.
func leafSegment(t testing.TB, s *testfleet.Server, tag string) ([]int64, error) {
	t.Helper()
	tx, err := s.DB().BeginTx(bounded(t), nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(bounded(t), "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?", tag); err != nil {
		return nil, err
	}
	var maximum, step int64
	if err := tx.QueryRowContext(bounded(t), "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?", tag).Scan(&maximum, &step); err != nil {
		return nil, err
	}
	ids := make([]int64, step)
	for i := range ids {
		ids[i] = maximum - step + int64(i)
	}
	return ids, tx.Commit()
}

// reader is an account that may read the database of a server and nothing else.
func reader(t testing.TB, f *testfleet.Fleet, s *testfleet.Server) *mysql.Config {
	t.Helper()
	user, password := "reader_"+strings.ToLower(rand.Text()[:8]), rand.Text()
	execute(t, s, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", user, password))
	t.Cleanup(func() {
		_, err := s.DB().Exec("DROP USER '" + user + "'@'%'") //nolint:noctx // the test's has ended
		require.NoError(t, err)
	})
	execute(t, s, fmt.Sprintf("GRANT SELECT ON `%s`.* TO '%s'@'%%'", f.Database, user))
	cfg := s.Config()
	cfg.User, cfg.Passwd = user, password
	return cfg
}

// drawIDs draws IDs of a sequence with a client of its own.
func drawIDs(t testing.TB, fleet *ticket.Fleet, name string, n int) []int64 {
	t.Helper()
	a, err := segment.Open(bounded(t), fleet, name, segment.Config{})
	require.NoError(t, err)
	ids := make([]int64, n)
	require.NoError(t, a.NextN(bounded(t), ids))
	require.NoError(t, a.Close())
	return ids
}

// requireDistinct checks that no ID is there twice.
func requireDistinct(t testing.TB, ids ...[]int64) {
	t.Helper()
	all := slices.Concat(ids...)
	slices.Sort(all)
	require.Len(t, slices.Compact(slices.Clone(all)), len(all))
}

// importing returns a fleet, a client of it, and Leaf's table on the first server, in another database.
func importing(t testing.TB) (servers *testfleet.Fleet, fleet *ticket.Fleet, old *testfleet.Server, cfg importer.Config) {
	t.Helper()
	servers, fleet = sequenced(t, 2)
	olds := testfleet.New(t, 1)
	old = olds.Servers[0]
	leafTable(t, old, "leaf-segment-test", 1, 2000)
	return servers, fleet, old, importer.Config{Kind: importer.Leaf, Sources: []*mysql.Config{reader(t, olds, old)}}
}

func runImport(t testing.TB, fleet *ticket.Fleet, cfg importer.Config) importer.Plan {
	t.Helper()
	p, err := importer.Run(bounded(t), fleet, cfg, importer.Plan{})
	require.NoError(t, err)
	return p
}

func TestImportGoesOnAboveLeaf(t *testing.T) {
	t.Parallel()
	_, fleet, old, cfg := importing(t)
	before, err := leafSegment(t, old, "leaf-segment-test")
	require.NoError(t, err)
	more, err := leafSegment(t, old, "leaf-segment-test")
	require.NoError(t, err)

	p := runImport(t, fleet, cfg)

	require.Len(t, p.Steps, 1)
	require.Equal(t, int64(4001), p.Steps[0].Highest)
	require.Equal(t, int64(4002), p.Steps[0].Start)
	require.Equal(t, "Test leaf Segment Mode Get Id", requireInOrder(t, fleet, "leaf-segment-test").State.Description)
	ids := drawIDs(t, fleet, "leaf-segment-test", 5000)
	require.Greater(t, slices.Min(ids), slices.Max(more))
	requireDistinct(t, before, more, ids)
	again := runImport(t, fleet, cfg)
	require.True(t, again.Empty(), "a sequence in use, above the old numbers")
}

// With a margin and a constraint in Leaf's own table both can issue at the same
// time: Leaf fails where oddeven has begun.
func TestImportWhileLeafRuns(t *testing.T) {
	t.Parallel()
	_, fleet, old, cfg := importing(t)
	cfg.Margin = 20_000
	p := runImport(t, fleet, cfg)
	execute(t, old, fmt.Sprintf("ALTER TABLE leaf_alloc ADD CONSTRAINT leaf_ends CHECK (biz_tag <> 'leaf-segment-test' OR max_id <= %d)", p.Steps[0].Start))
	type result struct {
		ids []int64
		err error
	}
	leaf := make(chan result, 1)
	go func() {
		var r result
		for r.err == nil {
			var ids []int64
			ids, r.err = leafSegment(t, old, "leaf-segment-test")
			if r.err == nil {
				r.ids = append(r.ids, ids...)
			}
		}
		leaf <- r
	}()
	var ours []int64
	for range 5 {
		ours = append(ours, drawIDs(t, fleet, "leaf-segment-test", 1000)...)
	}
	r := <-leaf
	require.ErrorContains(t, r.err, "leaf_ends", "it stops by itself")
	require.Len(t, r.ids, 20_000)
	requireDistinct(t, r.ids, ours)
	require.True(t, runImport(t, fleet, cfg).Empty())
}

func TestImportNoticesThatLeafRuns(t *testing.T) {
	t.Parallel()
	servers, fleet, old, cfg := importing(t)
	agreed, err := importer.Prepare(bounded(t), fleet, cfg)
	require.NoError(t, err)
	_, err = leafSegment(t, old, "leaf-segment-test")
	require.NoError(t, err)
	_, err = importer.Run(bounded(t), fleet, cfg, agreed)
	require.ErrorIs(t, err, importer.ErrRunning)
	require.ErrorContains(t, err, "rose from 1 to 2001 since the plan was made, so the old system still issues numbers")
	require.Equal(t, []int64{0, 0}, rounds(t, servers, "leaf-segment-test"), "nothing was created")
	cfg.Margin = 100_000
	p, err := importer.Run(bounded(t), fleet, cfg, agreed)
	require.NoError(t, err, "that is what the margin is for")
	require.Equal(t, int64(102_002), p.Steps[0].Start, "above what was read last")
}

// A trigger in the fleet reserves for Leaf in the moment in which the sequence is created.
func TestImportNoticesThatLeafRoseMeanwhile(t *testing.T) {
	t.Parallel()
	servers, fleet, old, cfg := importing(t)
	trigger := "CREATE TRIGGER meanwhile AFTER INSERT ON sequences FOR EACH ROW UPDATE `" + cfg.Sources[0].DBName + "`.leaf_alloc SET max_id = max_id + step"
	execute(t, servers.Servers[0], trigger)
	p, err := importer.Run(bounded(t), fleet, cfg, importer.Plan{})
	require.ErrorIs(t, err, importer.ErrRisen)
	require.ErrorContains(t, err, "rose from 1 to 2001 while sequence leaf-segment-test was created to start at 3")
	require.ErrorContains(t, err, "Do not use the sequence yet: stop the old system, then run `oddeven sequence bump leaf-segment-test N`")
	require.Len(t, p.Steps, 1, "what was created is told")

	_, err = importer.Run(bounded(t), fleet, cfg, importer.Plan{})
	require.ErrorIs(t, err, importer.ErrBelow)
	_, err = sequence.Bump(bounded(t), fleet, "leaf-segment-test", 2002)
	require.NoError(t, err)
	require.True(t, runImport(t, fleet, cfg).Empty())

	execute(t, old, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('other', 1, 10)")
	cfg.Margin, cfg.Tags = 50, []string{"other"}
	p = runImport(t, fleet, cfg)
	require.Len(t, p.Steps[0].Warnings, 1)
	require.Contains(t, p.Steps[0].Warnings[0], "rose from 1 to 11, and 41 are left before it meets the first ID")
	cfg.Margin = 5
	cfg.As = map[string]string{"other": "third"}
	_, err = importer.Run(bounded(t), fleet, cfg, importer.Plan{})
	require.ErrorIs(t, err, importer.ErrRisen, "the margin is used up")
}

// The import is ended at each statement that writes, before and after it, on each
// server; the same call completes it, also if the connection alone broke.
func TestImportThatIsCutOffIsCompleted(t *testing.T) {
	t.Parallel()
	servers, fleet, old, cfg := importing(t)
	execute(t, old, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('a', 100, 10)")
	one, two := servers.Servers[0], servers.Servers[1]
	for round, cut := range []func(func(string) bool) <-chan struct{}{one.CutBeforeQuery, one.CutReply, two.CutBeforeQuery, two.CutReply} {
		for k := 1; k <= 2; k++ {
			name := fmt.Sprintf("-%d-%d", round, k)
			cfg.As = map[string]string{"a": "a" + name, "leaf-segment-test": "b" + name}
			left := k
			happens := cut(func(query string) bool {
				if strings.HasPrefix(query, inserting) {
					left--
				}
				return left == 0
			})
			ctx, end := context.WithCancel(bounded(t))
			done := make(chan error, 1)
			go func() {
				_, err := importer.Run(ctx, fleet, cfg, importer.Plan{})
				done <- err
			}()
			select {
			case <-happens:
			case <-bounded(t).Done():
			}
			end()
			t.Log("ended by", <-done) // it may have been faster
			require.True(t, happened(happens))
			runImport(t, fleet, cfg)
			for tag, highest := range map[string]int64{"a": 100, "leaf-segment-test": 1} {
				for _, o := range requireInOrder(t, fleet, cfg.As[tag]).Servers {
					require.Greater(t, o.Class.ID(o.Row.Rounds+1), highest)
				}
			}
		}
	}
	require.NotEmpty(t, drawIDs(t, fleet, "a-0-1", 1))
}

// The largest number of all shards counts, and of each the counter, not only rows.
func TestImportFromShardsWithAutoIncrement(t *testing.T) {
	t.Parallel()
	_, fleet := sequenced(t, 2)
	shards := testfleet.New(t, 2)
	var sources []*mysql.Config
	for i, s := range shards.Servers {
		execute(t, s, "CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, note TEXT)")
		execute(t, s, "CREATE TABLE items (nr MEDIUMINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE="+[]string{"MyISAM", "InnoDB"}[i])
		for range 10 * (i + 1) {
			execute(t, s, "INSERT INTO orders VALUES ()")
		}
		execute(t, s, "INSERT INTO items VALUES (?)", 700+i)
		execute(t, s, "DELETE FROM orders WHERE id > 3")
		execute(t, s, "DELETE FROM items")
		sources = append(sources, reader(t, shards, s))
	}
	// What is not committed counts, too: the counter has passed it.
	tx, err := shards.Servers[0].DB().BeginTx(bounded(t), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(bounded(t), "INSERT INTO orders (id) VALUES (5000)")
	require.NoError(t, err)

	p := runImport(t, fleet, importer.Config{Kind: importer.AutoIncrement, Sources: sources, Tables: []string{"orders", "items"}})
	require.NoError(t, tx.Commit())

	require.Equal(t, []string{"items", "orders"}, []string{p.Steps[0].Sequence, p.Steps[1].Sequence})
	require.Equal(t, []int64{701, 5000}, []int64{p.Steps[0].Highest, p.Steps[1].Highest})
	require.Equal(t, int64(1<<24-1), p.Steps[0].Ceiling)
	require.Equal(t, int64(20), p.Steps[1].Readings[1].Highest, "its counter")
	require.Contains(t, strings.Join(p.Steps[0].Warnings, " "), "items ends at 16777215")
	require.Greater(t, slices.Min(drawIDs(t, fleet, "orders", 100)), int64(5000))
	require.Greater(t, slices.Min(drawIDs(t, fleet, "items", 100)), int64(701))
}

// With shard bits an ID is longer than the number that its sequence issues.
func TestImportWithShardBitsKeepsIDsInTheColumn(t *testing.T) {
	t.Parallel()
	servers := testfleet.New(t, 2)
	migrate := migrating(t, servers.Servers...)
	migrate.Settings.ShardBits = new(4)
	succeed(t, migrations.Up, migrate)
	fleet := clientOf(t, servers.DSNs()...)
	old := testfleet.New(t, 1)
	execute(t, old.Servers[0], "CREATE TABLE users (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 1001")
	execute(t, old.Servers[0], "CREATE TABLE later (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 300000000")
	cfg := importer.Config{Kind: importer.AutoIncrement, Sources: []*mysql.Config{reader(t, old, old.Servers[0])}, Tables: []string{"users"}}
	p := runImport(t, fleet, cfg)
	require.Equal(t, int64(1<<28-1), p.Steps[0].Ceiling)
	require.Equal(t, int64(1001), p.Steps[0].FirstID())
	cfg.Tables = []string{"later"}
	_, err := importer.Prepare(bounded(t), fleet, cfg)
	require.ErrorIs(t, err, importer.ErrRow)
	require.ErrorContains(t, err, "would start at 300000000, above its ceiling, 268435455")
}

// An account that may not even see the table says so in words that help.
func TestImportWithoutPrivilege(t *testing.T) {
	t.Parallel()
	_, fleet, old, cfg := importing(t)
	execute(t, old, fmt.Sprintf("REVOKE SELECT ON `%s`.* FROM '%s'@'%%'", cfg.Sources[0].DBName, cfg.Sources[0].User))
	_, err := importer.Prepare(bounded(t), fleet, cfg)
	require.Error(t, err)
	execute(t, old, fmt.Sprintf("GRANT SELECT (biz_tag) ON `%s`.leaf_alloc TO '%s'@'%%'", cfg.Sources[0].DBName, cfg.Sources[0].User))
	_, err = importer.Prepare(bounded(t), fleet, cfg)
	require.ErrorIs(t, err, importer.ErrMissing)
	require.ErrorContains(t, err, "has no column max_id")
}

// Old tables are in databases with modes that hide the counter from SHOW CREATE TABLE.
func TestImportReadsTheCounterInAnyMode(t *testing.T) {
	t.Parallel()
	old := testfleet.New(t, 1)
	execute(t, old.Servers[0], "CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 801 COMMENT = 'AUTO_INCREMENT=7'")
	var name, definition string
	cfg := reader(t, old, old.Servers[0])
	cfg.Params = map[string]string{"sql_mode": "'ANSI_QUOTES'"}
	require.NoError(t, old.Servers[0].DB().QueryRowContext(bounded(t), "SHOW CREATE TABLE orders").Scan(&name, &definition))
	require.Contains(t, definition, "AUTO_INCREMENT=801")
	found, err := importer.Read(bounded(t), importer.Config{Kind: importer.AutoIncrement, Sources: []*mysql.Config{cfg}, Tables: []string{"orders"}})
	require.NoError(t, err)
	require.Equal(t, int64(800), found[0].Highest)
	require.Equal(t, "'ANSI_QUOTES'", cfg.Params["sql_mode"], "the caller's configuration is left alone")
}

// A replica may lag. It changes a global variable, so it runs alone.
func TestImportWarnsOfReplicas(t *testing.T) {
	old := testfleet.New(t, 1).Servers[0]
	leafTable(t, old, "order", 1, 10)
	cfg := importer.Config{Kind: importer.Leaf, Sources: []*mysql.Config{old.Config()}}
	for _, on := range []bool{false, true} {
		old.SetReadOnly(on)
		found, err := importer.Read(bounded(t), cfg)
		require.NoError(t, err)
		require.Equal(t, on, len(found[0].Warnings) == 1 && strings.Contains(found[0].Warnings[0], "is read-only. If it is a replica"))
	}
}
