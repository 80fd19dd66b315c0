package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/migrations"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		done []string
		want string
	}{
		{"Nothing", nil, ""},
		{"OneMigration", []string{"apply 00001_server.sql"}, "apply 1 migration"},
		{"Migrations", []string{"apply 00001_server.sql", "apply 00002_peers.sql"}, "apply 2 migrations"},
		{"Reverted", []string{"revert 00005_workers.sql", "revert 00004_sequences.sql"}, "revert 2 migrations"},
		{"MigrationsAndMore", []string{"apply 00001_server.sql", "join the fleet as offset 1 of 2"}, "apply 1 migration; join the fleet as offset 1 of 2"},
		{"OnlyMore", []string{"a b", "c"}, "a b; c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, summary(tt.done))
		})
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	var f format
	require.NoError(t, f.Set("json"))
	require.Equal(t, "json", f.String())
	require.NoError(t, f.Set("table"))
	require.Equal(t, formatTable, f)
	for _, bad := range []string{"", "JSON", "yaml"} {
		require.ErrorContains(t, f.Set(bad), "must be table or json")
		require.Equal(t, formatTable, f, "as it was")
	}
	require.Equal(t, "format", f.Type())
}

func someReport() *migrations.Report {
	return &migrations.Report{
		Fleet: "0123", Increment: 2, Layout: "time:41,worker:10;unit=1ms", Servers: []migrations.ServerReport{
			{Server: "db1:3306/oddeven", Offset: 1, Identity: "ab", Version: 5, Latest: 5, State: migrations.StateMigrated, Done: []string{"apply 00001_server.sql", "join the fleet as offset 1 of 2"}},
			{Server: "db2:3306/oddeven", Latest: 5, State: migrations.StatePlanned, Done: []string{"apply 00001_server.sql"}, SQL: []string{"CREATE TABLE `t` (\n);", "INSERT INTO `t` VALUES ('a;')"}},
			{Server: "db3:3306/oddeven", Latest: 5, State: migrations.StateUnreachable, Err: errors.New("server db3:3306/oddeven: connection refused")},
		},
	}
}

func TestReportAsTable(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	a := &app{streams: streams{out: &out, err: &err}}
	require.NoError(t, a.printReport(someReport(), formatTable))
	require.Equal(t, "-- db2:3306/oddeven\nCREATE TABLE `t` (\n);\nINSERT INTO `t` VALUES ('a;');\n\n", out.String(), "SQL and nothing else")
	require.Equal(t, `fleet 0123, increment 2, shard bits 0
layout time:41,worker:10;
       unit=1ms
SERVER            OFFSET  SCHEMA  STATE
db1:3306/oddeven  1       5 of 5  migrated
    apply 1 migration; join the fleet as offset 1 of 2
db2:3306/oddeven  -       0 of 5  planned
    apply 1 migration
db3:3306/oddeven  -       ?       unreachable
`, err.String())
}

func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	a := &app{streams: streams{out: &out, err: &err}}
	require.NoError(t, a.printReport(someReport(), formatJSON))
	require.Empty(t, err.String())
	var got reportJSON
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, "0123", got.Fleet)
	require.Equal(t, int64(2), got.Increment)
	require.Len(t, got.Servers, 3)
	require.Equal(t, "migrated", got.Servers[0].State)
	require.Equal(t, []string{"apply 00001_server.sql", "join the fleet as offset 1 of 2"}, got.Servers[0].Done)
	require.Len(t, got.Servers[1].SQL, 2)
	require.Equal(t, "server db3:3306/oddeven: connection refused", got.Servers[2].Error)
	require.Contains(t, out.String(), `"done": []`, "never null")

	out.Reset()
	require.NoError(t, a.printReport(&migrations.Report{}, formatJSON))
	require.Contains(t, out.String(), `"servers": []`, "never null")
}

// brokenPipe is an output that nobody reads any more.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestOutputThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	a := &app{streams: streams{out: brokenPipe{}, err: &bytes.Buffer{}}}
	require.ErrorContains(t, a.printReport(someReport(), formatTable), "broken pipe")
	require.ErrorContains(t, a.printReport(someReport(), formatJSON), "broken pipe")
}
