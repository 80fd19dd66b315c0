package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/overview"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

var update = flag.Bool("update", false, "write the golden files of stats anew")

// statsNoon is when the pictures of these tests were taken.
var statsNoon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// statsServer is a server in order.
func statsServer(name string, offset, increment int64) ticket.Inspection {
	return ticket.Inspection{
		Server: name, Fleet: "a6d2bba8cac18d1fd7a5a3a5dbda9d41", Offset: offset, Increment: increment, Layout: snowflake.Default().String(), Gen: 3,
		Now: statsNoon, Started: statsNoon.Add(-time.Hour), Top: 10_275_118_404, Line: 11_275_118_404, Ceiling: schema.Ceiling - 1,
	}
}

// statsRow is a sequence on a server, used for 90 minutes.
func statsRow(i ticket.Inspection, rounds int64) sequence.OnServer {
	hour := statsNoon.Unix() / 3600
	return sequence.OnServer{
		Server: i.Server, Class: schema.Class{Offset: i.Offset, Increment: i.Increment}, Gen: i.Gen, Now: statsNoon.Unix() + 1800,
		Row: &sequence.Row{
			State:  sequence.State{Birth: statsNoon.AddDate(-1, 0, 0).Unix(), Ceiling: schema.Ceiling - 1},
			Rounds: rounds, Gen: i.Gen, Reserved: rounds / 2, Peak: rounds / 8, Refills: rounds / 1000, Step: 12_000,
			RefilledAt: statsNoon.Add(29 * time.Minute), RefilledBy: "app7, process 3312", CreatedAt: statsNoon.AddDate(-1, 0, 0),
			Usage: sequence.Usage{Hour: hour, HourRefills: rounds/1000 - 12, HourReserved: rounds/2 - 144_000, PastRefills: 90, PastReserved: 1_080_000},
		},
	}
}

func statsOf(name string, rows ...sequence.OnServer) sequence.Sequence {
	s := sequence.Sequence{Name: name, Servers: rows}
	for _, r := range rows {
		if r.Row != nil && (s.State == sequence.State{} || r.Row.Birth > s.State.Birth) {
			s.State = r.Row.State
		}
	}
	return s
}

// statsLeases are worker numbers of one server.
func statsLeases(server string, leased, parked, free int) []snowflake.Lease {
	var all []snowflake.Lease
	for state, n := range map[snowflake.LeaseState]int{snowflake.LeaseHeld: leased, snowflake.LeaseParked: parked, snowflake.LeaseFree: free} {
		for range n {
			all = append(all, snowflake.Lease{Server: server, State: state})
		}
	}
	return all
}

// statsPictures are the pictures of the golden files.
func statsPictures() map[string]*overview.Picture {
	one, two := statsServer("db1:3306/oddeven", 1, 2), statsServer("db2:3306/oddeven", 2, 2)
	two.FencedAt, two.FenceReason, two.FencedBy = statsNoon.Add(-time.Hour), "the server process was started anew", "app7, process 3312"
	leases := append(statsLeases(one.Server, 3, 0, 509), statsLeases(two.Server, 2, 510, 0)...)
	down := ticket.Inspection{Server: two.Server, Err: errors.New("server db2:3306/oddeven: connection refused")}
	pictures := map[string]*overview.Picture{
		"plain": overview.Of([]ticket.Inspection{one, two}, leases, []sequence.Sequence{
			statsOf("orders", statsRow(one, 20_000_000), statsRow(two, 19_988_000)),
		}),
		"none":        overview.Of([]ticket.Inspection{one, two}, leases, nil),
		"server_down": overview.Of([]ticket.Inspection{one, down}, leases[:512], []sequence.Sequence{statsOf("orders", statsRow(one, 20_000_000))}),
		"all_down":    overview.Of([]ticket.Inspection{{Server: one.Server, Err: errors.New("refused")}, down}, nil, nil),
		"hard":        statsHard(),
	}
	pictures["all_down"].At = statsNoon
	return pictures
}

// statsHard has everything that is long, huge or wrong.
func statsHard() *overview.Picture {
	first, second := statsServer("ticket-server-1.eu-central-1.example.com:3306/oddeven_production", 999, 1000), statsServer("[2001:db8::1428:57ab]:33060/oddeven", 1000, 1000)
	first.Gen, first.Top, first.Line = 123_456, schema.Ceiling-1, 11_275_118_404
	first.FencedAt, first.FenceReason = statsNoon, "it had issued 9007199254740991 and then 12, which is less than it had issued before: \x1b[31mits row\n was put back"
	first.FencedBy = strings.Repeat("very-long-host-name.", 5) + ", process 4194304"
	second.Fence, second.ReadOnly = "started anew", false
	row := func(rounds int64, change func(a, b *sequence.OnServer)) []sequence.OnServer {
		a, b := statsRow(first, rounds), statsRow(second, rounds)
		change(&a, &b)
		return []sequence.OnServer{a, b}
	}
	huge := row(9_007_199_254_740, func(a, _ *sequence.OnServer) { a.Row.RefilledBy = strings.Repeat("a-client-with-a-long-name ", 9) })
	exhausted := row(2_147_482, func(a, b *sequence.OnServer) { a.Row.Ceiling, b.Row.Ceiling = 1<<31-1, 1<<31-1 })
	soon := row(2_000_000, func(a, b *sequence.OnServer) { a.Row.Ceiling, b.Row.Ceiling = 1<<33, 1<<33 })
	past := row(2_000_000, func(a, b *sequence.OnServer) {
		for _, o := range []*sequence.OnServer{a, b} {
			o.Row.Birth, o.Row.Usage, o.Row.Ceiling = o.Now-60, sequence.Usage{}, 1<<40
		}
	})
	deleted := row(2_000_000, func(a, b *sequence.OnServer) { a.Row.Deleted, b.Row.Deleted = true, true })
	foreign := row(2_000_000, func(a, _ *sequence.OnServer) {
		a.Row.Gen, a.Problems = 77, []sequence.Problem{sequence.OtherGen, sequence.OtherBase, sequence.OtherCeiling, sequence.OtherDescription, sequence.FarAhead}
	})
	missing := row(2_000_000, func(_, b *sequence.OnServer) { b.Row, b.Problems = nil, []sequence.Problem{sequence.Missing} })
	fresh := row(0, func(a, b *sequence.OnServer) {
		for _, o := range []*sequence.OnServer{a, b} {
			*o.Row = sequence.Row{State: o.Row.State, Gen: o.Row.Gen}
		}
	})
	damaged := row(1<<61-1, func(_, _ *sequence.OnServer) {})
	leases := append(statsLeases(first.Server, 32768, 0, 0), statsLeases(second.Server, 0, 32768, 0)...)
	return overview.Of([]ticket.Inspection{first, second}, leases, []sequence.Sequence{
		statsOf("huge", huge...), statsOf(strings.Repeat("a name as long as names may be, ", 4), exhausted...), statsOf("ends soon", soon...),
		statsOf("past\x1b[2Jline ", past...), statsOf("deleted", deleted...), statsOf("foreign", foreign...), statsOf("missing", missing...),
		statsOf("fresh", fresh...), statsOf("damaged", damaged...),
	})
}

// To write them anew: go test ./cmd/oddeven -run TestStats -update
func TestStatsAsTable(t *testing.T) {
	t.Parallel()
	for name, p := range statsPictures() {
		got := strings.Join(drawStats(p, false), "\n") + "\n"
		require.NotContains(t, got, "\x1b", name)
		file := "stats_" + name + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("testdata", file), []byte(got), 0o600))
		}
		golden(t, file, got)
	}
}

// Colours take no room, and what they say is in the words, too.
func TestStatsInColours(t *testing.T) {
	t.Parallel()
	for name, p := range statsPictures() {
		painted := drawStats(p, true)
		for i, line := range painted {
			painted[i] = uncoloured.Replace(line)
		}
		require.Equal(t, drawStats(p, false), painted, name)
	}
	hard := strings.Join(drawStats(statsHard(), true), "\n")
	for _, word := range []string{"\x1b[31m0\x1b[0m", "\x1b[31mexhausted\x1b[0m", "\x1b[33mto be fenced\x1b[0m", "\x1b[33mpast line\x1b[0m", "\x1b[31mto be mended\x1b[0m", "\x1b[32m2 of 2 servers up\x1b[0m"} {
		require.Contains(t, hard, word)
	}
}

var uncoloured = strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[0m", "")

func TestStatsAsJSON(t *testing.T) {
	t.Parallel()
	for name, p := range statsPictures() {
		var out bytes.Buffer
		require.NoError(t, printJSON(&out, statsToJSON(p)))
		var back statsJSON
		require.NoError(t, json.Unmarshal(out.Bytes(), &back), name)
		require.Equal(t, statsToJSON(p), back, name)
	}
	p := statsPictures()["plain"]
	p.Servers, p.Sequences = p.Servers[:1], nil
	var out bytes.Buffer
	require.NoError(t, printJSON(&out, statsToJSON(p)))
	file := "stats_json.golden"
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", file), out.Bytes(), 0o600))
	}
	golden(t, file, out.String())
}

func TestStatsAsCSV(t *testing.T) {
	t.Parallel()
	for name, p := range statsPictures() {
		var out bytes.Buffer
		require.NoError(t, printStatsCSV(&out, p))
		records, err := csv.NewReader(&out).ReadAll() // all of one length
		require.NoError(t, err, name)
		require.Equal(t, statsCSV, records[0])
		lines := 1
		for _, s := range p.Sequences {
			lines += len(s.On)
		}
		require.Len(t, records, lines, name)
	}
	var out bytes.Buffer
	require.NoError(t, printStatsCSV(&out, statsPictures()["server_down"]))
	file := "stats_csv.golden"
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", file), out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
	require.Error(t, printStatsCSV(brokenPipe{}, statsPictures()["plain"]))
}
