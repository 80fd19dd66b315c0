package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

const (
	redisStarts = 10 // attempts, with another port each
	redisLimit  = 30 * time.Second
	redisLook   = 5 * time.Millisecond
	// Ports below those that the kernel gives to outgoing connections, and beside
	// those of the tests' other servers.
	redisMinPort, redisMaxPort = 6400, 9900
)

// redisBinary is the path of redis-server.
func redisBinary() (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", fmt.Errorf("%w; apt-get install -y --no-install-recommends redis-server", err)
	}
	return path, nil
}

// A redisServer is a process of redis-server with a directory of its own, on
// 127.0.0.1. Only the goroutine of the test uses it.
type redisServer struct {
	addr string
	dir  string
	args []string
	kill context.CancelFunc
	done chan struct{} // closed when the process is reaped
}

// startRedis starts a server, which is killed at the end of the test.
func startRedis(t testing.TB, args []string) *redisServer {
	s := &redisServer{dir: t.TempDir(), args: args}
	var err error
	for range redisStarts { // somebody else may be faster at a port
		s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(redisMinPort+rand.IntN(redisMaxPort-redisMinPort)))
		if err = s.start(t); err == nil {
			t.Cleanup(s.stop)
			return s
		}
	}
	require.NoError(t, err)
	return nil
}

// start returns when the server answers, or an error with what it said.
func (s *redisServer) start(t testing.TB) error {
	binary, err := redisBinary()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	// No option file, no snapshots.
	args := append([]string{"--bind", host, "--port", port, "--dir", s.dir, "--save", "", "--daemonize", "no",
		"--pidfile", filepath.Join(s.dir, "redis.pid")}, s.args...)
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.SysProcAttr = processAttributes()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	s.kill, s.done = kill, make(chan struct{})
	started, done := make(chan error, 1), s.done
	go func() {
		// Linux ends the server with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed
		}
	}()
	if err := <-started; err != nil {
		s.stop()
		return fmt.Errorf("start redis-server: %w", err)
	}
	if err := s.answers(t); err != nil {
		s.stop()
		return fmt.Errorf("%w: %s", err, said.String())
	}
	return nil
}

// answers waits until this process of the server answers.
func (s *redisServer) answers(t testing.TB) error {
	ctx, cancel := context.WithTimeout(t.Context(), redisLimit)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1})
	defer client.Close() //nolint:errcheck // of no interest
	tick := time.NewTicker(redisLook)
	defer tick.Stop()
	for {
		// Another process on this port has another directory.
		dir, err := client.ConfigGet(ctx, "dir").Result()
		if err == nil {
			if dir["dir"] != s.dir {
				return errors.New("another server has the port")
			}
			return nil
		}
		select {
		case <-tick.C:
		case <-s.done:
			return errors.New("redis-server has ended")
		case <-ctx.Done():
			return err
		}
	}
}

// stop ends the server with SIGKILL and returns when it is reaped.
func (s *redisServer) stop() {
	s.kill()
	<-s.done
}

// restart kills the server and starts it again on its port.
func (s *redisServer) restart(t testing.TB) {
	s.stop()
	require.NoError(t, s.start(t))
}

func (s *redisServer) version(t testing.TB) string {
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	defer client.Close() //nolint:errcheck // of no interest
	info, err := client.Info(t.Context(), "server").Result()
	require.NoError(t, err)
	for line := range strings.Lines(info) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return version
		}
	}
	return "of unknown version"
}
