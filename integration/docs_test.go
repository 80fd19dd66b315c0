package integration

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// pageAccount are the names of an account of a page that is made by its statements.
func pageAccount(t testing.TB, olds *testfleet.Fleet, database string, sources ...string) [][2]string {
	t.Helper()
	user, password := "reader_"+strings.ToLower(rand.Text()[:8]), rand.Text()
	t.Cleanup(func() {
		for _, s := range olds.Servers {
			_, err := s.DB().ExecContext(context.WithoutCancel(t.Context()), "DROP USER IF EXISTS '"+user+"'@'%'")
			require.NoError(t, err)
		}
	})
	names := [][2]string{{"'reader'@", "'" + user + "'@"}, {"'secret'", "'" + password + "'"}}
	for i, source := range sources {
		cfg := olds.Servers[i].Config()
		cfg.User, cfg.Passwd = user, password
		names = append(names, [2]string{"reader:secret@tcp(" + source + ")/" + database, cfg.FormatDSN()}, [2]string{source + "/" + database, olds.Servers[i].Addr() + "/" + olds.Database})
	}
	return append(names, [2]string{database + ".", olds.Database + "."})
}

func number(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

func TestDocsFromLeaf(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	olds := testfleet.New(t, 1)
	old := olds.Servers[0]
	leafTable(t, old, "order", 10_001, 2000)
	execute(t, old, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('user', 1, 1000)")
	before := reserveSegment(t, old, "order")
	users := reserveSegment(t, old, "user")
	var orders []int64
	page{
		name: "from-leaf.md", fleet: servers.DSNs(), servers: map[string][]*testfleet.Server{"leaf": olds.Servers},
		names: append(pageAccount(t, olds, "leaf", "db9:3306"), renameServers(servers)...),
		after: map[string]func(string){
			"sequence show order --config fleet.yaml\noddeven import": func(out string) { // the check after the import
				require.Contains(t, out, "Nothing to do")
				orders = drawIDs(t, fleet, "order", 100)
				requireDistinct(t, before, orders)
			},
			"max_id <= 10001003": func(string) {
				users = append(users, reserveSegment(t, old, "user")...)
				requireDistinct(t, users, drawIDs(t, fleet, "user", 100))
				execute(t, old, "UPDATE leaf_alloc SET max_id = 10001003 WHERE biz_tag = 'user'")
				_, err := leafSegment(t, old, "user")
				require.ErrorContains(t, err, "user_has_moved")
			},
			"DROP CONSTRAINT": func(string) { // the way back
				requireDistinct(t, before, orders, reserveSegment(t, old, "order"))
				execute(t, old, "UPDATE leaf_alloc SET max_id = 1000000 WHERE biz_tag = 'order'") // or the next number would be another
			},
			"bump order 1000001": func(out string) { require.Contains(t, out, "Nothing to do") },
		},
	}.run(t)
}

// reserveSegment is leafSegment where it must succeed.
func reserveSegment(t testing.TB, s *testfleet.Server, tag string) []int64 {
	t.Helper()
	ids, err := leafSegment(t, s, tag)
	require.NoError(t, err)
	return ids
}

func TestDocsFromAutoIncrement(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	shards := testfleet.New(t, 2)
	for i, s := range shards.Servers {
		execute(t, s, "CREATE TABLE orders (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, note VARCHAR(20) NOT NULL DEFAULT '')")
		execute(t, s, "CREATE TABLE items (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 701")
		execute(t, s, "INSERT INTO orders (id) VALUES (?)", []int64{7000, 9120}[i])
	}
	app := shards.Servers[0].Config()
	page{
		name: "from-auto-increment.md", fleet: servers.DSNs(), servers: map[string][]*testfleet.Server{"shards": shards.Servers},
		names: append(pageAccount(t, shards, "shop", "shard1:3306", "shard2:3306"), renameServers(servers)...),
		after: map[string]func(string){
			"MODIFY id BIGINT NOT NULL;": func(string) { // the counter is gone
				require.ErrorContains(t, try(t, app, "INSERT INTO orders (note) VALUES ('forgotten')"), "1364")
				lax := app.Clone()
				lax.Params = map[string]string{"sql_mode": "''"}
				require.NoError(t, try(t, lax, "INSERT INTO orders (note) VALUES ('forgotten')"))
				execute(t, shards.Servers[0], "DELETE FROM orders WHERE id = 0 ORDER BY id LIMIT 1")
				require.ErrorContains(t, try(t, app, "INSERT INTO orders (id) VALUES (7000)"), "1062", "nothing else was deleted")
			},
			"--column id": func(out string) {
				require.Contains(t, out, "Nothing to do")
				for _, id := range drawIDs(t, fleet, "orders", 20) {
					require.Greater(t, id, int64(9120))
					execute(t, shards.Servers[id%2], "INSERT INTO orders (id) VALUES (?)", id)
				}
			},
			"MODIFY id BIGINT NOT NULL AUTO_INCREMENT;": func(string) { // the way back, and why both must not work at once
				for _, s := range shards.Servers {
					var highest int64
					require.NoError(t, s.DB().QueryRowContext(bounded(t), "SELECT MAX(id) FROM orders").Scan(&highest))
					require.Equal(t, highest+1, insertedID(t, s, "INSERT INTO orders (note) VALUES ('again')"))
					execute(t, s, "INSERT INTO orders (id) VALUES (?)", highest+100)
					require.Equal(t, highest+101, insertedID(t, s, "INSERT INTO orders (note) VALUES ('after a said one')"))
				}
			},
			"bump orders 1000000": func(out string) { require.Contains(t, out, "Nothing to do") },
		},
	}.run(t)
}

// insertedID is the number that an INSERT got.
func insertedID(t testing.TB, s *testfleet.Server, query string) int64 {
	t.Helper()
	result, err := s.DB().ExecContext(bounded(t), query)
	require.NoError(t, err)
	id, err := result.LastInsertId()
	require.NoError(t, err)
	return id
}

// flickrServers gives servers a database of the old ticket servers. Two fleets on
// the same servers could not set global variables.
func flickrServers(t testing.TB, f *testfleet.Fleet) (database string, names [][2]string) {
	t.Helper()
	database = f.Database + "flickr"
	for i, s := range f.Servers {
		execute(t, s, "CREATE DATABASE "+database)
		t.Cleanup(func() {
			_, err := s.DB().ExecContext(context.WithoutCancel(t.Context()), "DROP DATABASE "+database)
			require.NoError(t, err)
		})
		flickr(t, s, database+".Tickets64", "MyISAM", uint64(5_000_001-i))
		flickr(t, s, database+".OrderTickets", "InnoDB", uint64(90_000-i))
		account := parse(t, s.MigrateDSN())[0]
		account.DBName = database
		names = append(names, [2]string{fmt.Sprintf("oddeven_migrate:secret@tcp(db%d:3306)/flickr", i+1), account.FormatDSN()})
	}
	names = append(names, [2]string{"'oddeven_migrate'@", "'" + parse(t, f.Servers[0].MigrateDSN())[0].User + "'@"})
	return database, append(append(names, renameServers(f)...), [2]string{"flickr.", database + "."}, [2]string{"`flickr`", "`" + database + "`"})
}

// oldStyle draws a number as old code does, over a new session.
func oldStyle(t testing.TB, s *testfleet.Server, table string, set ...string) (int64, error) {
	t.Helper()
	conn, err := s.DB().Conn(bounded(t))
	require.NoError(t, err)
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // so that no session lasts longer
	}()
	for _, query := range append([]string{"SET SESSION auto_increment_increment = @@GLOBAL.auto_increment_increment, auto_increment_offset = @@GLOBAL.auto_increment_offset"}, set...) {
		_, err := conn.ExecContext(bounded(t), query)
		require.NoError(t, err)
	}
	result, err := conn.ExecContext(bounded(t), "REPLACE INTO "+table+" (stub) VALUES ('a')")
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// It sets global variables, so it runs alone.
func TestDocsFromFlickr(t *testing.T) {
	servers := testfleet.New(t, 2)
	database, names := flickrServers(t, servers)
	table := database + ".Tickets64"
	issued := map[int64]bool{}
	note := func(ids ...int64) {
		for _, id := range ids {
			require.False(t, issued[id], "%d twice", id)
			require.Greater(t, id, int64(5_000_001))
			issued[id] = true
		}
	}
	sideBySide := func() {
		for i, s := range servers.Servers {
			for range 20 {
				note(draw(t, 2, servers.Servers...)...)
				id, err := oldStyle(t, s, table)
				require.NoError(t, err)
				note(id)
				require.Equal(t, int64(3+i)%4, id%4)
			}
			_, err := oldStyle(t, s, table, "SET SESSION auto_increment_increment = 4", "SET SESSION auto_increment_offset = "+strconv.Itoa(i+1))
			require.ErrorContains(t, err, "not a number of the old style")
		}
	}
	page{
		name: "from-flickr.md", fleet: servers.MigrateDSNs(), names: names,
		servers: map[string][]*testfleet.Server{"servers": servers.Servers, "server1": servers.Servers[:1], "server2": servers.Servers[1:]},
		after: map[string]func(string){
			"--dry-run": func(string) { execute(t, servers.Servers[0], "SELECT id FROM "+table) },
			"tickets above 5000001": func(string) {
				_, err := oldStyle(t, servers.Servers[0], table)
				require.ErrorContains(t, err, "1146")
			},
			"NEW.id % 4 <> 0": func(string) { sideBySide() },
			"REVOKE":          func(string) { note(draw(t, 10, servers.Servers...)...) },
			"AUTO_INCREMENT=7000001": func(string) { // the way back
				for i, s := range servers.Servers {
					id, err := oldStyle(t, s, table, "SET SESSION auto_increment_increment = 2", "SET SESSION auto_increment_offset = "+strconv.Itoa(i+1))
					require.NoError(t, err)
					note(id)
				}
				undone(t, servers, database)
			},
		},
	}.run(t)
}

// undone adopts once more, and takes that back before anybody has drawn.
func undone(t testing.TB, servers *testfleet.Fleet, database string) {
	t.Helper()
	for _, s := range servers.Servers {
		execute(t, s, "GRANT SELECT, INSERT, CREATE, ALTER, DROP ON "+database+".* TO '"+parse(t, s.MigrateDSN())[0].User+"'@'%'")
	}
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(servers.MigrateDSNs(), " ")}
	_, stderr, code := runProgram(t, env, "migrate", "adopt", database+".Tickets64", "--yes")
	require.Zero(t, code, stderr)
	for _, s := range servers.Servers {
		_, err := oldStyle(t, s, database+".Tickets64")
		require.ErrorContains(t, err, "1146")
		execute(t, s, "RENAME TABLE "+database+".Tickets64_adopted TO "+database+".Tickets64")
		_, err = oldStyle(t, s, database+".Tickets64")
		require.NoError(t, err)
		execute(t, s, "REVOKE SELECT, INSERT, CREATE, ALTER, DROP ON "+database+".* FROM '"+parse(t, s.MigrateDSN())[0].User+"'@'%'")
	}
}
