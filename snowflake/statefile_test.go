//go:build linux

package snowflake

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeHost is a machine of our own making.
func fakeHost(t testing.TB) hostFacts {
	t.Helper()
	dir := t.TempDir()
	h := hostFacts{boot: filepath.Join(dir, "boot"), machine: filepath.Join(dir, "machine"), uptime: filepath.Join(dir, "uptime")}
	set(t, h.boot, "boot-1\n")
	set(t, h.machine, "machine-1\n")
	set(t, h.uptime, "1000.00 1.00\n")
	return h
}

func set(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// leave writes the state file of a lease as a process that is killed leaves it.
func leave(t testing.TB, path string, host hostFacts) (hold, int64) {
	t.Helper()
	s := newFakeStore(t, time.Hour)
	h, err := s.grant(t.Context())
	require.NoError(t, err)
	h.terms.fleet = "f1"
	f, found, why, err := openStateFile(path, host)
	require.NoError(t, err)
	require.Nil(t, found)
	require.Error(t, why)
	require.NoError(t, f.create(h))
	mark, err := f.writeMark(h, h.time, 0, 20*time.Millisecond)
	require.NoError(t, err)
	require.NoError(t, f.keep())
	return h, mark
}

func TestStateFileIsTakenUp(t *testing.T) {
	t.Parallel()
	host, path := fakeHost(t), filepath.Join(t.TempDir(), "state")
	h, mark := leave(t, path, host)
	require.Greater(t, mark, h.rect.from)
	require.Less(t, mark, h.rect.from+3000)
	set(t, host.uptime, "1010.50 1.00\n")
	f, found, why, err := openStateFile(path, host)
	require.NoError(t, err)
	require.NoError(t, why)
	got, why := found.resume(Config{}, "f1", host)
	require.NoError(t, why)
	require.Equal(t, h.number, got.number)
	require.Equal(t, h.offset, got.offset)
	require.Equal(t, h.nonce, got.nonce)
	require.Equal(t, h.terms, got.terms)
	require.Equal(t, rectangle{from: mark, until: h.rect.until}, got.rect, "what is before the mark may have been used")
	require.Equal(t, h.time.ms+10_500, got.time.ms)

	again, err := f.writeMark(got, got.time, 0, 0)
	require.NoError(t, err)
	require.Greater(t, again, mark)
	late, err := f.writeMark(got, serverTime{ms: got.time.ms + time.Hour.Milliseconds()}, 0, 0)
	require.NoError(t, err)
	require.Equal(t, h.rect.until, late, "never beyond the lease")
	require.NoError(t, f.keep())
}

func TestStateFileOfAnotherPlaceIsNotTakenUp(t *testing.T) {
	t.Parallel()
	changes := map[string]func(t *testing.T, path string, host hostFacts){
		"SystemStartedAnew": func(t *testing.T, _ string, host hostFacts) { set(t, host.boot, "boot-2\n") },
		"AnotherMachine":    func(t *testing.T, _ string, host hostFacts) { set(t, host.machine, "machine-2\n") },
		"NoMachineID":       func(t *testing.T, _ string, host hostFacts) { require.NoError(t, os.Remove(host.machine)) },
		"EmptyBootID":       func(t *testing.T, _ string, host hostFacts) { set(t, host.boot, "\n") },
		"NoSecondRecord":    func(t *testing.T, path string, _ hostFacts) { require.NoError(t, os.Truncate(path+".lock", 0)) },
		"Gone":              func(t *testing.T, path string, _ hostFacts) { require.NoError(t, os.Remove(path)) },
		"Moved": func(t *testing.T, path string, _ hostFacts) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			set(t, path+".new", string(text))
			require.NoError(t, os.Rename(path+".new", path))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, path := fakeHost(t), filepath.Join(t.TempDir(), "state")
			leave(t, path, host)
			change(t, path, host)
			f, found, why, err := openStateFile(path, host)
			require.NoError(t, err)
			require.Nil(t, found)
			require.Error(t, why)
			require.NoError(t, f.keep())
		})
	}
}

func TestStateFileThatDoesNotFitIsNotTakenUp(t *testing.T) {
	t.Parallel()
	host, path := fakeHost(t), filepath.Join(t.TempDir(), "state")
	leave(t, path, host)
	f, found, _, err := openStateFile(path, host)
	require.NoError(t, err)
	require.NoError(t, f.keep())
	tests := map[string]struct {
		change func(r *record, cfg *Config, fleet *string)
		want   string
	}{
		"AnotherFleet":  {func(_ *record, _ *Config, fleet *string) { *fleet = "f2" }, "belongs to fleet f1"},
		"AnotherLayout": {func(_ *record, cfg *Config, _ *string) { cfg.Layout = Default() }, "has the layout"},
		"Ended":         {func(r *record, _ *Config, _ *string) { r.UptimeMS -= 3_600_001 }, "its lease ended"},
		"UsedUp":        {func(r *record, _ *Config, _ *string) { r.Mark = r.Until }, "its lease ended"},
		"MarkBefore":    {func(r *record, _ *Config, _ *string) { r.Mark = r.From - 1 }, "make no sense"},
		"Nonce":         {func(r *record, _ *Config, _ *string) { r.Nonce = "00" }, "nonce"},
		"Layout":        {func(r *record, _ *Config, _ *string) { r.Layout = "x:y" }, "layout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, cfg, fleet := *found, Config{}, "f1"
			tt.change(&r, &cfg, &fleet)
			_, why := r.resume(cfg, fleet, host)
			require.ErrorContains(t, why, tt.want)
		})
	}
	_, why := found.resume(Config{}, "", host) // without servers nobody can tell
	require.NoError(t, why)
}

func FuzzReadRecord(f *testing.F) {
	good, err := record{Layout: "x"}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:100])
	f.Add([]byte(nil))
	f.Add([]byte(`{"layout":"time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		try := func(text []byte) {
			if r, err := readRecord(bytes.NewReader(text)); err == nil {
				require.Len(t, text, recordSize)
				_, _ = r.resume(Config{}, "", hostFacts{})
			}
		}
		try(text)
		if sealed, err := seal(bytes.TrimRight(text, " \n")); err == nil { // no fuzzer guesses a checksum
			try(sealed)
		}
	})
}
