package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fake is a repository of two modules, with a mutant for each verdict.
const fake = "testdata/fake"

// verdicts runs the tool over the mutants of fake whose names match, and
// returns the exit code and the report.
func verdicts(t *testing.T, match string, args ...string) (int, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), append([]string{"-C", fake, "-run", match}, args...), &stdout, &stderr)
	require.Empty(t, stderr.String())
	return code, stdout.String()
}

// requireLine asks for a line of the report with all of these parts in order.
func requireLine(t *testing.T, report string, parts ...string) {
	t.Helper()
	pattern := `(?m)^` + strings.Join(parts, `.*`) + `.*$`
	require.Regexp(t, pattern, report)
}

func TestAllKilled(t *testing.T) {
	t.Parallel()
	code, report := verdicts(t, `^killed(|-binary|-crash|-embedded)$`)
	require.Equal(t, exitKilled, code, report)
	requireLine(t, report, "baseline ", `\. \./sum \^TestAdd\$`, "2 tests")
	requireLine(t, report, "killed ", " killed ", "TestAdd/small$")
	requireLine(t, report, "killed ", " killed-binary ", "TestBinary$")
	requireLine(t, report, "killed ", " killed-crash ", `TestTwice \(crashed\)$`)
	requireLine(t, report, "killed ", " killed-embedded ", "TestBinary$")
	requireLine(t, report, "mutate: 4 of 4 killed in ")
}

func TestRaceDetectorKills(t *testing.T) {
	t.Parallel()
	code, report := verdicts(t, "^killed-race$")
	require.Equal(t, exitKilled, code, report)
	requireLine(t, report, "baseline ", `TestTotal\$ \(race\)`)
	requireLine(t, report, "killed ", " killed-race ", "TestTotal$")
}

func TestNotKilled(t *testing.T) {
	t.Parallel()
	code, report := verdicts(t, "^(survived|outside|broken-test|(no-build|no-test|stale).*)$")
	require.Equal(t, exitFailed, code)
	requireLine(t, report, "survived ", " survived$")
	require.Contains(t, report, "\tsum/sum.go: subtracts\n")
	requireLine(t, report, "failed outside a test ", " outside ")
	requireLine(t, report, "baseline failed ", " broken-test ")
	require.Contains(t, report, "fails without any mutant")
	requireLine(t, report, "does not build ", " no-build ")
	requireLine(t, report, "does not build ", " no-build-elsewhere ")
	require.Contains(t, report, "undefined: name")
	requireLine(t, report, "no test ran ", " no-test ")
	requireLine(t, report, "no test ran ", " no-test-skipped ")
	requireLine(t, report, "stale ", " stale ", "occurs 0 times")
	requireLine(t, report, "stale ", " stale-file ", "no file sum/gone.go")
	requireLine(t, report, "stale ", " stale-twice ", "occurs 4 times")
	requireLine(t, report, "mutate: 0 of 10 killed, 1 survived, 2 does not build, 3 stale, 2 no test ran, "+
		"1 failed outside a test, 1 baseline failed in ")
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	code, report := verdicts(t, "timeout", "-timeout", "3s")
	require.Equal(t, exitFailed, code)
	requireLine(t, report, "killed ", " killed-timeout ", "timeout$")
	requireLine(t, report, "timeout ", " timeout ", `"timeout: kills"`)
}

// TestInterrupt stops the tool while a mutant hangs. Nothing may be left over.
func TestInterrupt(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	t.Setenv("FAKE_STARTED", started)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- run(ctx, []string{"-C", fake, "-run", "^timeout$"}, &stdout, &stderr) }()

	var pid int
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(started)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(data))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	cancel()
	select {
	case code := <-done:
		require.Equal(t, exitFailed, code)
	case <-time.After(2 * stopGrace):
		require.Fail(t, "still running long after the interrupt")
	}
	require.Contains(t, stdout.String(), "mutate: interrupted")
	require.NotContains(t, stdout.String(), "killed")
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) },
		stopGrace, 10*time.Millisecond, "the test process is still there")
	left, err := filepath.Glob(filepath.Join(temp, "oddeven-mutate-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestList(t *testing.T) {
	t.Parallel()
	code, report := verdicts(t, "^killed-race$", "-list")
	require.Equal(t, exitKilled, code)
	require.Equal(t, "killed-race\n\twhy:  waits for one goroutine before it starts the next\n"+
		"\tfile: sum/sum.go\n\ttest: . ./sum ^TestTotal$ (race)\n", report)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":           {[]string{"-h"}, exitKilled, "-timeout"},
		"unknown flag":   {[]string{"-x"}, exitUsage, "flag provided but not defined"},
		"argument":       {[]string{"residue"}, exitUsage, `unexpected argument "residue"`},
		"bad regexp":     {[]string{"-run", "("}, exitUsage, "-run: error parsing regexp"},
		"no jobs":        {[]string{"-j", "0"}, exitUsage, "-j 0: must be at least 1"},
		"bad timeout":    {[]string{"-timeout", "0s"}, exitUsage, "must be above 0"},
		"no mutant":      {[]string{"-C", fake, "-run", "^nothing$"}, exitFailed, `matches "^nothing$"`},
		"no repository":  {[]string{"-C", "/"}, exitFailed, "find repository root"},
		"no such folder": {[]string{"-C", "testdata/nowhere"}, exitFailed, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			require.Equal(t, c.code, run(t.Context(), c.args, &stdout, &stderr))
			require.Contains(t, stderr.String(), c.want)
			require.Empty(t, stdout.String())
		})
	}
}
