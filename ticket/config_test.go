package ticket

import (
	"log/slog"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

func someServer() *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = "app", "hunter2", "tcp", "db1:3306", "oddeven"
	return c
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	given := someServer()
	cfg, err := Config{Servers: []*mysql.Config{given}}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, 8, cfg.Conns)
	require.Equal(t, 2*time.Second, cfg.Timeout)
	require.NotNil(t, cfg.Logger)
	require.False(t, cfg.Logger.Enabled(t.Context(), slog.LevelError), "none")
	require.NotSame(t, given, cfg.Servers[0])
	require.False(t, given.ClientFoundRows, "the caller's own is left alone")
}

func TestConfigKeepsWhatIsSet(t *testing.T) {
	t.Parallel()
	logger := slog.New(slog.DiscardHandler)
	for _, conns := range []int{1, 1000} {
		cfg, err := Config{Servers: []*mysql.Config{someServer()}, Conns: conns, Timeout: time.Hour, Logger: logger}.withDefaults()
		require.NoError(t, err)
		require.Equal(t, conns, cfg.Conns)
		require.Equal(t, time.Hour, cfg.Timeout)
		require.Same(t, logger, cfg.Logger)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	one := []*mysql.Config{someServer()}
	noDatabase, noHost, increments := someServer(), someServer(), someServer()
	noDatabase.DBName = ""
	noHost.Addr = ":3306"
	increments.Params = map[string]string{"auto_increment_increment": "2"}
	tests := []struct {
		name  string
		cfg   Config
		field string
		says  string
	}{
		{"NoServers", Config{}, "Servers", "Servers: is empty; name at least one server, better two"},
		{"TooManyServers", Config{Servers: make([]*mysql.Config, schema.MaxIncrement+1)}, "Servers", "Servers = 1001: are too many; at most 1000"},
		{"NilServer", Config{Servers: []*mysql.Config{someServer(), nil}}, "Servers[1]", "Servers[1]: is nil; make it with mysql.ParseDSN or mysql.NewConfig"},
		{"NoDatabase", Config{Servers: []*mysql.Config{noDatabase}}, "Servers[0]", "Servers[0]: names no database; write it as user:password@tcp(host:port)/database"},
		{"NoHost", Config{Servers: []*mysql.Config{noHost}}, "Servers[0]", "Servers[0]: names no host; write it as user:password@tcp(host:port)/database"},
		{"Increment", Config{Servers: []*mysql.Config{increments}}, "Servers[0]", "Servers[0]: sets auto_increment_increment, which oddeven sets itself on every connection; remove it from the DSN"},
		{"NegativeConns", Config{Servers: one, Conns: -1}, "Conns", "Conns = -1: must be 1 to 1000; 0 is the default, 8"},
		{"TooManyConns", Config{Servers: one, Conns: 1001}, "Conns", "Conns = 1001: must be 1 to 1000; 0 is the default, 8"},
		{"NegativeTimeout", Config{Servers: one, Timeout: -time.Second}, "Timeout", "Timeout = -1s: is negative; 0 is the default, 2s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(t.Context(), tt.cfg)
			var bad *ConfigError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, tt.field, bad.Field)
			require.EqualError(t, err, tt.says)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// The driver finds some mistakes only when it prepares to connect.
func TestConfigErrorsOfTheDriver(t *testing.T) {
	t.Parallel()
	c := someServer()
	c.TLSConfig = "never-registered"
	_, err := Open(t.Context(), Config{Servers: []*mysql.Config{c}})
	var bad *ConfigError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Servers[0]", bad.Field)
	require.NotContains(t, err.Error(), "hunter2")
}
