//go:build servers

package localserver

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// forEach runs a test with every server that Find finds. Put the directory of
// a wrapper script into PATH to test a server that is not installed.
func forEach(t *testing.T, test func(t *testing.T, inst Installation)) {
	t.Helper()
	t.Parallel()
	found, err := Find(t.Context())
	require.NoError(t, err, "these tests need a server")
	for _, inst := range found {
		t.Run(string(inst.Flavor)+"-"+inst.Version, func(t *testing.T) {
			t.Parallel()
			test(t, inst)
		})
	}
}

// newConfig returns the config of a server in a directory of its own.
func newConfig(t *testing.T, inst Installation) Config {
	return Config{
		Installation: inst,
		Dir:          filepath.Join(t.TempDir(), "server"),
		RootPassword: testPassword,
		InitSQL:      []string{"CREATE DATABASE IF NOT EXISTS app", "CREATE TABLE IF NOT EXISTS app.t (\n  id INT PRIMARY KEY\n) ENGINE=InnoDB;"},
		Logger:       slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

// open opens a server that ends with the test.
func open(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Kill()) })
	return s
}

// connect returns a pool for the server as root.
func connect(t *testing.T, s *Server) *sql.DB {
	t.Helper()
	db, err := openRoot(s.Port(), s.cfg.RootPassword)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// insert adds a row.
func insert(t *testing.T, s *Server, id int) {
	t.Helper()
	_, err := connect(t, s).ExecContext(t.Context(), "INSERT INTO app.t VALUES (?)", id)
	require.NoError(t, err)
}

// rows returns the ids of all rows.
func rows(t *testing.T, s *Server) string {
	t.Helper()
	var ids string
	err := connect(t, s).QueryRowContext(t.Context(), "SELECT GROUP_CONCAT(id ORDER BY id) FROM app.t").Scan(&ids)
	require.NoError(t, err)
	return ids
}

func TestLife(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		cfg.Options = []string{"--auto-increment-increment=2"}
		s := open(t, cfg)
		require.True(t, s.Running())
		require.Contains(t, s.Version(), inst.Version)
		require.NotContains(t, s.Log(), testPassword)
		require.NotEmpty(t, s.LogTail(3))
		require.NoFileExists(t, s.home.path(initName), "it holds the password")
		insert(t, s, 1)

		var increment, flush, syncBinlog, bind string
		err := connect(t, s).QueryRowContext(t.Context(),
			"SELECT @@auto_increment_increment, @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@bind_address").
			Scan(&increment, &flush, &syncBinlog, &bind)
		require.NoError(t, err)
		require.Equal(t, "2", increment, "Options")
		require.Equal(t, "1", flush)
		require.Equal(t, "127.0.0.1", bind)
		t.Logf("sync_binlog = %s (the flavor's default)", syncBinlog)

		cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.PID()))
		require.NoError(t, err)
		require.NotContains(t, string(cmdline), testPassword)

		require.ErrorIs(t, s.Start(t.Context()), ErrRunning)
		addr, exited := s.Addr(), s.Exited()
		require.NoError(t, s.Stop(t.Context()))
		<-exited
		require.False(t, s.Running())
		require.Zero(t, s.PID())
		require.NoError(t, s.Stop(t.Context()), "again")
		require.NoError(t, s.Kill())
		require.ErrorIs(t, s.Pause(), ErrNotRunning)
		require.ErrorIs(t, s.Resume(), ErrNotRunning)

		again := open(t, cfg)
		require.Equal(t, addr, again.Addr(), "the port is remembered")
		require.Equal(t, "1", rows(t, again))
		insert(t, again, 2)
		require.NoError(t, again.Kill())
		require.NoError(t, again.Start(t.Context()))
		require.Equal(t, addr, again.Addr())
		require.Equal(t, "1,2", rows(t, again))
	})
}

func TestRootNeedsThePassword(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		s := open(t, newConfig(t, inst))
		for _, password := range []string{"", "wrong"} {
			db, err := openRoot(s.Port(), password)
			require.NoError(t, err)
			require.ErrorContains(t, db.PingContext(t.Context()), "Access denied")
			require.NoError(t, db.Close())
		}
		// Another password at the next start: the init file sets it.
		require.NoError(t, s.Stop(t.Context()))
		cfg := s.cfg
		cfg.RootPassword = "new"
		s = open(t, cfg)
		require.NoError(t, connect(t, s).PingContext(t.Context()))
	})
}

func TestPauseAndResume(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		s := open(t, newConfig(t, inst))
		db := connect(t, s)
		require.NoError(t, s.Pause())
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		require.Error(t, db.PingContext(ctx))
		require.True(t, s.Running())
		require.NoError(t, s.Resume())
		require.NoError(t, db.PingContext(t.Context()))

		require.NoError(t, s.Pause())
		require.NoError(t, s.Stop(t.Context()), "stop a paused server")
		require.NoError(t, s.Start(t.Context()))
		require.NoError(t, s.Pause())
		require.NoError(t, s.Kill(), "kill a paused server")
	})
}

func TestStopKillsWhenContextEnds(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		s := open(t, newConfig(t, inst))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, s.Stop(ctx), context.Canceled)
		require.False(t, s.Running())
		require.NoError(t, s.Start(t.Context()))
	})
}

func TestSnapshotAndRestore(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		s := open(t, newConfig(t, inst))
		crash, stopped := filepath.Join(t.TempDir(), "crash"), filepath.Join(t.TempDir(), "stopped")
		insert(t, s, 1)
		require.ErrorIs(t, s.Snapshot(t.Context(), crash), ErrRunning)
		require.ErrorIs(t, s.RestoreFrom(t.Context(), crash), ErrRunning)
		require.NoError(t, s.Pause())
		require.NoError(t, s.Snapshot(t.Context(), crash))
		require.ErrorIs(t, s.Snapshot(t.Context(), crash), fs.ErrExist)
		require.NoError(t, s.Resume())
		insert(t, s, 2)
		require.NoError(t, s.Stop(t.Context()))
		require.NoError(t, s.Snapshot(t.Context(), stopped))

		require.NoError(t, s.Start(t.Context()))
		insert(t, s, 3)
		require.NoError(t, s.Kill())
		for _, step := range []struct{ src, rows string }{{crash, "1"}, {stopped, "1,2"}} {
			require.NoError(t, s.RestoreFrom(t.Context(), step.src))
			require.NoError(t, s.Start(t.Context()))
			require.Equal(t, step.rows, rows(t, s))
			require.NoError(t, s.Stop(t.Context()))
		}

		require.ErrorIs(t, s.RestoreFrom(t.Context(), filepath.Join(t.TempDir(), "nothing")), fs.ErrNotExist)
		require.NoError(t, s.Start(t.Context()), "a failed restore changes nothing")
		require.Equal(t, "1,2", rows(t, s))
	})
}

func TestTwoOpensOfOneDir(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		s := open(t, cfg)
		_, err := Open(t.Context(), cfg)
		locked, ok := errors.AsType[*LockedError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, &LockedError{Dir: s.Dir(), PID: os.Getpid()}, locked)
		require.True(t, s.Running())
	})
}

func TestInitialisationInterrupted(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var opened errgroup.Group
		opened.Go(func() error {
			s, err := Open(ctx, cfg)
			if err == nil {
				return errors.Join(errors.New("opened too soon"), s.Kill())
			}
			return err
		})
		require.Eventually(t, func() bool {
			files, _ := os.ReadDir(filepath.Join(cfg.Dir, dataTmpName))
			return len(files) > 2
		}, time.Minute, time.Millisecond)
		cancel()
		require.ErrorIs(t, opened.Wait(), context.Canceled)
		require.NoDirExists(t, filepath.Join(cfg.Dir, dataName))

		s := open(t, cfg)
		insert(t, s, 1)
		require.Equal(t, "1", rows(t, s))
	})
}

func TestManyAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		var group errgroup.Group
		servers := make([]*Server, 3)
		for i := range servers {
			cfg := newConfig(t, inst)
			group.Go(func() (err error) {
				servers[i], err = Open(t.Context(), cfg)
				return err
			})
		}
		err := group.Wait()
		ports := make(map[int]bool)
		for _, s := range servers {
			if s != nil {
				ports[s.Port()] = true
				require.NoError(t, s.Kill())
			}
		}
		require.NoError(t, err)
		require.Len(t, ports, len(servers))
	})
}

func TestPortTaken(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		s := open(t, cfg)
		foreign := newConfig(t, inst)
		foreign.Port = s.Port()
		_, err := Open(t.Context(), foreign)
		taken, ok := errors.AsType[*PortInUseError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, s.Port(), taken.Port)

		// Taken after the check: the process cannot bind and ends, while the
		// other server, with the same root password, answers on the port.
		dir, err := makeDir(foreign.Dir)
		require.NoError(t, err)
		other := &Server{cfg: s.cfg, home: home(dir), change: make(chan struct{}, 1)}
		lock, err := acquireLock(t.Context(), other.home)
		require.NoError(t, err)
		require.NoError(t, other.prepare(t.Context(), lock))
		p, err := other.launch(lock, s.Port())
		require.NoError(t, err)
		_, err = other.awaitReady(t.Context(), p, s.Port())
		require.ErrorContains(t, err, "process ended")
		require.ErrorAs(t, other.startFailed(p, s.Port(), err), &taken)
	})
}

func TestRememberedPortTaken(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		s := open(t, newConfig(t, inst))
		require.NoError(t, s.Kill())
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", s.Addr())
		require.NoError(t, err)
		taken, ok := errors.AsType[*PortInUseError](s.Start(t.Context()))
		require.True(t, ok)
		require.Equal(t, s.Port(), taken.Port)
		require.NoError(t, l.Close())
		require.NoError(t, s.Start(t.Context()))
	})
}

func TestStartFails(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		cfg.Options = []string{"--no-such-option"}
		_, err := Open(t.Context(), cfg)
		failed, ok := errors.AsType[*StartError](err)
		require.True(t, ok, "%v", err)
		require.Contains(t, failed.Log, "no-such-option")
		require.ErrorContains(t, err, "exit status")

		cfg.Options = nil
		cfg.InitSQL = []string{"SELECT nonsense, '" + strings.ReplaceAll(strings.ReplaceAll(testPassword, `\`, `\\`), `'`, `''`) + "' FROM nowhere.at_all"}
		_, err = Open(t.Context(), cfg)
		failed, ok = errors.AsType[*StartError](err)
		require.True(t, ok, "%v", err)
		require.Contains(t, failed.Log, "nowhere")
		require.NotContains(t, err.Error(), testPassword)
		t.Log(err)

		cfg.InitSQL = nil
		s := open(t, cfg)
		require.NotContains(t, s.Log(), "no-such-option", "the log of this process only")
	})
}

func TestLongDirAndOddNames(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		cfg.Dir = filepath.Join(cfg.Dir, strings.Repeat("long", 30), "it's a \\ dir")
		s := open(t, cfg)
		insert(t, s, 1)
		require.FileExists(t, s.home.socket(), "socket")
		require.NoError(t, s.Kill())
		require.NoFileExists(t, s.home.socket(), "no litter in the temporary directory")
	})
}

func TestParentKilled(t *testing.T) {
	forEach(t, func(t *testing.T, inst Installation) {
		cfg := newConfig(t, inst)
		self, err := os.Executable()
		require.NoError(t, err)
		parent := exec.CommandContext(t.Context(), self)
		parent.Env = append(os.Environ(), parentEnv+"="+cfg.Dir, parentServerEnv+"="+inst.Server)
		parent.Stderr = os.Stderr
		out, err := parent.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, parent.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		var pid int
		var addr string
		_, err = fmt.Sscan(line, &pid, &addr)
		require.NoError(t, err)
		require.True(t, processAlive(pid))

		require.NoError(t, parent.Process.Kill())
		require.Error(t, parent.Wait())
		s := open(t, cfg) // at once: it waits for the orphan's end
		require.Equal(t, addr, s.Addr())
		require.NotEqual(t, pid, s.PID())
		require.False(t, serverAlive(pid))
	})
}

// serverAlive reports whether the process still runs. An orphan that ended may
// stay a zombie where nobody reaps it.
func serverAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
