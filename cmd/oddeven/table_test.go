package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	ids "github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/internal/doctor"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

const (
	shortServer = "127.0.0.1:33061/oddeven"
	longServer  = "db-primary-03.eu-central-1.internal.example.com:3306/oddeven_production"
	// endlessServer is longer than a line and cannot be broken.
	endlessServer = "db-primary-0123456789012345678901234567890123456789.internal.example.com:3306/oddeven"
)

var aMoment = time.Date(2026, 12, 31, 23, 59, 58, 0, time.UTC)

// someRow is a row with numbers as large as they get, or as small.
func someRow(large bool) *sequence.Row {
	if !large {
		return &sequence.Row{State: sequence.State{Ceiling: 1<<53 - 1, Birth: aMoment.Unix()}, Rounds: 500, Step: 7, RefilledAt: aMoment}
	}
	return &sequence.Row{
		State: sequence.State{
			Ceiling: 1<<53 - 1, Base: 1 << 52, Birth: aMoment.Unix(),
			Description: "IDs of orders, of the shop and of all of its branches, since the new warehouse was opened " + strings.Repeat("x", 60),
		},
		Rounds: 1<<52 - 1, Step: 100_000_000, RefilledAt: aMoment,
	}
}

// someSequence is a sequence on servers of those names.
func someSequence(name string, large bool, servers ...string) sequence.Sequence {
	s := sequence.Sequence{Name: name, State: someRow(large).State}
	for i, server := range servers {
		o := sequence.OnServer{Server: server, Class: schema.Class{Increment: 2, Offset: int64(i%2) + 1}, Row: someRow(large)}
		if large {
			o.Class.Increment, o.Class.Offset = 1000, 998+int64(i)
			o.Problems = []sequence.Problem{sequence.OtherGen, sequence.OtherCeiling, sequence.OtherDescription, sequence.FarAhead, sequence.BornInTheFuture}
		}
		s.Servers = append(s.Servers, o)
	}
	if large {
		s.Servers[len(s.Servers)-1].Row, s.Servers[len(s.Servers)-1].Problems = nil, []sequence.Problem{sequence.Missing}
	}
	return s
}

func somePlan(large bool, servers ...string) sequence.Plan {
	p := sequence.Plan{Sequence: "orders"}
	for _, o := range someSequence("orders", large, servers...).Servers {
		c := sequence.Change{Server: o.Server, Class: o.Class, To: someRow(large), Leap: large}
		if !large {
			before := *c.To
			before.Rounds--
			c.From = &before
		}
		p.Changes = append(p.Changes, c)
	}
	if large {
		p.Warnings = []string{"The ceiling 2147483647 is so low that the clock line rises by only 0.34 IDs a second: a server that forgets is protected only by what the others know."}
	}
	return p
}

func someInspections(large bool, servers ...string) []ticket.Inspection {
	var all []ticket.Inspection
	for i, s := range servers {
		n := ticket.Inspection{Server: s, Offset: int64(i) + 1, Increment: 2, Gen: 3, Top: 10280861643, Started: aMoment}
		if large {
			n.Offset, n.Increment, n.Gen, n.Top, n.Fence = 1000, 1000, 12345, 1<<53-1, "restarted"
			n.FencedAt, n.FenceReason = aMoment, "another server in the place of the one known, accepted by an operator"
		}
		all = append(all, n)
	}
	all[len(all)-1] = ticket.Inspection{Server: servers[len(servers)-1], Err: errors.New("connection refused")}
	return all
}

func someLeases(large bool) []snowflake.Lease {
	if !large {
		return []snowflake.Lease{
			{Number: 7, State: snowflake.LeaseHeld, Host: "app-1", Process: "4711 shop", Since: aMoment, Until: aMoment, Last: aMoment},
			{Number: 8, State: snowflake.LeaseFree},
		}
	}
	return []snowflake.Lease{
		{
			Number: 65535, State: snowflake.LeaseParked, Host: "shop-backend-7d9f8b6c5d-x2x4q.production.svc.cluster.internal", Process: "1 a process with a rather long name \x1b[2J",
			Since: aMoment, Until: aMoment, Last: aMoment,
		},
		{Number: 65534, State: snowflake.LeaseParked, Until: aMoment},
	}
}

func someMigration(large bool, servers ...string) *migrations.Report {
	r := &migrations.Report{Fleet: strings.Repeat("0123456789abcdef", 2), Increment: 2, Layout: "time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z"}
	done := []string(nil)
	if large {
		r.Increment, r.ShardBits, r.Layout = 1000, 32, "time:41,datacenter:5,worker:5,sequence:8,shard:4;unit=1ms;epoch=2010-11-04T01:42:54.657Z"
		r.Warnings = []string{"this makes a new fleet of a single server: name every server of the fleet, or give --increment if more are to follow."}
		done = []string{"apply 00001_server.sql", "apply 00002_peers.sql", "rename `flickr`.`Tickets64` to `flickr`.`Tickets64_adopted`", "start tickets above 9007199254740990", "retire server " + r.Fleet + " of offset 1000"}
	}
	for i, s := range servers {
		r.Servers = append(r.Servers, migrations.ServerReport{Server: s, Offset: int64(i) + 1, Version: 5, Latest: 5, State: migrations.StateUpToDate, Done: done})
	}
	r.Servers[0].State = migrations.StateUnreachable
	return r
}

// everyTable runs every printer of tables, with data that is easy or hard.
func everyTable(t *testing.T, large bool, servers ...string) string {
	t.Helper()
	var out bytes.Buffer
	a := &app{streams: streams{out: &out, err: &out}}
	names := []string{"orders", "a b ", strings.Repeat("long", 15), "ключ"}
	var all []sequence.Sequence
	for _, name := range names {
		all = append(all, someSequence(name, large, servers...))
	}
	for _, printer := range []struct {
		command string
		print   func() error
	}{
		{"fleet status", func() error { return a.printFleet(someInspections(large, servers...), formatTable) }},
		{"sequence list", func() error { return a.printSequences(all, true, formatTable) }},
		{"sequence show", func() error { return a.printSequence(all[0], formatTable) }},
		{"sequence bump", func() error { return a.printPlan(somePlan(large, servers...), true, formatTable) }},
		{"worker list", func() error { return a.printLeases(someLeases(large), formatTable, true) }},
		{"migrate up", func() error { return a.printReport(someMigration(large, servers...), formatTable) }},
		{"doctor", func() error {
			report := diagnosed
			report.Servers = nil
			for _, s := range servers {
				report.Servers = append(report.Servers, doctor.Server{Server: s, Verdict: doctor.Bad, Checks: diagnosed.Servers[1].Checks})
			}
			return printDiagnosis(&out, report, true)
		}},
		{"decode", func() error {
			s := scheme{Config: ids.Config{Increment: 2}, servers: map[int64]string{1: servers[0], 2: servers[1]}}
			return a.decode(t.Context(), []string{"7", "8"}, s, formatTable)
		}},
	} {
		fmt.Fprintf(&out, "$ oddeven %s\n", printer.command)
		require.NoError(t, printer.print())
		fmt.Fprintln(&out)
	}
	require.NotContains(t, out.String(), "\x1b", "what a terminal would obey")
	return out.String()
}

func TestTables(t *testing.T) {
	t.Parallel()
	golden(t, "tables.golden", everyTable(t, false, shortServer, "127.0.0.1:33062/oddeven"))
	golden(t, "tables_wide.golden", everyTable(t, true, longServer, strings.Replace(longServer, "03", "04", 1)))
}

// A name that is longer than a line runs over, alone in its line; nothing else does.
func TestTablesWithANameLongerThanALine(t *testing.T) {
	t.Parallel()
	for _, large := range []bool{false, true} {
		for line := range strings.Lines(everyTable(t, large, endlessServer, shortServer)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.TrimSpace(strings.TrimSuffix(line, ":")) != endlessServer {
				require.LessOrEqual(t, utf8.RuneCountInString(line), reportWidth, line)
			}
		}
	}
}

// Whatever numbers there are, columns stay apart and lines short.
func TestTableOfLargestNumbers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	largest := fmt.Sprint(int64(math.MaxInt64))
	require.NoError(t, printTable(&out, planHeader, [][]string{{"a", "1000", "create by a leap", largest, largest}, {strings.Repeat("b", 80), "1", "none", "-", "-"}}))
	fits(t, out.String())
	require.Contains(t, out.String(), "create by a leap  "+largest+"  "+largest+"\n"+strings.Repeat("b", 80)+"\n ")
}

// What turns the direction of a text, or breaks a line, is no better than a control character.
func TestTextsThatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a?b?c?d?[2Je?f\ng", obedient("a\u202eb\u2028c\td\x1b[2Je\xfff\ng"))
	require.Equal(t, "x?y über 世", oneLine("x\ny über 世"))
}

func TestTableWithoutRows(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printTable(&out, []string{"NAME", "STATE"}, nil))
	require.Equal(t, "NAME  STATE\n", out.String())
}
