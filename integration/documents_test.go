package integration

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

var fencedBlock = regexp.MustCompile("(?ms)^```(go|sql)\n(.*?)^```$")

// blocks are the blocks of a language in README.md and docs.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	paths, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	var all []string
	for _, path := range append(paths, "../README.md") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range fencedBlock.FindAllStringSubmatch(string(text), -1) {
			if found[1] == language {
				all = append(all, found[2])
			}
		}
	}
	return all
}

var (
	commandName = regexp.MustCompile(`(?m)\A// Command (\w+) `)
	listening   = strings.NewReplacer(`http.ListenAndServe("127.0.0.1:8080", nil)`, "serve()", `"net/http"`, "\"net\"\n\t\"net/http\"")
)

// serveOnSocket listens where no other program can be.
const serveOnSocket = `
func serve() error {
	l, err := net.Listen("unix", os.Getenv("SOCKET"))
	if err != nil {
		return err
	}
	return http.Serve(l, nil)
}
`

// Whole programs in the documents are built as they stand there and run. Only
// the port that one listens on is exchanged.
func TestDocumentedProgramsRun(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 2)
	migrate := []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.MigrateDSNs(), " ")}
	for _, args := range [][]string{{"migrate", "up"}, {"sequence", "create", "orders"}} {
		_, stderr, code := runProgram(t, migrate, args...)
		require.Zero(t, code, stderr)
	}
	runs := map[string]func(*testing.T, *exec.Cmd){"orders": runOrders, "shop": runShop}
	for _, source := range blocks(t, "go") {
		if !strings.Contains(source, "package main") {
			continue // compiled by the root's tests
		}
		name := commandName.FindStringSubmatch(source)
		require.NotNil(t, name, "a program begins with // Command NAME")
		require.Contains(t, runs, name[1], "how to run it, once")
		if strings.Contains(source, "ListenAndServe") {
			source = listening.Replace(source) + serveOnSocket
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600))
		build := exec.CommandContext(bounded(t), "go", "build", "-o", filepath.Join(dir, "program"), filepath.Join(dir, "main.go"))
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
		program := exec.CommandContext(bounded(t), filepath.Join(dir, "program"))
		program.Env = append(os.Environ(), "ODDEVEN_SERVERS="+strings.Join(fleet.DSNs(), " "), "SOCKET="+filepath.Join(dir, "s"))
		runs[name[1]](t, program)
		delete(runs, name[1])
	}
	require.Empty(t, runs, "programs that no document has")
}

// runOrders runs a program that prints three orders and ends.
func runOrders(t *testing.T, program *exec.Cmd) {
	out, err := program.CombinedOutput()
	requireNoSecrets(t, string(out))
	require.NoError(t, err, string(out))
	require.Regexp(t, `^(?:order \d+\n){3}$`, string(out))
}

// runShop runs a program that serves orders and metrics until it is killed.
func runShop(t *testing.T, program *exec.Cmd) {
	var printed output
	program.Stdout, program.Stderr = &printed, &printed
	require.NoError(t, program.Start())
	defer func() {
		require.NoError(t, program.Process.Kill())
		require.Error(t, program.Wait()) // of the kill
		requireNoSecrets(t, printed.String())
	}()
	socket := strings.TrimPrefix(program.Env[len(program.Env)-1], "SOCKET=")
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	get := func(path string) (string, error) {
		request, err := http.NewRequestWithContext(bounded(t), http.MethodGet, "http://shop"+path, nil)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(response.Body)
		return string(body), errors.Join(err, response.Body.Close())
	}
	require.Eventually(t, func() bool { _, err := get("/next"); return err == nil }, time.Minute, 20*time.Millisecond, "it listens")
	id, err := get("/next")
	require.NoError(t, err)
	require.Regexp(t, `^\d+\n$`, id)
	metrics, err := get("/metrics")
	require.NoError(t, err)
	require.Contains(t, metrics, "\noddeven_")
}

// documentedGrant is a GRANT in running text.
var documentedGrant = regexp.MustCompile("`(GRANT [^`]+ TO 'oddeven_migrate'@'%')`")

// The statements of the documents make accounts with which the product works.
// Names of databases and accounts are replaced, as servers are shared.
func TestDocumentedStatementsMakeAFleet(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1)
	suffix := strings.ToLower(rand.Text()[:8])
	cfg, err := mysql.ParseDSN(fleet.Servers[0].DSN())
	require.NoError(t, err)
	database, migrate, app := "documented"+suffix, "migrate"+suffix, "app"+suffix
	root := func(statement string) { // errors don't show it: there is a password in it
		t.Helper()
		_, err := fleet.Servers[0].DB().ExecContext(context.WithoutCancel(t.Context()), statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		root("DROP DATABASE IF EXISTS " + database)
		root("DROP USER IF EXISTS '" + migrate + "'@'%', '" + app + "'@'%'")
	})
	replace := strings.NewReplacer("DATABASE oddeven;", "DATABASE "+database+";", "`oddeven`", "`"+database+"`", "flickr.*", database+".*",
		"oddeven_migrate", migrate, "oddeven_app", app, "…", cfg.Passwd)
	count := 0
	for _, block := range blocks(t, "sql") {
		for statement := range strings.SplitSeq(strings.TrimSpace(block), ";\n") {
			count++
			root(strings.TrimSuffix(replace.Replace(statement+";"), ";"))
		}
	}
	require.Equal(t, 5, count)
	cfg.DBName = database
	for _, step := range []struct {
		user string
		args []string
	}{{migrate, []string{"migrate", "up"}}, {app, []string{"next"}}} {
		cfg.User = step.user
		_, stderr, code := runProgram(t, []string{"ODDEVEN_SERVERS=" + cfg.FormatDSN()}, step.args...)
		require.Zero(t, code, stderr)
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	found := documentedGrant.FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, found)
	for _, grant := range found {
		root(replace.Replace(grant[1]))
	}
}
