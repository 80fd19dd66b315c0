package localserver

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Stop shuts the server down in order (SIGTERM) and returns when its process
// has ended. A paused server is resumed for that. When ctx ends first the
// process is killed, and the error wraps the context's error. Stopping a
// server that does not run is no error.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.beginChange(ctx); err != nil {
		return errors.Join(fmt.Errorf("stop server: killed it: %w", err), s.Kill())
	}
	defer s.endChange()
	p := s.process()
	if p == nil || !p.running() {
		return nil
	}
	// In this order the server shuts down without doing anything else first.
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(signalResume)); err != nil {
		return fmt.Errorf("stop server: %w", err)
	}
	s.setPaused(p, false)
	select {
	case <-p.done:
		s.cfg.Logger.Info("server stopped", "dir", s.Dir(), "pid", p.pid)
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop server: killed it: %w", ctx.Err()), p.kill())
	}
}

// Kill ends the process as a crash does (SIGKILL) and returns when it is
// reaped. It waits for nobody: a Start or Stop that is under way sees the
// process end. Killing a server that does not run is no error.
func (s *Server) Kill() error {
	p := s.process()
	if p == nil || !p.running() {
		return nil
	}
	if err := p.kill(); err != nil {
		return fmt.Errorf("kill server: %w", err)
	}
	s.cfg.Logger.Info("server killed", "dir", s.Dir(), "pid", p.pid)
	return nil
}

// pauseLimit bounds the wait until all threads have stopped. One that is busy
// in the disk's driver stops when that is done.
const (
	pauseLimit = 10 * time.Second
	pausePoll  = time.Millisecond
)

// Pause stops the process where it is (SIGSTOP): connections stay, nothing is
// answered. It returns when all threads stand still (on Linux; soon after
// that elsewhere). [ErrNotRunning] if there is no process.
func (s *Server) Pause() error {
	p := s.process()
	if p == nil || !p.running() {
		return ErrNotRunning
	}
	if err := p.signal(signalPause); err != nil {
		return fmt.Errorf("pause server: %w", err)
	}
	limit := time.NewTimer(pauseLimit)
	defer limit.Stop()
	ticker := time.NewTicker(pausePoll)
	defer ticker.Stop()
	for !allStopped(p.pid) {
		select {
		case <-p.done:
			return ErrNotRunning
		case <-limit.C:
			return fmt.Errorf("pause server: process %d still moves after %v", p.pid, pauseLimit)
		case <-ticker.C:
		}
	}
	s.setPaused(p, true)
	return nil
}

// Resume lets a paused process go on (SIGCONT). It first waits for a Snapshot
// that is under way. Resuming a process that is not paused is no error;
// [ErrNotRunning] if there is none.
func (s *Server) Resume() error {
	if err := s.beginChange(context.Background()); err != nil {
		return err
	}
	defer s.endChange()
	p := s.process()
	if p == nil || !p.running() {
		return ErrNotRunning
	}
	if err := p.signal(signalResume); err != nil {
		return fmt.Errorf("resume server: %w", err)
	}
	s.setPaused(p, false)
	return nil
}

// setPaused notes whether p is paused, unless another process follows it already.
func (s *Server) setPaused(p *process, paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == p {
		s.paused = paused
	}
}

// isPaused reports whether the running process is paused.
func (s *Server) isPaused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused
}
