package localserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Config describes one server. Only Dir and RootPassword are required.
type Config struct {
	// Installation is the server to run. If only Server is set the rest is
	// found with [Inspect]. The zero value means the first one of [Find].
	Installation Installation
	// Dir is the home of this server; see the package documentation for what
	// is in it. Created with mode 0700 if missing. On its second use the data
	// of the first is still there. A colon in it is refused, for servers take
	// one in a path of temporary files as the end of the path.
	Dir string
	// Port is the TCP port on 127.0.0.1. Zero means the port this Dir had last
	// time, else a free one, which is remembered in Dir.
	Port int
	// RootPassword is the password of root@'%' and root@localhost. It is set
	// at every start. No control characters.
	RootPassword string
	// InitSQL is run as root at every start, before the server answers. Each
	// element is one statement without comments. They must be idempotent; if
	// one fails the start fails and the rest is not run.
	InitSQL []string
	// Options are further options for the server, such as
	// "--auto-increment-increment=2". They come last and so override others,
	// except for paths, port and address, which must stay. They are not used
	// when the data directory is initialised.
	Options []string
	// Env is added to the environment of the server process, in the form
	// "NAME=value". Not used when the data directory is initialised.
	Env []string
	// Logger gets a line for every start and end of the server. Defaults to
	// discarding them.
	Logger *slog.Logger
}

// withDefaults returns a copy of c, completed and valid, with Dir created and
// in the form in which servers report it: absolute, without symbolic links.
func (c Config) withDefaults(ctx context.Context) (Config, error) {
	if err := c.validate(); err != nil {
		return c, err
	}
	c.InitSQL, c.Options, c.Env = slices.Clone(c.InitSQL), slices.Clone(c.Options), slices.Clone(c.Env)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if c.Installation, err = c.Installation.complete(ctx); err != nil {
		return c, err
	}
	if c.Dir, err = makeDir(c.Dir); err != nil {
		return c, fmt.Errorf("create server directory: %w", err)
	}
	return c, nil
}

// validate checks the fields that no other step checks.
func (c Config) validate() error {
	switch {
	case c.Dir == "":
		return errors.New("localserver: Config.Dir is empty")
	case strings.ContainsRune(c.Dir, filepath.ListSeparator):
		return fmt.Errorf("localserver: Config.Dir %q contains %q", c.Dir, filepath.ListSeparator)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("localserver: Config.Port is %d, not in 0 to 65535", c.Port)
	case c.RootPassword == "":
		return errors.New("localserver: Config.RootPassword is empty")
	case strings.ContainsFunc(c.RootPassword, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("localserver: Config.RootPassword has a control character")
	}
	for i, statement := range c.InitSQL {
		if statement = trimStatement(statement); statement == "" {
			return fmt.Errorf("localserver: Config.InitSQL[%d] is empty", i)
		}
	}
	return nil
}

// complete fills in what is missing.
func (i Installation) complete(ctx context.Context) (Installation, error) {
	if i.Server == "" {
		found, err := Find(ctx)
		if err != nil {
			return i, err
		}
		return found[0], nil
	}
	if i.Flavor == "" || i.Flavor == MariaDB && i.Install == "" {
		return Inspect(ctx, i.Server)
	}
	if i.Flavor != MySQL && i.Flavor != MariaDB {
		return i, fmt.Errorf("localserver: Config.Installation.Flavor is %q, neither %q nor %q", i.Flavor, MySQL, MariaDB)
	}
	return i, nil
}

// makeDir creates dir and returns its path, absolute and without symbolic links.
func makeDir(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
