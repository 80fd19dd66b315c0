package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/migrations"
)

// secret is the password in every DSN of these tests; nothing may print it.
const secret = "hunter2"

// result is what a command line came to.
type result struct {
	code     int
	out, err string
}

// command runs a command line with an environment of its own, and makes sure
// that it does not print the secret.
func command(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &err}, func(name string) (string, bool) {
		value, found := env[name]
		return value, found
	})
	require.NotContains(t, out.String(), secret)
	require.NotContains(t, err.String(), secret)
	return result{code, out.String(), err.String()}
}

// nobody is the DSN of a server that is not there.
func nobody(t *testing.T) string {
	return "app:" + secret + "@unix(" + filepath.Join(t.TempDir(), "none.sock") + ")/oddeven"
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	server := []string{"--server", "app:" + secret + "@tcp(db1:3306)/oddeven"}
	tests := []struct {
		name string
		args []string
		says string
		try  string
	}{
		{"UnknownCommand", []string{"bogus"}, `no command "bogus"`, "oddeven"},
		{"NearlyACommand", []string{"migrat"}, `no command "migrat"; did you mean migrate?`, "oddeven"},
		{"UnknownMigrateCommand", []string{"migrate", "sideways"}, `no command "sideways" under migrate`, "oddeven migrate"},
		{"NearlyAMigrateCommand", []string{"migrate", "stats"}, `no command "stats" under migrate; did you mean status?`, "oddeven migrate"},
		{"UnknownFlag", []string{"next", "--bogus"}, "unknown flag --bogus", "oddeven next"},
		{"UnknownShortFlag", []string{"next", "-x"}, "unknown flag -x\n", "oddeven next"},
		{"FlagWithoutValue", []string{"next", "--server"}, "--server needs a value: --server DSN", "oddeven next"},
		{"NotANumber", []string{"next", "-n", "many"}, `-n, --number "many": must be a whole number`, "oddeven next"},
		{"NotADuration", []string{"next", "--timeout", "5"}, `--timeout "5": must be a time with its unit, like 500ms, 30s, 5m or 1h30m`, "oddeven next"},
		{"UnknownFormat", []string{"migrate", "status", "-o", "xml"}, `-o, --output "xml": must be table or json`, "oddeven migrate status"},
		{"ArgumentTooMany", []string{"next", "orders", "5"}, "oddeven next takes at most one argument, the name of a sequence; got 2", "oddeven next"},
		{"ArgumentToStatus", []string{"migrate", "status", "now"}, `oddeven migrate status takes no argument, got "now"`, "oddeven migrate status"},
		{"ArgumentMissing", []string{"migrate", "to"}, "oddeven migrate to takes one argument, a version; got 0", "oddeven migrate to"},
		{"TwoArguments", []string{"migrate", "adopt", "a", "b"}, "oddeven migrate adopt takes one argument, a table; got 2", "oddeven migrate adopt"},
		{"NoServers", []string{"next"}, "no servers: give --server user:password@tcp(host:port)/database for each, or --config FILE, or set ODDEVEN_SERVERS", "oddeven next"},
		{"ServerAndConfig", append([]string{"next", "--config", "fleet.yaml"}, server...), "--server and --config exclude each other", "oddeven next"},
		{"NoTickets", append([]string{"next", "-n", "0"}, server...), "-n 0: must be 1 to 10000", "oddeven next"},
		{"TooManyTickets", append([]string{"next", "-n", "10001"}, server...), "-n 10001: must be 1 to 10000", "oddeven next"},
		{"BadDSN", []string{"next", "--server", secret}, "--server, DSN 1 of 1: not a MySQL DSN; write it as user:password@tcp(host:port)/database", "oddeven next"},
		{"SecondDSN", append([]string{"next", "--server", "app:" + secret + "@tcp(db1:3306)/oddeven"}, "--server", "app:"+secret+"@tcp(db2:3306)/"), "--server, DSN 2 of 2: names no database", "oddeven next"},
		{"BracketInDSN", []string{"next", "--server", "app:" + secret + "@tcp(db1:3306/oddeven"}, "--server, DSN 1 of 1: not a MySQL DSN", "oddeven next"},
		{"NotAVersion", append([]string{"migrate", "to", "new"}, server...), `"new" is not a version`, "oddeven migrate to"},
		{"VersionTooNew", append([]string{"migrate", "to", "9999"}, server...), "VERSION = 9999: must be 0 to ", "oddeven migrate to"},
		{"NotATable", append([]string{"migrate", "adopt", "a b"}, server...), "TABLE = a b: is no plain table name", "oddeven migrate adopt"},
		{"IncrementZero", append([]string{"migrate", "up", "--increment", "0"}, server...), "--increment 0: must be at least 1", "oddeven migrate up"},
		{"IncrementTooLarge", append([]string{"migrate", "up", "--increment", "1001"}, server...), "--increment = 1001: must be 1 to 1000", "oddeven migrate up"},
		{"ShardBits", append([]string{"migrate", "up", "--shard-bits", "33"}, server...), "--shard-bits = 33: must be 0 to 32", "oddeven migrate up"},
		{"Lease", append([]string{"migrate", "up", "--longest-lease", "1ms"}, server...), "--longest-lease = 1ms: must be 1s to 720h", "oddeven migrate up"},
		{"Layout", append([]string{"migrate", "up", "--layout", "twiter"}, server...), `there is no preset "twiter"`, "oddeven migrate up"},
		{"Retired", append([]string{"migrate", "up", "--retired", "0"}, server...), "--retired 0: is no offset", "oddeven migrate up"},
		{"LockTimeout", append([]string{"migrate", "up", "--lock-timeout", "-1s"}, server...), "--lock-timeout -1s: must be at least 0", "oddeven migrate up"},
		{"NoDevServers", []string{"dev", "--servers", "0"}, "--servers 0: must be 1 to 16", "oddeven dev"},
		{"TooManyDevServers", []string{"dev", "--servers", "17"}, "--servers 17: must be 1 to 16", "oddeven dev"},
		{"NoCallers", []string{"demo", "--callers", "0"}, "--callers 0: must be 1 to 10000", "oddeven demo"},
		{"DemoTooShort", []string{"demo", "--duration", "1ms"}, "--duration 1ms: must be 1s to 1h", "oddeven demo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := command(t, nil, tt.args...)
			require.Equal(t, exitUsage, r.code)
			require.Empty(t, r.out, "results only")
			require.True(t, strings.HasPrefix(r.err, "oddeven: "), r.err)
			require.Contains(t, r.err, tt.says)
			require.True(t, strings.HasSuffix(r.err, "\nTry: "+tt.try+" --help\n"), r.err)
		})
	}
}

func TestServersFromTheEnvironment(t *testing.T) {
	t.Parallel()
	good := "app:" + secret + "@tcp(db1:3306)/oddeven"
	r := command(t, map[string]string{envServers: good + "  \n " + secret}, "next")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "ODDEVEN_SERVERS, DSN 2 of 2: not a MySQL DSN")
	r = command(t, map[string]string{envServers: " \t\n"}, "next")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "no servers")
	// --server comes before the environment, which is not even looked at.
	r = command(t, map[string]string{envServers: "broken"}, "next", "--server", nobody(t))
	require.Equal(t, exitFailure, r.code)
}

func TestNextFailsWhenNoServerAnswers(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "next", "--verbose", "--server", nobody(t), "--server", nobody(t))
	require.Equal(t, exitFailure, r.code)
	require.Empty(t, r.out)
	require.Contains(t, r.err, "oddeven: ticket: no server available\nserver /")
	require.NotContains(t, r.err, "Try:")
}

func TestStatusListsTheServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "migrate", "status", "--server", nobody(t))
	require.Equal(t, exitFailure, r.code)
	require.Regexp(t, `^SERVER +OFFSET +SCHEMA +STATE\n/.*/oddeven\s+- +\? +unreachable`, r.out)
	require.Contains(t, r.err, "migrations: 1 of 1 servers failed\n  server /")

	r = command(t, nil, "migrate", "status", "-o", "json", "--server", nobody(t))
	require.Equal(t, exitFailure, r.code)
	var report reportJSON
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	require.Len(t, report.Servers, 1)
	require.Equal(t, "unreachable", report.Servers[0].State)
	require.Equal(t, migrations.Latest(), report.Servers[0].Latest)
	require.Contains(t, report.Servers[0].Error, "server /")
}

func TestEveryMigrateCommandFailsWhenNoServerAnswers(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"up"}, {"up", "--dry-run"}, {"down"}, {"to", "3"}, {"adopt", "flickr.Tickets64"}} {
		t.Run(strings.Join(args, ""), func(t *testing.T) {
			t.Parallel()
			r := command(t, nil, append(append([]string{"migrate"}, args...), "-v", "--server", nobody(t))...)
			require.Equal(t, exitFailure, r.code)
			require.Contains(t, r.out, "unreachable")
			require.Contains(t, r.err, "1 of 1 servers failed")
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "version")
	require.Equal(t, exitOK, r.code)
	require.Regexp(t, `^oddeven \S+ \(`+runtime.Version()+fmt.Sprintf(`, schema %d, client protocol \d+\)\n$`, migrations.Latest()), r.out)
	require.Empty(t, r.err)
}

func TestHelpGoesToStandardOutput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}, {"help"}, {"migrate"}, {"migrate", "up", "--help"}, {"help", "next"}} {
		r := command(t, nil, args...)
		require.Equal(t, exitOK, r.code, args)
		require.Contains(t, r.out, "Usage:\n  oddeven", args)
		require.Empty(t, r.err, args)
	}
}

func TestEveryCommandSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	everyBelow((&app{}).root(), func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.NotRegexp(t, `\.$`, cmd.Short, cmd.CommandPath())
	})
}

func TestEveryFlagIsExplained(t *testing.T) {
	t.Parallel()
	everyBelow((&app{}).root(), func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
			require.Regexp(t, `--[a-z-]+.*   \S`, line, cmd.CommandPath())
		}
	})
}

func TestCancelledCommandFails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	code := run(ctx, []string{"next", "--server", nobody(t)}, streams{in: strings.NewReader(""), out: &out, err: &err}, func(string) (string, bool) { return "", false })
	require.Equal(t, exitFailure, code)
	require.Empty(t, out.String())
	require.NotContains(t, err.String(), secret)
}
