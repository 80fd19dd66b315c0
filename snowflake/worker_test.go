package snowflake_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Every preset that can issue gives distinct IDs for every pair of workers, drawn
// by several goroutines each, and they can be read back.
func TestEveryPresetIssuesDistinctIDs(t *testing.T) {
	t.Parallel()
	for _, p := range snowflake.Presets() {
		if p.Layout.CheckIssue() != nil || time.Now().After(p.Layout.Exhausted()) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			var all []int64
			highest := p.Layout.MaxWorker()
			for _, number := range []int64{0, 1, 2, highest / 2, highest - 1, highest} {
				all = append(all, issue(t, p.Layout, number, 4, 300)...)
			}
			slices.Sort(all)
			require.Len(t, slices.Compact(slices.Clone(all)), len(all))
			require.GreaterOrEqual(t, all[0], int64(1)<<53)
		})
	}
}

// issue draws IDs with several goroutines, singly and in batches.
func issue(t *testing.T, l snowflake.Layout, number int64, goroutines, each int) []int64 {
	t.Helper()
	before := time.Now()
	w, err := snowflake.New(number, snowflake.Config{Layout: l})
	require.NoError(t, err)
	results, errs := make([][]int64, goroutines), make([]error, goroutines)
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			ids := make([]int64, each)
			if i%2 == 0 {
				errs[i] = w.NextN(t.Context(), ids)
			} else {
				for j := range ids {
					if ids[j], errs[i] = w.Next(t.Context()); errs[i] != nil {
						return
					}
				}
			}
			results[i] = ids
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
	all := slices.Concat(results...)
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, id := range all {
		p, err := l.Decompose(id)
		require.NoError(t, err)
		got, err := l.Number(p.Datacenter, p.Worker)
		require.NoError(t, err)
		require.Equal(t, number, got)
		require.True(t, l.TimeOf(p.Tick).After(before), "a tick that has begun before New")
		require.WithinDuration(t, time.Now(), l.TimeOf(p.Tick), 10*time.Second)
	}
	return all
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	old, err := snowflake.Preset("uid-generator")
	require.NoError(t, err)
	decoding, err := snowflake.Preset("redis")
	require.NoError(t, err)
	future, err := snowflake.ParseLayout("time:41,worker:10,sequence:12;unit=1ms;epoch=2500-01-01T00:00:00Z")
	require.NoError(t, err)
	narrow, err := snowflake.ParseLayout("time:41,worker:2,sequence:2;unit=1ms;epoch=2020-01-01T00:00:00Z")
	require.NoError(t, err)
	for _, tt := range []struct {
		name   string
		number int64
		cfg    snowflake.Config
		field  string
	}{
		{"NumberTooLarge", 1024, snowflake.Config{}, "number"},
		{"NumberNegative", -1, snowflake.Config{}, "number"},
		{"MaxAheadNegative", 1, snowflake.Config{MaxAhead: -1}, "MaxAhead"},
		{"MaxAheadShort", 1, snowflake.Config{MaxAhead: time.Microsecond}, "MaxAhead"},
		{"MaxAheadLong", 1, snowflake.Config{MaxAhead: math.MaxInt64}, "MaxAhead"},
		{"WarnBefore", 1, snowflake.Config{WarnBefore: -1}, "WarnBefore"},
		{"Ceiling", 1, snowflake.Config{Ceiling: -2}, "Ceiling"},
		{"NoWorkerField", 1, snowflake.Config{Layout: decoding}, "layout worker"},
		{"EpochToCome", 1, snowflake.Config{Layout: future, Ceiling: -1}, "layout epoch"},
		{"BelowTheCeiling", 1, snowflake.Config{Layout: narrow}, "layout time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := snowflake.New(tt.number, tt.cfg)
			require.Error(t, err)
			var config *ticket.ConfigError
			var layout *snowflake.LayoutError
			if field, ok := layoutField(tt.field); ok {
				require.ErrorAs(t, err, &layout)
				require.Equal(t, field, layout.Field)
				require.NotEmpty(t, layout.Remedy)
				return
			}
			require.ErrorAs(t, err, &config)
			require.Equal(t, tt.field, config.Field)
			require.NotNil(t, config.Value)
			require.NotEmpty(t, config.Remedy)
		})
	}
	_, err = snowflake.New(1, snowflake.Config{Layout: old})
	require.ErrorIs(t, err, snowflake.ErrExhausted)
	require.ErrorContains(t, err, "2024-11-")
	w, err := snowflake.New(1, snowflake.Config{Layout: narrow, Ceiling: -1})
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

// layoutField takes the field out of "layout field".
func layoutField(s string) (field string, ok bool) {
	n, _ := fmt.Sscanf(s, "layout %s", &field)
	return field, n == 1
}

func TestNextNChecksItsLength(t *testing.T) {
	t.Parallel()
	w, err := snowflake.New(7, snowflake.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	for _, n := range []int{0, snowflake.MaxN + 1} {
		var config *ticket.ConfigError
		require.ErrorAs(t, w.NextN(t.Context(), make([]int64, n)), &config)
		require.Equal(t, "len(ids)", config.Field)
		require.Equal(t, n, config.Value)
	}
	require.ErrorAs(t, w.NextN(t.Context(), nil), new(*ticket.ConfigError))
	ids := make([]int64, 300_000) // of 73 ticks, of which 20 can be borrowed
	require.NoError(t, w.NextN(t.Context(), ids))
	require.True(t, slices.IsSorted(ids))
	require.Len(t, slices.Compact(ids), 300_000)
	require.NotZero(t, w.Stats().Waits)
}

func TestUseAfterClose(t *testing.T) {
	t.Parallel()
	w, err := snowflake.New(7, snowflake.Config{})
	require.NoError(t, err)
	id, err := w.Next(t.Context())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { _ = w.Close() }) // always nil
	}
	wg.Wait()
	require.NoError(t, w.Close())
	_, err = w.Next(t.Context())
	require.ErrorIs(t, err, snowflake.ErrClosed)
	require.ErrorIs(t, w.NextN(t.Context(), make([]int64, 10)), snowflake.ErrClosed)
	_, ok := w.TryNext()
	require.False(t, ok)
	st := w.Stats()
	require.True(t, st.Closed)
	require.Equal(t, int64(7), st.Number)
	require.Equal(t, snowflake.Default(), st.Layout)
	p, err := snowflake.Default().Decompose(id)
	require.NoError(t, err)
	require.Equal(t, snowflake.Default().TimeOf(p.Tick), st.Last)
	require.Equal(t, snowflake.Default().Exhausted(), st.Exhausted)
	require.False(t, st.Warning)
}

// Closing while others draw: they get IDs or ErrClosed, nothing else.
func TestCloseWhileInUse(t *testing.T) {
	t.Parallel()
	for range 20 {
		w, err := snowflake.New(7, snowflake.Config{})
		require.NoError(t, err)
		errs := make(chan error, 4)
		for range 4 {
			go func() {
				for {
					if _, err := w.Next(context.Background()); err != nil {
						errs <- err
						return
					}
				}
			}()
		}
		_, err = w.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		for range 4 {
			require.ErrorIs(t, <-errs, snowflake.ErrClosed)
		}
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	w, err := snowflake.New(7, snowflake.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	_, err = w.Next(t.Context())
	require.NoError(t, err)
	ids := make([]int64, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = w.Next(t.Context())
		_, _ = w.TryNext()
		_ = w.NextN(t.Context(), ids)
	}))
}
