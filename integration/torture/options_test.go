package main

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/torture/schedule"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-duration", "5m", "-seed", "7", "-kinds", "^client-"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 5*time.Minute, o.duration)
	require.Equal(t, []schedule.Kind{schedule.ClientKill, schedule.ClientFreeze, schedule.ClientClock}, o.kinds)
	require.Contains(t, o.command(), "SEED=7")
	require.Contains(t, o.command(), "KINDS='^client-'")
	layout, err := o.layout()
	require.NoError(t, err)
	require.Equal(t, int64(63), layout.MaxWorker())
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for text, args := range map[string][]string{
		"-duration":       {"-duration", "3s"},
		"-servers 1":      {"-servers", "1"},
		"-clients 7":      {"-clients", "7"},
		"-shard-bits 11":  {"-shard-bits", "11"},
		"-worker-bits 2":  {"-worker-bits", "2"},
		"matches none":    {"-kinds", "^nothing$"},
		"the clock line":  {"-rate", "800000"},
		"10 shard bits":   {"-shard-bits", "10"}, // the default rate is too high then
		"-kinds: error":   {"-kinds", "("},
		"-mutants: error": {"-mutants", "("},
		"flags only":      {"5m"},
	} {
		_, err := parse(args, io.Discard)
		require.ErrorContains(t, err, text)
	}
}
