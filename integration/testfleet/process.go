package testfleet

import (
	"context"
	"errors"
)

// What can be done to a node's process. Each waits for the one before.

// kill ends the process at once; nothing happens if it is down.
func (n *node) kill(ctx context.Context) error {
	n.op.Lock()
	defer n.op.Unlock()
	return n.end(ctx, n.inst.kill)
}

// stop ends it in order.
func (n *node) stop(ctx context.Context) error {
	n.op.Lock()
	defer n.op.Unlock()
	if n.isPaused() {
		if err := n.inst.resume(ctx); err != nil {
			return err
		}
	}
	return n.end(ctx, n.inst.stop)
}

// end ends the process in a given way. Caller must hold op.
func (n *node) end(ctx context.Context, how func(context.Context) error) error {
	if n.isDown() {
		return nil
	}
	if err := how(ctx); err != nil {
		return err
	}
	n.setState(true, false)
	return nil
}

// start starts a server that is down and waits until it answers.
func (n *node) start(ctx context.Context) error {
	n.op.Lock()
	defer n.op.Unlock()
	if !n.isDown() {
		return errors.New("it is not down")
	}
	if err := n.inst.start(ctx); err != nil {
		return err
	}
	n.setState(false, false)
	return n.awaitReady(ctx)
}

// pause freezes the process.
func (n *node) pause(ctx context.Context) error {
	n.op.Lock()
	defer n.op.Unlock()
	if err := n.inst.pause(ctx); err != nil {
		return err
	}
	n.setState(false, true)
	return nil
}

// resume lets it go on; nothing happens if it is not paused.
func (n *node) resume(ctx context.Context) error {
	n.op.Lock()
	defer n.op.Unlock()
	if !n.isPaused() {
		return nil
	}
	if err := n.inst.resume(ctx); err != nil {
		return err
	}
	n.setState(false, false)
	return n.awaitReady(ctx)
}

// save copies the data as it is at one moment: a server that runs is frozen
// meanwhile.
func (n *node) save(ctx context.Context, path string) (err error) {
	n.op.Lock()
	defer n.op.Unlock()
	if !n.isDown() && !n.isPaused() {
		if err := n.inst.pause(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, n.inst.resume(ctx)) }()
	}
	return n.inst.save(ctx, path)
}

// load replaces the data of a server that is down.
func (n *node) load(ctx context.Context, path string) error {
	n.op.Lock()
	defer n.op.Unlock()
	return n.inst.load(ctx, path)
}

// revive brings the server back from whatever a test did to its process: froze
// it, ended it, or made it end by itself.
func (n *node) revive(ctx context.Context) error {
	if err := n.resume(ctx); err != nil {
		return err
	}
	if !n.isDown() {
		err := n.awaitReady(ctx)
		if err == nil || n.inst.alive(ctx) == nil {
			return err
		}
		n.setState(true, false) // it has ended by itself
	}
	return n.start(ctx)
}

func (n *node) isDown() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.down
}

func (n *node) isPaused() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.paused
}

func (n *node) setState(down, paused bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down, n.paused = down, paused
}
