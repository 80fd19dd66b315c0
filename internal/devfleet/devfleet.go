// Package devfleet runs a whole fleet of real server processes on this machine,
// migrated and ready, for `oddeven dev` and the demo.
package devfleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/account"
	"github.com/oddeven/oddeven/internal/localserver"
	"github.com/oddeven/oddeven/migrations"
)

const (
	database     = "oddeven"
	migrateUser  = "oddeven_migrate"
	appUser      = "oddeven_app"
	secretsFile  = "accounts.json"
	longestLease = 10 * time.Second // unless Config says otherwise: restarts are frequent here
)

// Config says what to run.
type Config struct {
	// Dir holds everything; it is made if missing, and found again.
	Dir string
	// Servers is how many. A directory that already holds more keeps them.
	Servers int
	// Binary is the path of mysqld or mariadbd. Defaults to the first one found.
	Binary string
	// LongestLease is that of a new fleet. Defaults to 10 seconds, so that a
	// restarted server soon grants worker numbers again.
	LongestLease time.Duration
	// Logger gets what happens. Defaults to none.
	Logger *slog.Logger
}

// Fleet is the running servers.
type Fleet struct {
	Servers []*localserver.Server
	secrets secrets
}

// secrets are the passwords of the accounts, kept in the directory.
type secrets struct {
	Root    string `json:"root"`
	Migrate string `json:"migrate"`
	App     string `json:"app"`
}

// Open starts the servers side by side, makes database and accounts, and
// migrates. When it fails, nothing is left running. ctx bounds the opening.
func Open(ctx context.Context, cfg Config) (_ *Fleet, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	installation, err := find(ctx, cfg.Binary)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolve directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	f := &Fleet{}
	if f.secrets, err = loadSecrets(filepath.Join(dir, secretsFile)); err != nil {
		return nil, err
	}
	if have := existing(dir); have > 0 && cfg.Servers > have {
		return nil, fmt.Errorf("%s holds a fleet of %d servers, asked for %d; use another directory for a larger one", dir, have, cfg.Servers)
	}
	f.Servers = make([]*localserver.Server, max(cfg.Servers, existing(dir)))
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(context.WithoutCancel(ctx)))
		}
	}()
	if err := f.start(ctx, cfg, installation, dir); err != nil {
		return nil, err
	}
	if err := f.migrate(ctx, cfg); err != nil {
		return nil, err
	}
	return f, nil
}

func find(ctx context.Context, binary string) (localserver.Installation, error) {
	if binary != "" {
		return localserver.Inspect(ctx, binary)
	}
	found, err := localserver.Find(ctx)
	if err != nil {
		return localserver.Installation{}, err
	}
	return found[0], nil
}

// serverDir is the home of server i, counted from 0.
func serverDir(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("server-%d", i+1)) }

// existing counts the servers that a directory holds.
func existing(dir string) int {
	n := 0
	for {
		if _, err := os.Stat(serverDir(dir, n)); err != nil {
			return n
		}
		n++
	}
}

func (f *Fleet) start(ctx context.Context, cfg Config, installation localserver.Installation, dir string) error {
	var initSQL []string
	initSQL = append(initSQL, "CREATE DATABASE IF NOT EXISTS `"+database+"`")
	initSQL = append(initSQL, account.Create(migrateUser, f.secrets.Migrate, account.MigratePrivileges, database)...)
	initSQL = append(initSQL, account.Create(appUser, f.secrets.App, account.AppPrivileges, database)...)
	errs := make([]error, len(f.Servers))
	var wg sync.WaitGroup
	for i := range f.Servers {
		wg.Go(func() {
			f.Servers[i], errs[i] = localserver.Open(ctx, localserver.Config{
				Installation: installation, Dir: serverDir(dir, i), RootPassword: f.secrets.Root, InitSQL: initSQL, Logger: cfg.Logger,
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (f *Fleet) migrate(ctx context.Context, conf Config) error {
	cfg := migrations.Config{Logger: conf.Logger, Settings: migrations.Settings{}}
	for i := range f.Servers {
		cfg.Servers = append(cfg.Servers, f.config(i, migrateUser, f.secrets.Migrate))
	}
	report, err := migrations.Status(ctx, cfg)
	if err != nil {
		return err
	}
	if report.Fleet == "" {
		cfg.Settings.LongestLease = cmp.Or(conf.LongestLease, longestLease)
		cfg.Settings.Increment = int64(max(2, len(f.Servers)))
	}
	_, err = migrations.Up(ctx, cfg)
	return err
}

// App is how an application reaches server i.
func (f *Fleet) App(i int) *mysql.Config { return f.config(i, appUser, f.secrets.App) }

// Migrate is how `oddeven migrate` reaches server i.
func (f *Fleet) Migrate(i int) *mysql.Config { return f.config(i, migrateUser, f.secrets.Migrate) }

func (f *Fleet) config(i int, user, password string) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = user, password, "tcp", f.Servers[i].Addr(), database
	return c
}

// Close stops the servers side by side, in order until ctx ends, then by force.
func (f *Fleet) Close(ctx context.Context) error {
	errs := make([]error, len(f.Servers))
	var wg sync.WaitGroup
	for i, s := range f.Servers {
		if s != nil {
			wg.Go(func() { errs[i] = s.Stop(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// loadSecrets reads the passwords, or makes them on first use.
func loadSecrets(path string) (secrets, error) {
	var s secrets
	text, err := os.ReadFile(path)
	if err == nil {
		if err := json.Unmarshal(text, &s); err != nil || s.Root == "" || s.Migrate == "" || s.App == "" {
			return s, fmt.Errorf("%s does not hold the passwords of this fleet; remove the whole directory to start anew", path)
		}
		return s, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("read accounts: %w", err)
	}
	s = secrets{Root: rand.Text(), Migrate: rand.Text(), App: rand.Text()}
	text, err = json.Marshal(s)
	if err != nil {
		return s, fmt.Errorf("write accounts: %w", err)
	}
	if err := writeAtomically(path, text); err != nil {
		return s, fmt.Errorf("write accounts: %w", err)
	}
	return s, nil
}

// writeAtomically writes a file that is either whole or not there.
func writeAtomically(path string, text []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
