package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/database/dialect"

	"github.com/oddeven/oddeven/internal/schema"
)

//go:embed sql/*.sql
var embedded embed.FS

// Migration is one change of the schema.
type Migration struct {
	Version int64  // 1 and up
	Name    string // file name, "00001_server.sql"
	Up      string // the statement that makes the change
	Down    string // the statement that takes it back
}

// All returns every migration known to this build, oldest first.
func All() []Migration {
	names, err := fs.Glob(embedded, "sql/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	all := make([]Migration, 0, len(names))
	for _, name := range names {
		text, err := embedded.ReadFile(name)
		if err != nil {
			panic(err) // the file is part of this binary
		}
		version, err := goose.NumericComponent(name)
		if err != nil {
			panic(err) // a test reads every name
		}
		up, down, _ := strings.Cut(string(text), "-- +goose Down")
		_, up, _ = strings.Cut(up, "-- +goose Up")
		all = append(all, Migration{
			Version: version,
			Name:    strings.TrimPrefix(name, "sql/"),
			Up:      strings.TrimSpace(up),
			Down:    strings.TrimSpace(down),
		})
	}
	return all
}

// Latest is the newest schema version known to this build.
func Latest() int64 {
	all := All()
	return all[len(all)-1].Version
}

// newProvider runs the embedded migrations over db.
func newProvider(db *sqlx.DB) (*goose.Provider, error) {
	files, err := fs.Sub(embedded, "sql")
	if err != nil {
		return nil, fmt.Errorf("open embedded migrations: %w", err)
	}
	store, err := database.NewStoreFromQuerier(schema.VersionTable, versionQueries{})
	if err != nil {
		return nil, fmt.Errorf("make version store: %w", err)
	}
	return goose.NewProvider(goose.DialectCustom, db.DB, files,
		goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
}

// versionQueries is goose's version table under our own name, marked as ours
// and created by a statement that may be run again: goose's own leaves a table
// without its first row behind when it is killed between the two.
type versionQueries struct{}

var _ dialect.Querier = versionQueries{}

func (versionQueries) CreateTable(table string) string {
	return "CREATE TABLE IF NOT EXISTS `" + table + "` (" +
		"`id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, " +
		"`version_id` BIGINT NOT NULL, " +
		"`is_applied` BOOLEAN NOT NULL, " +
		"`tstamp` DATETIME NULL DEFAULT CURRENT_TIMESTAMP, " +
		"PRIMARY KEY (`id`)) ENGINE=InnoDB COMMENT='" + schema.CommentPrefix + "applied migrations'"
}

func (versionQueries) InsertVersion(table string) string {
	return "INSERT INTO `" + table + "` (`version_id`, `is_applied`) VALUES (?, ?)"
}

func (versionQueries) DeleteVersion(table string) string {
	return "DELETE FROM `" + table + "` WHERE `version_id` = ?"
}

func (versionQueries) GetMigrationByVersion(table string) string {
	return "SELECT `tstamp`, `is_applied` FROM `" + table + "` WHERE `version_id` = ? ORDER BY `id` DESC LIMIT 1"
}

func (versionQueries) ListMigrations(table string) string {
	return "SELECT `version_id`, `is_applied` FROM `" + table + "` ORDER BY `id` DESC"
}

func (versionQueries) GetLatestVersion(table string) string {
	return "SELECT MAX(`version_id`) FROM `" + table + "`"
}
