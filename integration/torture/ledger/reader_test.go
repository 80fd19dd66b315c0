package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a ledger with a bit of everything, and where its frames begin.
func sample(t testing.TB) (data []byte, starts []int64) {
	t.Helper()
	l := newLogs(t)
	l.fill(pair(), 3)
	l.lease("c0.1", 1, someTick, someTick+2000)
	require.NoError(t, l.of("c0.1").Event(Event{At: someTime, Kind: EventFault, Detail: "kill"}))
	require.NoError(t, l.of("c0.1").Call(Call{Process: "c0.1", Err: "no", Allowed: true}))
	l.close()
	data, err := os.ReadFile(filepath.Join(l.dir, "c0.1"+Extension))
	require.NoError(t, err)
	f := newFrames(bytes.NewReader(data))
	require.NoError(t, f.begin())
	for err == nil {
		starts = append(starts, f.offset)
		_, err = f.next()
	}
	require.Equal(t, int64(len(data)), f.offset)
	return data, starts
}

// checkBytes checks a ledger of these bytes.
func checkBytes(t testing.TB, data []byte) *Report {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c0.1"+Extension), data, 0o600))
	r, err := Check(t.Context(), dir, pair())
	require.NoError(t, err)
	return r
}

// A process that is killed leaves a beginning of its file, whichever.
func TestTornEndIsInOrder(t *testing.T) {
	t.Parallel()
	data, _ := sample(t)
	for n := range data {
		torn, err := read(t.Context(), bytes.NewReader(data[:n]), visitor{})
		require.NoError(t, err, "%d bytes", n)
		require.True(t, torn, "%d bytes", n)
	}
	r := checkBytes(t, data[:len(data)-40])
	require.True(t, r.OK(), "%v", r.Findings)
	require.Equal(t, 1, r.Unfinished)
}

// What is torn or changed in the middle is found, wherever.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	data, starts := sample(t)
	for at := range data {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(data)
			bad[at] ^= bit
			_, err := read(t.Context(), bytes.NewReader(bad), visitor{})
			var wrong *damage
			require.ErrorAs(t, err, &wrong, "byte %d", at)
		}
	}
	for at := range len(data) - 1 {
		bad := append(bytes.Clone(data[:at]), data[at+1:]...)
		_, err := read(t.Context(), bytes.NewReader(bad), visitor{})
		require.Error(t, err, "byte %d", at)
	}
	// A whole frame is missing, or two have changed places.
	for i, start := range starts[:len(starts)-2] {
		end := starts[i+1]
		bad := append(bytes.Clone(data[:start]), data[end:]...)
		_, err := read(t.Context(), bytes.NewReader(bad), visitor{})
		require.Error(t, err, "frame %d is missing", i)
		bad = append(append(append(bytes.Clone(data[:start]), data[end:starts[i+2]]...), data[start:end]...), data[starts[i+2]:]...)
		_, err = read(t.Context(), bytes.NewReader(bad), visitor{})
		require.Error(t, err, "frame %d comes late", i)
	}
	bad := bytes.Clone(data)
	bad[len(bad)/2] ^= 4
	r := checkBytes(t, bad)
	require.Equal(t, map[string]int64{KindLog: 1}, r.Found)
	require.Contains(t, r.Findings[0].Detail, "c0.1"+Extension)
	require.Equal(t, map[string]int64{KindLog: 1}, checkBytes(t, append(bytes.Clone(data), 0)).Found)
	require.Equal(t, map[string]int64{KindLog: 1}, checkBytes(t, []byte("something else")).Found)
}

// asFrames makes a file with these payloads.
func asFrames(payloads ...[]byte) []byte {
	file := []byte(magic)
	for i, p := range payloads {
		h := header(uint64(i), p)
		file = append(append(file, h[:]...), p...)
	}
	return file
}

// Frames that are whole, and say what can't be.
func TestNonsenseIsFound(t *testing.T) {
	t.Parallel()
	stream := []byte(`S{"Process":"c1","Source":"ticket"}`)
	for name, payloads := range map[string][][]byte{
		"Kind":         {[]byte("X")},
		"JSON":         {[]byte("S{")},
		"Source":       {[]byte(`S{"Process":"c1","Source":"x"}`)},
		"Lease":        {[]byte(`L{}`)},
		"Event":        {[]byte(`V{}`)},
		"NoStream":     {{kindIDs, 0, 1, 4}},
		"NoNumber":     {stream, {kindIDs}},
		"NoCount":      {stream, {kindIDs, 0}},
		"None":         {stream, {kindIDs, 0, 0}},
		"Fewer":        {stream, {kindIDs, 0, 2, 4}},
		"More":         {stream, {kindIDs, 0, 1, 4, 4}},
		"MoreOfARun":   {stream, {kindIDs, 0, 2, 5, 3}},
		"NoRepeat":     {stream, {kindIDs, 0, 2, 5}},
		"RunOfNone":    {stream, {kindIDs, 0, 1, 5, 0}},
		"ShortID":      {stream, {kindIDs, 0, 1, 1, 0, 1, 2, 3}},
		"BeyondTheEnd": {stream, {kindIDs, 0, 2, 1, 0, 255, 255, 255, 255, 255, 255, 255, 127, 4}},
		"AfterTheEnd":  {{kindEnd}, stream},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checkBytes(t, asFrames(payloads...))
			require.Equal(t, map[string]int64{KindLog: 1}, r.Found, "%v", r.Findings)
		})
	}
}

// Nothing that is read makes the reader panic, or take more memory than a block; as
// it stands, and as the payloads of whole frames, or few inputs would get further.
func FuzzRead(f *testing.F) {
	data, starts := sample(f)
	f.Add(data, false)
	f.Add(data[:len(data)/2], false)
	for i, start := range starts[:len(starts)-1] {
		f.Add(data[start+headerSize:starts[i+1]], true)
	}
	f.Add([]byte{kindIDs, 0, 5, 3, 4, 4}, true)
	f.Add([]byte{kindIDs, 0, 2, 1, 0, 255, 255, 255, 255, 255, 255, 255, 127, 4}, true)
	f.Fuzz(func(t *testing.T, in []byte, payload bool) {
		if payload {
			if len(in) == 0 || len(in) > maxPayload {
				return
			}
			in = asFrames([]byte(`S{"Process":"c1","Source":"ticket"}`), in)
		}
		scheme := newScheme(pair())
		src := &source{Stream: Stream{Source: SourceFacade}}
		_, _ = read(t.Context(), bytes.NewReader(in), visitor{run: func(_ int, r run) {
			if r.count < 1 || r.count > maxBlock {
				t.Fatalf("a run of %d IDs", r.count)
			}
			if r.count == 1 {
				r.stride = 0
			}
			if (r.last() >= r.first) != (r.stride >= 0) {
				t.Fatalf("a run that wraps round: %+v", r)
			}
			var p piece
			if scheme.whole(src, r, &p) && p.count != r.count {
				t.Fatalf("a piece of %d IDs of %+v", p.count, r)
			}
		}})
	})
}
