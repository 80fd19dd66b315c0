package localserver

// Addr returns the TCP address of the server, "127.0.0.1:port", also while it
// is stopped.
func (s *Server) Addr() string { return address(s.Port()) }

// Port returns the TCP port of the server, also while it is stopped.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// PID returns the process id, or 0 when the server does not run.
func (s *Server) PID() int {
	if p := s.process(); p != nil && p.running() {
		return p.pid
	}
	return 0
}

// Dir returns the server's directory, absolute and without symbolic links.
func (s *Server) Dir() string { return string(s.home) }

// Installation returns what this server runs.
func (s *Server) Installation() Installation { return s.cfg.Installation }

// Version returns the answer to SELECT VERSION() at the last start.
func (s *Server) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Running reports whether there is a process, be it paused or not.
func (s *Server) Running() bool {
	p := s.process()
	return p != nil && p.running()
}

// Exited returns a channel that is closed when the current process has ended,
// for whatever reason. It is closed already when none runs; each Start makes a
// new one.
func (s *Server) Exited() <-chan struct{} {
	if p := s.process(); p != nil {
		return p.done
	}
	return closedChan
}

// process returns the current or last process; nil before the first.
func (s *Server) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}
