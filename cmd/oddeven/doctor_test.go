package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/doctor"
)

var diagnosed = doctor.Report{Verdict: doctor.Bad, Servers: []doctor.Server{
	{Server: "db1:3306/oddeven", Verdict: doctor.OK, Checks: []doctor.Check{
		{Name: "reachable", Verdict: doctor.OK, Finding: "answers"},
		{Name: "clock", Verdict: doctor.OK, Finding: "agrees with this host's, and this is said at such length that it goes over the end of the line"},
	}},
	{Server: "db2:3306/oddeven", Verdict: doctor.Bad, Checks: []doctor.Check{
		{Name: "reachable", Verdict: doctor.OK, Finding: "answers"},
		{
			Name: "flush-log", Verdict: doctor.Warning, Finding: "2: a crash of the host loses the last second of commits, numbers that were handed out among them",
			Remedy: "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in its configuration file.",
		},
		{Name: "engine", Verdict: doctor.Bad, Finding: "tickets is MyISAM", Remedy: "Change it."},
	}},
}}

const diagnosis = `db1:3306/oddeven: ok (2 ok)

db2:3306/oddeven: bad (1 ok, 1 warning, 1 bad)

  WARNING  flush-log
      2: a crash of the host loses the last second of commits, numbers that were
      handed out among them
      -> SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in its
         configuration file.

  BAD  engine
      tickets is MyISAM
      -> Change it.
`

func TestPrintDiagnosis(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printDiagnosis(&out, diagnosed, false))
	require.Equal(t, diagnosis, out.String())

	out.Reset()
	require.NoError(t, printDiagnosis(&out, diagnosed, true))
	require.Contains(t, out.String(), `
  ok  clock              agrees with this host's, and this is said at such
                         length that it goes over the end of the line
`)
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), reportWidth, line)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"Empty", "", ">"},
		{"Fits", "one two", ">one two"},
		{"Exactly", "one two 3", ">one two 3"},
		{"Breaks", "one two three four", ">one two\n three four"},
		{"LongWord", "a innodb_flush_log b", ">a\n innodb_flush_log\n b"},
		{"LongWordFirst", "innodb_flush_log b", ">innodb_flush_log\n b"},
		{"CharactersNotBytes", "äöü äöü ä", ">äöü äöü ä"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, wrap(tt.text, 11, ">", " "), tt.name)
	}
}
