package ledger

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

// readBack reads a file and returns what was issued, by stream.
func readBack(t testing.TB, path string) (ids [][]int64, torn bool, err error) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	torn, err = read(t.Context(), bytes.NewReader(data), visitor{
		stream: func(int, Stream) { ids = append(ids, nil) },
		run: func(number int, r run) {
			for i := range r.count {
				id := r.first
				if i > 0 {
					id += i * r.stride
				}
				ids[number] = append(ids[number], id)
			}
		},
	})
	return ids, torn, err
}

// strides are what random IDs go on by: of segments, of workers, and nothing sensible.
var strides = []int64{0, 1, 1, 2, 2, 2, 1000, -2, 1 << 22, 1<<22 - 60, -1 << 40, farthest - 1, farthest, -farthest, math.MaxInt64, math.MinInt64}

// randomIDs is some runs.
func randomIDs(rnd *rand.Rand, last int64) []int64 {
	var ids []int64
	for range rnd.IntN(20) {
		stride := strides[rnd.IntN(len(strides))]
		if rnd.IntN(4) == 0 {
			stride = rnd.Int64N(1 << rnd.IntN(63))
		}
		for range 1 + rnd.IntN(1+rnd.IntN(100)) {
			last += stride // wraps round, too
			ids = append(ids, last)
		}
	}
	return ids
}

// What was issued is read back, whatever it is and however it was flushed.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		path := filepath.Join(t.TempDir(), "c1"+Extension)
		w, err := Create(path)
		require.NoError(t, err)
		want := make([][]int64, 1+rnd.IntN(3))
		streams := make([]*StreamWriter, len(want))
		for i := range streams {
			streams[i], err = w.Stream(Stream{Process: "c1", Source: SourceTicket})
			require.NoError(t, err)
		}
		for range rnd.IntN(20) {
			i := rnd.IntN(len(want))
			last := int64(0)
			if n := len(want[i]); n > 0 {
				last = want[i][n-1]
			}
			ids := randomIDs(rnd, last)
			want[i] = append(want[i], ids...)
			if rnd.IntN(2) == 0 {
				streams[i].IssuedAll(ids)
			} else {
				for _, id := range ids {
					streams[i].Issued(id)
				}
			}
			if rnd.IntN(2) == 0 {
				require.NoError(t, streams[i].Flush())
			}
		}
		require.NoError(t, w.Close())
		have, torn, err := readBack(t, path)
		require.NoError(t, err)
		require.False(t, torn)
		for i := range want {
			require.Equal(t, len(want[i]), len(have[i]), "seed %d", seed)
			require.True(t, equal(want[i], have[i]), "seed %d", seed)
		}
	}
}

func equal(a, b []int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Records reach the file with Flush, and large ones before it.
func TestFlush(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c1"+Extension)
	w, err := Create(path)
	require.NoError(t, err)
	s, err := w.Stream(Stream{Process: "c1", Source: SourceTicket})
	require.NoError(t, err)
	s.Issued(1)
	have, torn, err := readBack(t, path)
	require.NoError(t, err)
	require.True(t, torn, "not closed")
	require.Empty(t, have[0])
	require.NoError(t, s.Flush())
	have, _, err = readBack(t, path)
	require.NoError(t, err)
	require.Equal(t, []int64{1}, have[0])
	for i := range int64(100_000) {
		s.Issued(i * i)
	}
	have, _, err = readBack(t, path)
	require.NoError(t, err)
	require.Greater(t, len(have[0]), 10_000)
	many := make([]int64, maxBlock/8)
	for range 9 {
		s.IssuedAll(many)
	}
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	s.Issued(2)
	require.ErrorIs(t, s.Flush(), ErrClosed)
	_, err = w.Stream(Stream{Process: "c1", Source: SourceTicket})
	require.ErrorIs(t, err, ErrClosed)
	_, torn, err = readBack(t, path)
	require.NoError(t, err)
	require.False(t, torn)
}

// Many goroutines with a stream each, or with one together.
func TestConcurrentStreams(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	shared := l.open(Stream{Process: "c1", Source: SourceSegment, Sequence: "shared"})
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for g := range errs {
		own := l.stream("c1", SourceSegment, "orders")
		wg.Go(func() {
			for i := range int64(2000) {
				own.Issued(int64(g)*10_000 + 2*i + 1)
				shared.Issued(int64(g)*10_000 + 2*i + 1)
				if i%50 == 0 && errs[g] == nil {
					errs[g] = own.Flush()
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	r := l.check(pair())
	l.clean(r)
	require.Equal(t, int64(2*8*2000), r.IDs)
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wrong *ticket.ConfigError
	for _, name := range []string{"c1.log", "c1", Extension} {
		_, err := Create(filepath.Join(dir, name))
		require.ErrorAs(t, err, &wrong)
	}
	path := filepath.Join(dir, "c1"+Extension)
	w, err := Create(path)
	require.NoError(t, err)
	_, err = Create(path)
	require.ErrorIs(t, err, os.ErrExist)
	for field, s := range map[string]Stream{
		"Stream.Process":   {Source: SourceTicket},
		"Stream.Source":    {Process: "c1", Source: "elsewhere"},
		"Stream.Sequence":  {Process: "c1", Source: SourceFacade},
		"Stream.ShardBits": {Process: "c1", Source: SourceWorker, ShardBits: 3},
	} {
		_, err := w.Stream(s)
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
	for field, l := range map[string]Lease{
		"Lease.Process":   {Holder: "a"},
		"Lease.Holder":    {Process: "c1"},
		"Lease.Worker":    {Process: "c1", Holder: "a", Worker: -1},
		"Lease.UntilTick": {Process: "c1", Holder: "a", FromTick: 3, UntilTick: 2},
	} {
		require.ErrorAs(t, w.Lease(l), &wrong)
		require.Equal(t, field, wrong.Field)
	}
	for field, e := range map[string]Event{
		"Event.Kind":   {At: someTime, Kind: "other"},
		"Event.Detail": {At: someTime, Kind: EventFault},
		"Event.Client": {At: someTime, Kind: EventHealed, Server: "one", Client: "c1"},
		"Event.At":     {Kind: EventHealed},
	} {
		require.ErrorAs(t, w.Event(e), &wrong)
		require.Equal(t, field, wrong.Field)
	}
	require.ErrorAs(t, w.Event(Event{At: someTime, Kind: EventFault, Detail: strings.Repeat("x", maxPayload)}), &wrong)
	require.NoError(t, w.Call(Call{Process: "c1", Took: time.Second, Err: strings.Repeat("ö", maxPayload)}))
	require.NoError(t, w.Close())
	_, torn, err := readBack(t, path)
	require.NoError(t, err)
	require.False(t, torn)
}

// A file that can't be written to any more stays so: nothing follows a part of a frame.
func TestWriterErrorStays(t *testing.T) {
	t.Parallel()
	w, err := Create(filepath.Join(t.TempDir(), "c1"+Extension))
	require.NoError(t, err)
	s, err := w.Stream(Stream{Process: "c1", Source: SourceTicket})
	require.NoError(t, err)
	require.NoError(t, w.file.Close())
	s.Issued(1)
	first := s.Flush()
	require.ErrorIs(t, first, os.ErrClosed)
	require.Equal(t, first, s.Flush())
	require.ErrorIs(t, w.Call(Call{}), os.ErrClosed)
	require.ErrorIs(t, w.Close(), os.ErrClosed)
}
