package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	ids "github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/snowflake"
)

// golden compares output with a file, and holds it to the width of a terminal.
// With UPDATE_GOLDEN=1 in the environment it writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", file), []byte(got), 0o600))
	}
	want, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	require.Equal(t, string(want), got)
	fits(t, got)
}

// fits holds output to the width of a terminal.
func fits(t *testing.T, got string) {
	t.Helper()
	for line := range strings.Lines(got) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), reportWidth, line)
	}
}

// fromInput runs a command line with something on standard input.
func fromInput(t *testing.T, in io.Reader, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := run(t.Context(), args, streams{in: in, out: &out, err: &err}, none)
	require.NotContains(t, out.String(), secret)
	require.NotContains(t, err.String(), secret)
	return result{code, out.String(), err.String()}
}

// everyKind is an ID of every kind, with the fields that each can have.
var everyKind = []string{
	"95", "54760833024000005", "9223372036854775807", "C232AB00-9414-11EC-B3C8-9F6BDECED846",
	"00000000-0000-6000-8000-0242ac110002", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "ffffffff-ffff-7fff-bfff-ffffffffffff", "507f1f77bcf86cd799439011",
}

func TestDecodeAsTable(t *testing.T) {
	t.Parallel()
	twitter, err := snowflake.Preset("twitter")
	require.NoError(t, err)
	sharded, err := twitter.WithShardBits(4)
	require.NoError(t, err)
	clock := func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		name   string
		scheme scheme
	}{
		{"decode_default.golden", scheme{}},
		{"decode_fleet.golden", scheme{
			Config:  ids.Config{Layout: sharded, Increment: 3, ShardBits: 4},
			servers: map[int64]string{2: "ticket-server-2.eu-central-1.example.com:3306/oddeven"},
		}},
		{"decode_twitter.golden", scheme{Config: ids.Config{Layout: twitter, Foreign: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, err bytes.Buffer
			tt.scheme.Now = clock
			a := &app{streams: streams{out: &out, err: &err}}
			require.NoError(t, a.decode(t.Context(), everyKind, tt.scheme, formatTable))
			require.Empty(t, err.String())
			golden(t, tt.name, out.String())
		})
	}
}

func TestDecodeGoesOnAfterWhatIsNoID(t *testing.T) {
	t.Parallel()
	input := "7\nabc\r\n\n8\r\n" + strings.Repeat("9", 3*decodeBuffer) + "\napp:" + secret + "@tcp(db1:3306)/oddeven\n9"
	r := fromInput(t, strings.NewReader(input), "decode", "-o", "json")
	require.Equal(t, exitFailure, r.code)
	require.Equal(t, `{"id":"7","plane":"segment"}
{"id":"8","plane":"segment"}
{"id":"9","plane":"segment"}
`, r.out)
	lines := strings.Split(r.err, "\n")
	require.Len(t, lines, 6)
	require.Contains(t, lines[0], `line 2: "abc" has 'a' where a digit belongs`)
	require.Contains(t, lines[1], `line 3: "" is empty`)
	require.Contains(t, lines[2], "line 5: a text of 196608 bytes is no ID")
	require.Contains(t, lines[3], `line 6: "app:***@tcp(db1:3306)/oddeven" has 'a' where`)
	require.Equal(t, "oddeven: 4 of 7 could not be read", lines[4])

	r = fromInput(t, strings.NewReader("not read"), "decode", "5", "5.0", "6")
	require.Equal(t, exitFailure, r.code)
	require.Contains(t, r.err, `argument 2: "5.0" has '.' where a digit belongs`)
	require.Contains(t, r.err, "oddeven: 1 of 3 could not be read")
	require.Equal(t, 2, strings.Count(r.out, "plane "))
	require.Equal(t, 1, strings.Count(r.out, "\n\n"), "between two")
	require.NotContains(t, r.err, "Try:")
}

// No line is lost where one buffer ends and the next begins.
func TestDecodeOfManyLines(t *testing.T) {
	t.Parallel()
	var in, want bytes.Buffer
	for id := range 50_000 {
		fmt.Fprintln(&in, id+1)
		fmt.Fprintf(&want, "{\"id\":\"%d\",\"plane\":\"segment\"}\n", id+1)
	}
	require.Equal(t, result{out: want.String()}, fromInput(t, &in, "decode", "-o", "json"))
}

func TestDecodeOfNothing(t *testing.T) {
	t.Parallel()
	require.Equal(t, result{}, fromInput(t, strings.NewReader(""), "decode"))
}

// Which layout was taken is said if nobody has named one, and only then.
func TestDecodeSaysWhichLayoutItAssumed(t *testing.T) {
	t.Parallel()
	assumed := "No servers and no --layout were given: Snowflake IDs were read by the layout oddeven.\n"
	for _, tt := range []struct {
		args []string
		err  string
	}{
		{[]string{"5"}, ""},
		{[]string{"54760833024000005"}, assumed},
		{[]string{"54760833024000005", "--layout", "oddeven"}, ""},
		{[]string{"54760833024000005", "--layout", "twitter"}, ""},
		{[]string{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}, ""},
	} {
		r := fromInput(t, strings.NewReader(""), append([]string{"decode"}, tt.args...)...)
		require.Equal(t, exitOK, r.code)
		require.Equal(t, tt.err, r.err, tt.args)
	}
}

func TestDecodeByALayout(t *testing.T) {
	t.Parallel()
	for layout, want := range map[string]string{
		"oddeven":   `"plane":"segment"}`,
		"sonyflake": `"layout":"sonyflake","time":"2014-09-01T00:00:00.000Z","unix_ms":1409529600000,"worker":5,"node":5,"sequence":0}`,
		"time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z": `"plane":"segment"}`,
		"time:41,sequence:3;unit=1s;epoch=2026-01-01T00:00:00Z":             `"layout":"time:41,sequence:3;unit=1s;epoch=2026-01-01T00:00:00Z","time":"2026-01-01T00:00:00.000Z","unix_ms":1767225600000,"sequence":5}`,
	} {
		// Servers are not asked: none would answer.
		r := command(t, map[string]string{envServers: nobody(t)}, "decode", "5", "-o", "json", "--layout", layout)
		require.Equal(t, exitOK, r.code, r.err)
		require.Contains(t, r.out, want)
	}
}

func TestDecodeUsageErrors(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		`--base "16": must be 10 or 32`:                             {"--base", "16"},
		`there is no preset "twiter"`:                               {"--layout", "twiter"},
		`--layout "": is empty; give a NAME, or leave the flag out`: {"--layout", ""},
		`-o, --output "csv": must be table or json`:                 {"-o", "csv"},
		"unknown flag -5; write -- before":                          {"-5"},
		"--server and --config exclude each other":                  {"--config", "x", "--server", "y"},
		"--server, DSN 1 of 1: not a MySQL DSN":                     {"--server", secret},
		"read --config /nowhere/fleet.yaml: ":                       {"--config", "/nowhere/fleet.yaml"},
	} {
		r := command(t, nil, append([]string{"decode"}, args...)...)
		require.Equal(t, exitUsage, r.code, says)
		require.Empty(t, r.out)
		require.Contains(t, r.err, says)
		require.True(t, strings.HasSuffix(r.err, "\nTry: oddeven decode --help\n"), r.err)
	}
}

func TestDecodeFailsWhenNoServerAnswers(t *testing.T) {
	t.Parallel()
	r := command(t, map[string]string{envServers: nobody(t)}, "decode", "5")
	require.Equal(t, exitFailure, r.code)
	require.Empty(t, r.out)
	require.Contains(t, r.err, "no server answers, which would know the layout; give it with --layout\nserver /")
}

func TestFleetScheme(t *testing.T) {
	t.Parallel()
	down := migrations.ServerReport{Server: "db1:3306/oddeven", State: migrations.StateUnreachable, Err: errors.New("server db1:3306/oddeven: refused")}
	up := migrations.ServerReport{Server: "db2:3306/oddeven", Offset: 2, State: migrations.StateUpToDate}
	report := migrations.Report{Fleet: "ab", Increment: 4, ShardBits: 3, Layout: "time:41,worker:10,sequence:9,shard:3;unit=1ms;epoch=2026-01-01T00:00:00Z"}
	var said bytes.Buffer
	a := &app{streams: streams{err: &said}}

	report.Servers = []migrations.ServerReport{down, up}
	s, err := a.fleetScheme(&report)
	require.NoError(t, err)
	require.Equal(t, "Going on without one: server db1:3306/oddeven: refused\n", said.String())
	require.Equal(t, map[int64]string{2: "db2:3306/oddeven"}, s.servers)
	require.Equal(t, int64(4), s.Increment)
	require.Equal(t, 3, s.ShardBits)
	require.Equal(t, report.Layout, s.Layout.String())
	require.False(t, s.Foreign)

	other := report
	other.Layout = "damaged"
	_, err = a.fleetScheme(&other)
	require.ErrorContains(t, err, "the layout in the servers' rows can't be read")
	require.False(t, isUsage(err))

	other = report
	other.Fleet = ""
	_, err = a.fleetScheme(&other)
	require.ErrorContains(t, err, "belong to no fleet yet")

	report.Servers = []migrations.ServerReport{down, {State: migrations.StateFailed, Err: migrations.ErrMixedFleets}, up}
	_, err = a.fleetScheme(&report)
	require.ErrorIs(t, err, migrations.ErrMixedFleets)
}

// Whoever types a line sees the answer before the next.
func TestDecodeAnswersEveryLine(t *testing.T) {
	t.Parallel()
	in, typed := io.Pipe()
	answers, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), []string{"decode", "-o", "json"}, streams{in: in, out: out, err: io.Discard}, none)
	}()
	read := json.NewDecoder(answers)
	for _, id := range []string{"5", "6", "7"} {
		_, err := io.WriteString(typed, id+"\n")
		require.NoError(t, err)
		var got struct{ ID string }
		require.NoError(t, read.Decode(&got))
		require.Equal(t, id, got.ID)
	}
	require.NoError(t, typed.Close())
	require.Equal(t, exitOK, <-code)
}

func TestDecodeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	in, typed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"decode"}, streams{in: in, out: io.Discard, err: io.Discard}, none)
	}()
	_, err := io.WriteString(typed, "5\n") // it reads
	require.NoError(t, err)
	cancel()
	require.Equal(t, exitFailure, <-code)
	require.NoError(t, typed.Close())
}

func TestDecodeToABrokenPipe(t *testing.T) {
	t.Parallel()
	a := &app{streams: streams{in: strings.NewReader(strings.Repeat("5\n", decodeBuffer)), out: brokenPipe{}, err: &bytes.Buffer{}}}
	require.EqualError(t, a.decode(t.Context(), nil, scheme{}, formatJSON), "broken pipe")
}

func TestDecodeOfInputThatFails(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader("5\n6\n7"), brokenInput{})
	r := fromInput(t, in, "decode", "-o", "json")
	require.Equal(t, exitFailure, r.code)
	require.Equal(t, 2, strings.Count(r.out, "\n"))
	require.Equal(t, "oddeven: read line 3: broken input\n", r.err)
}

// brokenInput cannot be read.
type brokenInput struct{}

func (brokenInput) Read([]byte) (int, error) { return 0, errors.New("broken input") }
