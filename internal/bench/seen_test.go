package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/segment"
)

func TestSeenCountsEveryDuplicate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		ids        []int64
		duplicates int64
		first      int64
	}{
		{"None", []int64{1, 3, 2, 4, 1 << 53, 1<<53 + 1, 65536, 131072, 1<<63 - 1}, 0, 0},
		{"Two", []int64{7, 8, 7}, 1, 7},
		{"ThreeTimesIsTwoTooMany", []int64{9, 9, 9}, 2, 9},
		{"FarAway", []int64{1, 1 << 60, 1 << 60}, 1, 1 << 60},
		{"EndsOfPagesAndWords", []int64{63, 64, 65535, 65536, 63, 65536}, 2, 63},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSeen()
			s.add(tt.ids)
			checked, duplicates, first := s.counts()
			require.EqualValues(t, len(tt.ids), checked)
			require.Equal(t, tt.duplicates, duplicates)
			require.Equal(t, tt.first, first)
		})
	}
}

func TestTapesOfCallersMeetInTheSet(t *testing.T) {
	t.Parallel()
	s := newSeen()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			one := tape{set: s}
			for id := range int64(3 * tapeLen) {
				one.note(id + int64(i)*3*tapeLen)
			}
			one.note(-1 - int64(i)%2) // two and two the same
			one.flush()
		})
	}
	all.Wait()
	checked, duplicates, _ := s.counts()
	require.EqualValues(t, 4*(3*tapeLen+1), checked)
	require.EqualValues(t, 2, duplicates)
}

// The sample is chosen by the ID: who has it, and in which order, says nothing.
func TestSampleFindsTheSameIDsAgain(t *testing.T) {
	t.Parallel()
	const blocks, each = 5000, 8 // the chance that none is in the sample is below 1e-30
	s := newSeen()
	begin := rand.Int64N(1 << 38)
	var all []int64
	for block := range int64(blocks) {
		for i := range int64(each) {
			all = append(all, (begin+block)<<blockBits+2*i)
		}
	}
	for i := 0; i < len(all); i += 100 {
		s.addRising(all[i]-1, all[i:i+100])
	}
	checked, duplicates, _ := s.counts()
	require.Zero(t, duplicates)
	require.Positive(t, checked)
	require.Zero(t, checked%each, "whole blocks")
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	s.addSample(all)
	_, duplicates, _ = s.counts()
	require.Equal(t, checked, duplicates, "what was checked before, all of it")
}

func TestIDsOfACallerThatDoNotRiseAreFound(t *testing.T) {
	t.Parallel()
	for _, ids := range [][]int64{{5, 6}, {6, 7, 7}, {6, 8, 7}} {
		s := newSeen()
		s.addRising(5, ids)
		_, duplicates, _ := s.counts()
		require.Positive(t, duplicates, "%v after 5", ids)
	}
}

func TestLoadCountsCallsAndIDs(t *testing.T) {
	t.Parallel()
	var next atomic.Int64
	s := newSeen()
	m, err := load{callers: 3, duration: time.Hour, limit: 1000, set: s}.run(t.Context(), each(func(context.Context) (int64, error) {
		return next.Add(1), nil
	}))
	require.NoError(t, err)
	require.EqualValues(t, 1000, m.Count)
	require.Zero(t, m.Failed)
	require.Equal(t, 3, m.Callers)
	require.NotNil(t, m.Latency)
	checked, duplicates, _ := s.counts()
	require.EqualValues(t, 1000, checked)
	require.Zero(t, duplicates)
}

func TestLoadMakesOneCallInNoTime(t *testing.T) {
	t.Parallel()
	m, err := load{callers: 2, limit: unlimited}.run(t.Context(), each(func(context.Context) (int64, error) { return 0, nil }))
	require.NoError(t, err)
	require.EqualValues(t, 2, m.Count)
}

func TestLoadKeepsTheFirstError(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	m, err := load{callers: 1, duration: time.Hour, limit: 3}.run(t.Context(), each(func(context.Context) (int64, error) { return 0, boom }))
	require.Equal(t, boom, err)
	require.EqualValues(t, 3, m.Failed)
	require.Zero(t, m.Count)
}

// A call that was cut short by Ctrl-C has not failed.
func TestLoadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m, err := load{callers: 2, duration: time.Hour, limit: unlimited}.run(ctx, each(func(ctx context.Context) (int64, error) {
		cancel()
		return 0, ctx.Err()
	}))
	require.NoError(t, err)
	require.Zero(t, m.Failed)
}

func TestDrainFindsWhatAnAllocatorWouldRepeat(t *testing.T) {
	t.Parallel()
	a, err := segment.New(t.Context(), &segment.Memory{Increment: 2}, segment.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.Close()) }()
	d := drain{callers: 2, limit: 500 * batch, duration: time.Hour, rising: true, set: newSeen(), fill: fillNext(a)}
	m, err := d.run(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, m.Count, int64(500*batch))
	require.Greater(t, m.Count, int64(400*batch), "little is lost to warming up, although the time for that is not over")
	require.Positive(t, m.Seconds)
	require.Positive(t, m.NsPerID)
	_, duplicates, _ := d.set.counts()
	require.Zero(t, duplicates)

	d.fill = func(_ context.Context, ids []int64) error { // the same batch again and again
		for i := range ids {
			ids[i] = int64(i)
		}
		return nil
	}
	d.limit = 10 * batch
	_, err = d.run(t.Context())
	require.NoError(t, err)
	_, duplicates, _ = d.set.counts()
	require.Positive(t, duplicates)
}
