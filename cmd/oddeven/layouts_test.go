package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/snowflake"
)

// After a change: go run ./cmd/oddeven layouts > cmd/oddeven/testdata/layouts.golden
func TestLayoutsAsTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printLayouts(&out, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)))
	golden(t, "layouts.golden", out.String())
	require.ErrorContains(t, printLayouts(brokenPipe{}, time.Now()), "broken pipe")
}

func TestLayoutsAsJSON(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "layouts", "-o", "json")
	require.Equal(t, exitOK, r.code)
	require.Empty(t, r.err)
	var got []layoutJSON
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	require.Len(t, got, len(snowflake.Presets()))
	issues := map[string]bool{}
	for i, p := range snowflake.Presets() {
		require.Equal(t, p.Name, got[i].Name)
		parsed, err := snowflake.ParseLayout(got[i].Spec)
		require.NoError(t, err)
		require.Equal(t, p.Layout, parsed)
		require.Equal(t, p.Layout.Exhausted(), got[i].RunsOut)
		require.Equal(t, fieldJSON{Field: "time", Bits: p.Layout.Width(snowflake.KindTime), Max: p.Layout.MaxTick()}, got[i].Fields[0])
		issues[p.Name] = got[i].Issues
	}
	require.Equal(t, map[string]bool{"oddeven": true, "twitter": true, "redis": false, "instagram": false, "discord": true, "sonyflake": true, "uid-generator": true}, issues)
}

func TestLayoutsTakesNoArgument(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "layouts", "twitter")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, `oddeven layouts takes no argument, got "twitter"`)
}
