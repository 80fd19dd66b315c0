package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Events as go test -json prints them; the fields the tool ignores are left out.
const (
	eventRun       = `{"Action":"run","Package":"p","Test":"TestA"}`
	eventRunSub    = `{"Action":"run","Package":"p","Test":"TestA/b"}`
	eventPass      = `{"Action":"pass","Package":"p","Test":"TestA"}`
	eventSkip      = `{"Action":"skip","Package":"p","Test":"TestA"}`
	eventFail      = `{"Action":"fail","Package":"p","Test":"TestA"}`
	eventFailSub   = `{"Action":"fail","Package":"p","Test":"TestA/b"}`
	eventPkgPass   = `{"Action":"pass","Package":"p"}`
	eventPkgFail   = `{"Action":"fail","Package":"p"}`
	eventBuildFail = `{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`
	eventTimeout   = `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out after 5s\n"}`
	eventSignal    = `{"Action":"output","Package":"p","Output":"signal: killed\n"}`
)

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events       []string
		timeoutKills bool
		want         verdict
		by           string
	}{
		"passes":                     {events: []string{eventRun, eventPass, eventPkgPass}, want: survived},
		"fails":                      {events: []string{eventRun, eventFail, eventPkgFail}, want: killed, by: "TestA"},
		"names the innermost":        {events: []string{eventRun, eventRunSub, eventFailSub, eventFail, eventPkgFail}, want: killed, by: "TestA/b"},
		"crashes":                    {events: []string{eventRun, eventPkgFail}, want: killed, by: "TestA (crashed)"},
		"killed from outside":        {events: []string{eventRun, eventSignal, eventPkgFail}, want: failedOutside},
		"TestMain gives up":          {events: []string{eventPkgFail}, want: failedOutside},
		"fails after its tests":      {events: []string{eventRun, eventPass, eventPkgFail}, want: failedOutside},
		"no test":                    {events: []string{eventPkgPass}, want: noTestRan},
		"only skips":                 {events: []string{eventRun, eventSkip, eventPkgPass}, want: noTestRan},
		"test does not compile":      {events: []string{eventBuildFail}, want: doesNotBuild},
		"other test does not either": {events: []string{eventRun, eventFail, eventBuildFail}, want: doesNotBuild},
		"timeout":                    {events: []string{eventRun, eventTimeout, eventPkgFail}, want: timeout},
		"timeout kills":              {events: []string{eventRun, eventTimeout, eventPkgFail}, timeoutKills: true, want: killed, by: "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := judge(parseEvents([]byte(strings.Join(c.events, "\n"))), c.timeoutKills)
			require.Equal(t, c.want, res.verdict)
			if c.by != "" {
				require.Equal(t, c.by, res.by)
			}
		})
	}
}

func TestJudgeBaseline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		want   verdict
	}{
		"passes":   {[]string{eventRun, eventPass, eventPkgPass}, ""},
		"fails":    {[]string{eventRun, eventFail, eventPkgFail}, baselineFailed},
		"no build": {[]string{eventBuildFail}, baselineFailed},
		"timeout":  {[]string{eventRun, eventTimeout, eventPkgFail}, baselineFailed},
		"no test":  {[]string{eventPkgPass}, noTestRan},
		"skips":    {[]string{eventRun, eventSkip, eventPkgPass}, noTestRan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, judgeBaseline(parseEvents([]byte(strings.Join(c.events, "\n")))))
		})
	}
}

func TestParseEventsKeepsText(t *testing.T) {
	t.Parallel()
	o := parseEvents([]byte("not JSON\n" + eventTimeout + "\n"))
	require.Equal(t, "not JSON\npanic: test timed out after 5s\n", o.text)
}

func TestIndentKeepsBothEnds(t *testing.T) {
	t.Parallel()
	var lines []string
	for range 100 {
		lines = append(lines, "middle")
	}
	lines[0], lines[99] = "first", "last"
	got := indent(strings.Join(lines, "\n"))
	require.Equal(t, maxOutput+1, strings.Count(got, "\n"))
	require.Contains(t, got, "\tfirst\n")
	require.Contains(t, got, "… 60 lines, see -v …")
	require.Contains(t, got, "\tlast\n")
}
