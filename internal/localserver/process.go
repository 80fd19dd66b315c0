package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// A process is one run of a program, from its start until it is reaped. It has
// one goroutine, its waiter, which ends when the process has.
type process struct {
	pid   int
	state *os.Process
	done  chan struct{} // closed by the waiter when the process is reaped
	err   error         // how it ended; written before done is closed
}

// startProcess starts cmd, and calls ended when the process is reaped, before
// done is closed. Neither is called or closed if cmd does not start.
//
// The waiter starts the process and then waits for it, locked to one
// thread throughout. Linux kills the process when the thread that started it
// ends (golang/go#27505); this one cannot end earlier than the process, unless
// the whole program does.
func startProcess(cmd *exec.Cmd, ended func()) (*process, error) {
	cmd.SysProcAttr = processAttributes()
	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid, p.state = cmd.Process.Pid, cmd.Process
		started <- nil
		p.err = cmd.Wait()
		ended()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// running reports whether the process has not been reaped.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends a signal; it is no error if the process has ended.
func (p *process) signal(sig os.Signal) error {
	if err := p.state.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to process %d: %w", sig, p.pid, err)
	}
	return nil
}

// kill ends the process at once and returns when it is reaped. Works on a
// paused process too.
func (p *process) kill() error {
	if err := p.signal(os.Kill); err != nil {
		return err
	}
	<-p.done
	return nil
}

// exitError describes how the process ended; only after done is closed.
func (p *process) exitError() error {
	if p.err == nil {
		return errors.New("process ended with exit status 0")
	}
	return fmt.Errorf("process ended: %w", p.err)
}

// runCommand runs cmd until it ends; when ctx ends first it kills cmd and its
// children. Whoever inherited the lock still holds it until it is dead.
func runCommand(ctx context.Context, cmd *exec.Cmd) error {
	p, err := startProcess(cmd, func() {})
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		err := killGroup(p.pid)
		<-p.done
		return errors.Join(ctx.Err(), err)
	}
}
