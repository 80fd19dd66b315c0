package localserver

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigNamesTheBadField(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		field  string
		change func(*Config)
	}{
		{"Config.Dir is empty", func(c *Config) { c.Dir = "" }},
		{`Config.Dir "a:b"`, func(c *Config) { c.Dir = "a:b" }},
		{"Config.Port is -1", func(c *Config) { c.Port = -1 }},
		{"Config.Port is 65536", func(c *Config) { c.Port = 65536 }},
		{"Config.RootPassword is empty", func(c *Config) { c.RootPassword = "" }},
		{"Config.RootPassword has a control", func(c *Config) { c.RootPassword = "top\nsecret" }},
		{"Config.InitSQL[1] is empty", func(c *Config) { c.InitSQL = []string{"SELECT 1", " ; \n"} }},
		{`Config.Installation.Flavor is "oracle"`, func(c *Config) { c.Installation.Flavor = "oracle" }},
	} {
		cfg := Config{
			Installation: Installation{Flavor: MySQL, Server: "/no/such/mysqld"},
			Dir:          filepath.Join(t.TempDir(), "s"), RootPassword: testPassword,
		}
		require.NoError(t, cfg.validate())
		test.change(&cfg)
		_, err := Open(t.Context(), cfg)
		require.ErrorContains(t, err, test.field)
		require.NotContains(t, err.Error(), "secret")
		require.NoDirExists(t, cfg.Dir)
	}
}

func TestOpenWrongBinary(t *testing.T) {
	t.Parallel()
	cfg := Config{
		Installation: Installation{Server: script(t, t.TempDir(), "mysqld", "echo I am no server")},
		Dir:          t.TempDir(), RootPassword: testPassword,
	}
	_, err := Open(t.Context(), cfg)
	require.ErrorIs(t, err, ErrNotServer)

	// A binary that lies: the initialisation shows it.
	cfg.Installation = Installation{Flavor: MySQL, Server: script(t, t.TempDir(), "mysqld", "echo I am no server; exit 7")}
	_, err = Open(t.Context(), cfg)
	var failed *StartError
	require.ErrorAs(t, err, &failed)
	require.ErrorContains(t, err, "exit status 7")
	require.Equal(t, "I am no server", failed.Log)
}

func TestSocketPath(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/srv/one/server.sock", home("/srv/one").socket())

	long := home("/srv/" + strings.Repeat("x", 100))
	require.LessOrEqual(t, len(long.socket()), maxSocketPath)
	require.Equal(t, long.socket(), long.socket(), "the same at every start")
	require.NotEqual(t, long.socket(), (long + "y").socket(), "one for each directory")

	edge := home("/" + strings.Repeat("x", maxSocketPath-len("//server.sock")))
	require.Equal(t, edge.path(socketName), edge.socket())
	require.NotEqual(t, (edge + "x").path(socketName), (edge + "x").socket())
}

func TestInitScript(t *testing.T) {
	t.Parallel()
	text := initScript(testPassword, []string{"CREATE DATABASE a;\n", "SELECT '100%d'"}, `/srv/it's\general.log`)
	require.Contains(t, text, `ALTER USER 'root'@'%' IDENTIFIED BY 'it''s "p\\ss" %d';`)
	require.Contains(t, text, "\nCREATE DATABASE a;\nSELECT '100%d';\n")
	require.True(t, strings.HasSuffix(text, `SET GLOBAL general_log_file = '/srv/it''s\\general.log';`+"\n"), "the mark comes last")
	for line := range strings.Lines(text) {
		require.True(t, strings.HasSuffix(line, ";\n"), line)
	}
}

func TestOptionsHoldNoPassword(t *testing.T) {
	t.Parallel()
	for _, flavor := range []Flavor{MySQL, MariaDB} {
		cfg := Config{Installation: Installation{Flavor: flavor}, RootPassword: testPassword, Options: []string{"--last"}}
		options := serverOptions(cfg, "/srv/one", 15000)
		require.Equal(t, "--no-defaults", options[0])
		require.Equal(t, "--last", options[len(options)-1])
		require.Contains(t, options, "--bind-address=127.0.0.1")
		require.NotContains(t, strings.Join(options, " "), testPassword)
		require.NotContains(t, strings.Join(options, " "), "auto-increment")
	}
}
