package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
)

// TestProgram runs testdata/script. Beside the commands of testscript scripts have
//
//	servers N          N servers; sets MIGRATE_1 …, APP_1 …, ADDR_1 …, DATABASE, and MIGRATE and APP with all DSNs
//	cut K, heal K      the network of server K
//	sql K STATEMENT    as root
//	oddeven ARG…       the program, which must exit with 0; with ! in front with 1
//	usage oddeven ARG… the program, which must exit with 2, print nothing to standard output, and say how to get help
//	complete LINE ARG… what a shell offers after ARG…, once LINE begins one of the lines: it waits two seconds for names, and a machine that is busy may need more
//	json PATH VALUE    compares a value in the JSON on standard output; PATH is like servers.0.state
//	tickets N OFFSET   standard output is N tickets of that class of a fleet of two
//
// With the command ttyin -stdin before it, the program finds somebody at a
// terminal. It runs with --quiet, because what it says when something takes
// longer than a second depends on the machine. Standard output and standard
// error of every run are searched for passwords.
func TestProgram(t *testing.T) {
	t.Parallel()
	program := programPath(t)
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Values[theTest{}] = env.T()
			env.Values[theServers{}] = &[]*testfleet.Server{}
			env.Setenv("PROGRAM", program)
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"servers": scriptServers, "cut": scriptCut, "heal": scriptHeal, "sql": scriptSQL,
			"oddeven": scriptProgram, "usage": scriptUsage, "complete": scriptComplete, "json": scriptJSON, "tickets": scriptTickets,
		},
	})
}

type (
	theTest    struct{} // key of the script's testing.TB
	theServers struct{} // key of a pointer to its servers
)

func ofScript(ts *testscript.TestScript) (testing.TB, *[]*testfleet.Server) {
	t, isTest := ts.Value(theTest{}).(testing.TB)
	servers, hasServers := ts.Value(theServers{}).(*[]*testfleet.Server)
	if !isTest || !hasServers {
		ts.Fatalf("Setup has not run")
	}
	return t, servers
}

func scriptServers(ts *testscript.TestScript, _ bool, args []string) {
	t, servers := ofScript(ts)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	fleet := testfleet.New(t, n)
	*servers = fleet.Servers
	ts.Setenv("DATABASE", fleet.Database)
	ts.Setenv("MIGRATE", strings.Join(fleet.MigrateDSNs(), " "))
	ts.Setenv("APP", strings.Join(fleet.DSNs(), "\t "))
	for i, s := range fleet.Servers {
		k := strconv.Itoa(i + 1)
		ts.Setenv("MIGRATE_"+k, s.MigrateDSN())
		ts.Setenv("APP_"+k, s.DSN())
		ts.Setenv("ADDR_"+k, s.Addr())
	}
}

func scriptServer(ts *testscript.TestScript, k string) (testing.TB, *testfleet.Server) {
	t, servers := ofScript(ts)
	i, err := strconv.Atoi(k)
	ts.Check(err)
	return t, (*servers)[i-1]
}

func scriptCut(ts *testscript.TestScript, _ bool, args []string) {
	_, s := scriptServer(ts, args[0])
	s.Cut()
}

func scriptHeal(ts *testscript.TestScript, _ bool, args []string) {
	_, s := scriptServer(ts, args[0])
	s.Heal()
}

func scriptSQL(ts *testscript.TestScript, _ bool, args []string) {
	t, s := scriptServer(ts, args[0])
	execute(t, s, args[1])
}

// runScriptProgram runs the program and returns its exit code.
func runScriptProgram(ts *testscript.TestScript, args []string) int {
	t, _ := ofScript(ts)
	err := ts.Exec(ts.Getenv("PROGRAM"), append([]string{"--quiet"}, args...)...)
	requireNoSecrets(t, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

func scriptProgram(ts *testscript.TestScript, neg bool, args []string) {
	want := 0
	if neg {
		want = 1
	}
	if code := runScriptProgram(ts, args); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func scriptUsage(ts *testscript.TestScript, _ bool, args []string) {
	if code := runScriptProgram(ts, args[1:]); code != 2 {
		ts.Fatalf("exit code %d, want 2", code)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output of a wrong call: %s", out)
	}
	if !regexp.MustCompile(`(?m)^Try: oddeven.* --help$`).MatchString(ts.ReadFile("stderr")) {
		ts.Fatalf("no hint how to get help")
	}
}

func scriptComplete(ts *testscript.TestScript, _ bool, args []string) {
	t, _ := ofScript(ts)
	for ctx := bounded(t); ctx.Err() == nil; {
		if code := runScriptProgram(ts, append([]string{"__complete"}, args[1:]...)); code != 0 {
			ts.Fatalf("exit code %d", code)
		}
		if strings.Contains("\n"+ts.ReadFile("stdout"), "\n"+args[0]) {
			return
		}
	}
	ts.Fatalf("%q is not offered", args[0])
}

func scriptJSON(ts *testscript.TestScript, _ bool, args []string) {
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for step := range strings.SplitSeq(args[0], ".") {
		switch v := value.(type) {
		case []any:
			i, err := strconv.Atoi(step)
			ts.Check(err)
			value = v[i]
		case map[string]any:
			var found bool
			if value, found = v[step]; !found {
				ts.Fatalf("no %q in %v", step, v)
			}
		default:
			ts.Fatalf("%q of %v", step, v)
		}
	}
	if got := fmt.Sprint(value); got != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

func scriptTickets(ts *testscript.TestScript, _ bool, args []string) {
	t, _ := ofScript(ts)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var ids []int64
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		id, err := strconv.ParseInt(strings.TrimSuffix(line, "\n"), 10, 64)
		ts.Check(err)
		if len(args) > 1 {
			require.Equal(t, args[1], strconv.FormatInt((id-1)%2+1, 10))
		}
		require.Positive(t, id)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), n)
}
