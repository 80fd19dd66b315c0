package testfleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// operate does something to the server's process.
func (s *Server) operate(what string, do func(context.Context) error) {
	s.fleet.t.Helper()
	s.check(what, s.node.claim(s.fleet.t.Name()))
	ctx, cancel := opContext()
	defer cancel()
	s.check(what, do(ctx))
}

// Kill ends the server as a crash does (SIGKILL). When it returns the process
// is gone, connections are reset and new ones are refused.
func (s *Server) Kill() {
	s.fleet.t.Helper()
	s.operate("kill", s.node.kill)
	s.chain.tap.refuse()
}

// Stop shuts the server down in order.
func (s *Server) Stop() {
	s.fleet.t.Helper()
	s.operate("stop", s.node.stop)
	s.chain.tap.refuse()
}

// Start starts a server that was killed or stopped, on the same port, and
// returns when it answers.
func (s *Server) Start() {
	s.fleet.t.Helper()
	s.operate("start", s.node.start)
	s.listen()
}

// Restart is Kill and Start.
func (s *Server) Restart() {
	s.fleet.t.Helper()
	s.Kill()
	s.Start()
}

// Pause freezes the server (SIGSTOP): connections stay, nothing is answered.
func (s *Server) Pause() {
	s.fleet.t.Helper()
	s.operate("pause", s.node.pause)
}

// Resume lets a paused server go on (SIGCONT) and returns when it answers.
func (s *Server) Resume() {
	s.fleet.t.Helper()
	s.operate("resume", s.node.resume)
}

// listen lets clients in again, unless the test has cut the network.
func (s *Server) listen() {
	s.fleet.t.Helper()
	if !s.cut {
		s.check("open proxy of", s.chain.tap.listen())
	}
}

// A Snapshot is a copy of a server's data directory as it was at one moment.
// It is deleted at the end of the run.
type Snapshot struct {
	path string
}

// Snapshot copies the data directory. A server that runs is frozen for that
// long, so the copy is what a crash at this moment would leave.
func (s *Server) Snapshot() *Snapshot {
	s.fleet.t.Helper()
	snap := &Snapshot{path: filepath.Join(current.dir, "snapshot-"+randomName())}
	s.operate("copy data of", func(ctx context.Context) error { return s.node.save(ctx, snap.path) })
	return snap
}

// RestartFrom kills the server, gives it the data of the snapshot and starts
// it on the same port: a server that forgot what happened since.
func (s *Server) RestartFrom(snap *Snapshot) {
	s.fleet.t.Helper()
	s.Kill()
	s.operate("rewind", func(ctx context.Context) error { return s.node.load(ctx, snap.path) })
	s.Start()
}

// StartCopy starts a second server from a snapshot of this one, beside it and
// with the same accounts and database. The copy is not among Fleet.Servers; it
// is removed at cleanup.
func (s *Server) StartCopy(snap *Snapshot) *Server {
	s.fleet.t.Helper()
	ctx, cancel := opContext()
	defer cancel()
	n, err := current.clone(ctx, s.node, snap)
	s.check("copy", err)
	c := s.fleet.newServer(fmt.Sprintf("copy %d of %s", len(s.fleet.copies)+1, s.Name), n)
	s.fleet.copies = append(s.fleet.copies, c)
	return c
}

// clone starts a copy of a node.
func (r *run) clone(ctx context.Context, original *node, snap *Snapshot) (*node, error) {
	if err := r.beginClone(); err != nil {
		return nil, err
	}
	defer r.opening.Done()
	inst, err := original.inst.clone(ctx, snap.path)
	if err != nil {
		return nil, err
	}
	n, err := newNode(ctx, inst, original.accounts)
	if err != nil {
		_ = inst.remove(context.WithoutCancel(ctx)) // err matters more; the end of the run looks for leftovers
		return nil, err
	}
	n.name = "copy of " + original.name
	r.register(n)
	return n, nil
}

// beginClone announces a server that is about to start.
func (r *run) beginClone() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("the run is over")
	}
	r.opening.Add(1)
	return nil
}
