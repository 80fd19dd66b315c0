package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Server is one directory and the server process that runs on it, if any. All
// methods are safe for concurrent use.
type Server struct {
	cfg  Config // complete and valid; never changed
	home home

	// change is held by those who need the directory, and the server's being
	// stopped or paused, to stay as they are: Start, Stop, Resume, Snapshot and
	// RestoreFrom. It is a semaphore of one so that waiting for it can end
	// with a context. Pause and Kill do without.
	change chan struct{}

	mu      sync.Mutex // guards the fields below; never held while waiting or doing I/O
	proc    *process   // the current or last process; nil before the first
	paused  bool       // proc was sent SIGSTOP and not SIGCONT since
	log     runLog     // of proc
	port    int
	version string // as the server reported it at its last start
}

// startTries is how often a start is repeated with another port.
const startTries = 10

// closedChan is what Exited returns when there never was a process.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Open makes a server's directory ready on its first use, which takes some
// seconds, starts the server and returns when it answers. See [Server.Start]
// for ctx and errors; beyond those Open returns an error that names the field
// for a bad Config, a [*NotFoundError] or one wrapping [ErrNotServer].
//
// The caller ends the server with [Server.Stop] or [Server.Kill].
func Open(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, home: home(cfg.Dir), change: make(chan struct{}, 1)}
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Start starts the server again after Stop, Kill or a crash, with the same
// directory and port, and returns when it answers. It blocks until then; ctx
// bounds this wait and has no effect on the server afterwards.
//
// Its errors: [ErrRunning]; [*LockedError] if the directory is in use
// elsewhere; [*PortInUseError] if the port is taken, which does not happen to
// a port that was chosen automatically and never used yet; [*FlavorError];
// [*StartError] if the process ended, ctx ended or the server did not get
// ready. After an error no process runs.
func (s *Server) Start(ctx context.Context) error {
	if err := s.beginChange(ctx); err != nil {
		return err
	}
	defer s.endChange()
	if s.Running() {
		return ErrRunning
	}
	for range startTries {
		port, mayChange, err := s.startPort()
		if err != nil {
			return err
		}
		err = s.startOn(ctx, port)
		if _, taken := errors.AsType[*PortInUseError](err); !taken || !mayChange {
			return err
		}
	}
	return fmt.Errorf("localserver: start server in %s: %d ports were taken right after they were chosen", s.home, startTries)
}

// startPort returns the port to use, and whether another would do as well.
func (s *Server) startPort() (port int, mayChange bool, err error) {
	if s.cfg.Port != 0 {
		return s.cfg.Port, false, nil
	}
	if port, err = readPort(s.home.path(portName)); err != nil || port != 0 {
		return port, false, err
	}
	port, err = choosePort()
	return port, true, err
}

// startOn starts the server on a port. Caller must hold change.
func (s *Server) startOn(ctx context.Context, port int) error {
	began := time.Now()
	lock, err := acquireLock(ctx, s.home)
	if err != nil {
		return err
	}
	if err := requireFree(port); err != nil {
		lock.release()
		return err
	}
	if err := s.prepare(ctx, lock); err != nil {
		lock.release()
		return err
	}
	defer removeInitFile(s.home) //nolint:errcheck // done below where it counts
	p, err := s.launch(lock, port)
	if err != nil {
		lock.release()
		return err
	}
	version, err := s.awaitReady(ctx, p, port)
	if err == nil {
		err = errors.Join(removeInitFile(s.home), writePort(s.home.path(portName), port))
	}
	if err != nil {
		return s.startFailed(p, port, err)
	}
	s.mu.Lock()
	s.version = version
	s.mu.Unlock()
	s.cfg.Logger.Info("server started", "dir", s.Dir(), "addr", address(port), "pid", p.pid,
		"version", version, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// prepare does everything that must be done before the process starts.
func (s *Server) prepare(ctx context.Context, lock *dirLock) error {
	if err := s.home.removeStale(); err != nil {
		return fmt.Errorf("remove files of the last process: %w", err)
	}
	if err := prepareData(ctx, s.cfg, s.home, lock); err != nil {
		return err
	}
	return writeInitFile(s.home, s.cfg)
}

// launch starts the process, which takes over the lock.
func (s *Server) launch(lock *dirLock, port int) (*process, error) {
	log, err := openLog(s.home)
	if err != nil {
		return nil, err
	}
	defer log.file.Close()                                                                //nolint:errcheck // the process has its own
	cmd := exec.Command(s.cfg.Installation.Server, serverOptions(s.cfg, s.home, port)...) //nolint:noctx // outlives ctx
	cmd.Dir = string(s.home)
	cmd.Env = append(environment(s.home), s.cfg.Env...)
	cmd.Stdout, cmd.Stderr = log.file, log.file
	cmd.ExtraFiles = []*os.File{lock.file}
	p, err := startProcess(cmd, func() {
		_ = s.home.removeSocket() // the next start does it too
		lock.release()
	})
	if err != nil {
		return nil, fmt.Errorf("start server process: %w", err)
	}
	log.file = nil
	s.mu.Lock()
	s.proc, s.paused, s.log, s.port = p, false, log, port
	s.mu.Unlock()
	return p, nil
}

// startFailed ends the process and returns the reason of the failure in the
// form that callers see.
func (s *Server) startFailed(p *process, port int, reason error) error {
	exited := !p.running()
	if err := p.kill(); err != nil {
		reason = errors.Join(reason, err)
	}
	if taken, err := portTaken(port); exited && err == nil && taken {
		return &PortInUseError{Port: port}
	}
	return &StartError{Dir: s.Dir(), Err: reason, Log: s.LogTail(errorLogLines)}
}

// beginChange takes the change semaphore.
func (s *Server) beginChange(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.change <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endChange gives the change semaphore back.
func (s *Server) endChange() { <-s.change }
