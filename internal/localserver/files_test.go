package localserver

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), portName)
	port, err := readPort(path)
	require.NoError(t, err)
	require.Zero(t, port, "no file")
	require.NoError(t, writePort(path, 15123))
	port, err = readPort(path)
	require.NoError(t, err)
	require.Equal(t, 15123, port)
	for _, text := range []string{"", "0", "-1", "65536", "1.5", "port"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err = readPort(path)
		require.ErrorContains(t, err, path, text)
	}
}

func TestChoosePort(t *testing.T) {
	t.Parallel()
	port, err := choosePort()
	require.NoError(t, err)
	require.GreaterOrEqual(t, port, minPort)
	require.Less(t, port, maxPort)

	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	addr, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok)
	used := addr.Port
	taken, err := portTaken(used)
	require.NoError(t, err)
	require.True(t, taken)
	require.NoError(t, l.Close())
	taken, err = portTaken(used)
	require.NoError(t, err)
	require.False(t, taken)
}

func TestLockRefusesTheSecond(t *testing.T) {
	t.Parallel()
	h := home(t.TempDir())
	first, err := acquireLock(t.Context(), h)
	require.NoError(t, err)
	_, err = acquireLock(t.Context(), h)
	require.Equal(t, &LockedError{Dir: string(h), PID: os.Getpid()}, err)
	require.ErrorContains(t, err, string(h))
	require.ErrorContains(t, err, strconv.Itoa(os.Getpid()))
	first.release()
	again, err := acquireLock(t.Context(), h)
	require.NoError(t, err)
	again.release()
}

func TestLockOfDeadHolderIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := home(t.TempDir())
	held, err := acquireLock(t.Context(), h)
	require.NoError(t, err)
	// A process id that no system gives out: the holder is dead, but a server
	// that inherited the lock is not.
	require.NoError(t, os.WriteFile(h.path(lockName), []byte("2147483647\n"), 0o600))

	ctx, cancel := context.WithTimeout(t.Context(), 2*liveHolderWait)
	defer cancel()
	_, err = acquireLock(ctx, h)
	require.ErrorIs(t, err, context.DeadlineExceeded, "longer than for a live one")

	got := make(chan error, 1)
	go func() {
		lock, err := acquireLock(t.Context(), h)
		if err == nil {
			lock.release()
		}
		got <- err
	}()
	held.release()
	require.NoError(t, <-got)
}

func TestRepairData(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
	}{
		{"Nothing", "", ""},
		{"Whole", "data", "data"},
		{"InitialisationInterrupted", "data.tmp", ""},
		{"RestoreInterruptedWhileCopying", "data data.tmp", "data"},
		{"RestoreInterruptedBetweenRenames", "data.old data.tmp", "data=data.old"},
		{"RestoreInterruptedBeforeCleanup", "data data.old", "data"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := home(t.TempDir())
			for name := range strings.FieldsSeq(test.before) {
				require.NoError(t, os.Mkdir(h.path(name), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(h.path(name), "origin"), []byte(name), 0o600))
			}
			require.NoError(t, repairData(h))
			want, origin, moved := strings.Cut(test.after, "=")
			if !moved {
				origin = want
			}
			left, err := os.ReadDir(string(h))
			require.NoError(t, err)
			if want == "" {
				require.Empty(t, left)
				return
			}
			require.Len(t, left, 1)
			require.Equal(t, want, left[0].Name())
			text, err := os.ReadFile(filepath.Join(h.path(want), "origin"))
			require.NoError(t, err)
			require.Equal(t, origin, string(text))
		})
	}
}

func TestFlavorOfOtherDataIsRefused(t *testing.T) {
	t.Parallel()
	h := home(t.TempDir())
	cfg := Config{Installation: Installation{Flavor: MySQL}}
	require.NoError(t, checkFlavor(cfg, h), "unknown")
	require.NoError(t, writeFile(h.path(flavorName), "mysql\n"))
	require.NoError(t, checkFlavor(cfg, h))
	cfg.Installation.Flavor = MariaDB
	require.Equal(t, &FlavorError{Dir: string(h), Have: MySQL, Want: MariaDB}, checkFlavor(cfg, h))
}

func TestCopyTree(t *testing.T) {
	t.Parallel()
	src, dst := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "dst")
	require.NoError(t, os.MkdirAll(filepath.Join(src, "sub", "empty"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(src, "sub", "file"), []byte("text"), 0o640))
	require.NoError(t, os.Symlink("sub/file", filepath.Join(src, "link")))
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(src, "s"))
	require.NoError(t, err)
	defer func() { _ = l.Close() }()

	require.NoError(t, replaceTree(t.Context(), dst, src))
	info, err := os.Stat(filepath.Join(dst, "link"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	require.DirExists(t, filepath.Join(dst, "sub", "empty"))
	require.NoFileExists(t, filepath.Join(dst, "s"), "a socket means nothing in a copy")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, replaceTree(ctx, dst, src), context.Canceled)
	require.NoDirExists(t, dst)
}

func TestLogText(t *testing.T) {
	t.Parallel()
	h := home(t.TempDir())
	require.NoError(t, os.WriteFile(h.path(logName), []byte("the process before\n"), 0o600))
	log, err := openLog(h)
	require.NoError(t, err)
	_, err = log.file.WriteString("one\ntwo\nthree\n")
	require.NoError(t, err)
	require.NoError(t, log.file.Close())
	require.Equal(t, "one\ntwo\nthree\n", log.text())
	require.Equal(t, "two\nthree", lastLines(log.text(), 2))
	require.Equal(t, "one\ntwo\nthree", lastLines(log.text(), 99))
	require.Empty(t, lastLines(log.text(), 0))

	s := &Server{cfg: Config{RootPassword: testPassword}, log: log}
	require.NotContains(t, s.redact("near '"+testPassword+"' and "+quote(testPassword)), "ss")
}
