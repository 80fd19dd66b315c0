package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oddeven/oddeven/integration/torture/schedule"
	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/ticket"
)

// fault makes a fault and heals it. failed is called when the server begins to be
// affected, before the clients can notice.
type fault func(ctx context.Context, s schedule.Step, v *server, failed func() error) error

// faults are those of one server. Clients and all servers together are elsewhere.
func (r *run) faults() map[schedule.Kind]fault {
	return map[schedule.Kind]fault{
		schedule.ServerKill:         r.killServer,
		schedule.ServerFreeze:       r.freezeServer,
		schedule.ServerRewind:       r.rewindServer,
		schedule.ServerRewindAlone:  r.rewindAlone,
		schedule.ServerPromote:      r.promoteReplica,
		schedule.ReadOnly:           r.readOnly,
		schedule.DiskFull:           r.fillDisk,
		schedule.TooManyConnections: r.takeConnections,
		schedule.Variables:          r.setVariables,
		schedule.NetCut:             r.cutNetwork,
		schedule.NetHalfOpen:        r.halfOpen,
		schedule.NetLostReplies:     r.loseReplies,
		schedule.NetLatency:         r.delay,
		schedule.ClusterKill:        r.killPrimary,
	}
}

func (r *run) killServer(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := errors.Join(failed(), v.kill()); err != nil {
		return err
	}
	wait(ctx, s.For)
	return v.start(ctx)
}

func (r *run) freezeServer(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	p := v.now()
	if err := errors.Join(failed(), p.Pause()); err != nil {
		return err
	}
	wait(ctx, s.For)
	return p.Resume()
}

func (r *run) rewindServer(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := failed(); err != nil {
		return err
	}
	if err := r.mayForget(ctx, v); err != nil {
		return err
	}
	if err := v.rewind(ctx, s.Amount); err != nil {
		return err
	}
	wait(ctx, s.For)
	return v.start(ctx)
}

// rewindAlone replaces all clients while the server is down: nobody is left who has
// seen what it forgot, but for the other servers.
func (r *run) rewindAlone(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	for _, c := range r.clients {
		select {
		case c.use <- struct{}{}:
			defer func() { <-c.use }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := failed(); err != nil {
		return err
	}
	if err := r.mayForget(ctx, v); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(r.clients), len(r.clients)+2)
	for i, c := range r.clients {
		wg.Go(func() { errs[i] = c.kill() })
	}
	wg.Wait()
	errs = append(errs, v.rewind(ctx, s.Amount), v.start(ctx))
	for _, c := range r.clients {
		errs = append(errs, c.start())
	}
	wait(ctx, s.For)
	return errors.Join(errs...)
}

// promoteReplica is over when an operator has accepted the replica.
func (r *run) promoteReplica(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	forget := func() error {
		if err := failed(); err != nil {
			return err
		}
		return r.mayForget(ctx, v)
	}
	if err := v.promote(ctx, s.For, forget); err != nil {
		return err
	}
	if err := v.gate.open(gateDown); err != nil {
		return err
	}
	return r.accept(ctx, v)
}

// accept is what an operator does with a server that takes the place of another.
// Other faults of the network may be in the way, so it is repeated.
func (r *run) accept(ctx context.Context, v *server) error {
	ctx, cancel := context.WithTimeout(ctx, opLimit)
	defer cancel()
	for {
		err := ticket.Accept(ctx, r.tickets(), dsn.Label(v.app()))
		if err == nil || errors.Is(err, ticket.ErrNothingToAccept) {
			return nil
		}
		if wait(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return fmt.Errorf("accept server %s: %w", v.name(), err)
		}
	}
}

func (r *run) readOnly(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := errors.Join(failed(), v.exec(ctx, "SET GLOBAL read_only = 1")); err != nil {
		return err
	}
	wait(ctx, s.For)
	return v.exec(ctx, "SET GLOBAL read_only = 0")
}

// fillDisk frees the space again; a server that waits for somebody to do so, for a
// minute at a time, is killed and started.
func (r *run) fillDisk(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := errors.Join(failed(), v.disk.fill()); err != nil {
		return err
	}
	wait(ctx, s.For)
	if err := v.disk.empty(); err != nil {
		return err
	}
	answers, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := v.db().ExecContext(answers, "CREATE OR REPLACE VIEW `"+database+"`.`torture_probe` AS SELECT 1")
	if err == nil {
		return nil
	}
	return errors.Join(v.kill(), v.start(ctx))
}

// fewest is the least that max_connections can be set to, most what it is.
const fewest, most = 10, 400

// takeConnections leaves no connection for the clients. It keeps one for itself:
// root's spare one is soon taken, too.
func (r *run) takeConnections(ctx context.Context, s schedule.Step, v *server, failed func() error) (err error) {
	if err := failed(); err != nil {
		return err
	}
	pool, err := v.connect(v.now().Addr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	own, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to server %s: %w", v.name(), err)
	}
	defer own.Close() //nolint:errcheck // holds nothing
	set := func(n int) error {
		if _, err := own.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", n)); err != nil {
			return fmt.Errorf("allow %d connections on server %s: %w", n, v.name(), err)
		}
		return nil
	}
	if err := set(fewest); err != nil {
		return err
	}
	v.proxy.Reset()
	for range fewest {
		conn, err := pool.Conn(ctx)
		if err != nil {
			break // there are no more
		}
		defer conn.Close() //nolint:errcheck // holds nothing
	}
	wait(ctx, s.For)
	return set(most)
}

// variables are sets of global variables that somebody sets who knows nothing of
// oddeven, and their values before.
var variables = [][]string{
	{"auto_increment_increment = 7", "auto_increment_offset = 3"},
	{"wait_timeout = 1", "interactive_timeout = 1"},
	{"sql_mode = 'ANSI,NO_AUTO_VALUE_ON_ZERO'"},
	{"autocommit = 0", "auto_increment_increment = 1", "auto_increment_offset = 1"},
}

// setVariables sets them for all sessions to come, which it makes the clients open.
func (r *run) setVariables(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := failed(); err != nil {
		return err
	}
	var back []string
	for _, set := range variables[s.Amount] {
		name, _, _ := strings.Cut(set, " ")
		if err := v.exec(ctx, "SET GLOBAL "+set); err != nil {
			return err
		}
		back = append(back, name+" = DEFAULT")
	}
	v.proxy.Reset()
	wait(ctx, s.For)
	for _, set := range back {
		if err := v.exec(ctx, "SET GLOBAL "+set); err != nil {
			return err
		}
	}
	v.proxy.Reset()
	return nil
}

func (r *run) cutNetwork(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := failed(); err != nil {
		return err
	}
	v.gate.shut(gateCut)
	wait(ctx, s.For)
	return v.gate.open(gateCut)
}

func (r *run) halfOpen(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := errors.Join(failed(), v.proxy.Blackhole()); err != nil {
		return err
	}
	wait(ctx, s.For)
	v.proxy.Heal(ctx)
	return nil
}

// loseReplies lets the server carry out some statements whose replies are lost.
func (r *run) loseReplies(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	if err := failed(); err != nil {
		return err
	}
	over, cancel := context.WithTimeout(ctx, s.For)
	defer cancel()
	for k := 1; over.Err() == nil; k = k%7 + 1 {
		select {
		case <-v.proxy.CutReply(write(k)):
		case <-over.Done():
		}
	}
	v.proxy.Heal(ctx)
	return nil
}

// write matches the k-th statement that changes something.
func write(k int) func(query string) bool {
	var mu sync.Mutex
	return func(query string) bool {
		for _, verb := range []string{"REPLACE", "UPDATE", "COMMIT"} {
			if strings.HasPrefix(query, verb) {
				mu.Lock()
				defer mu.Unlock()
				k--
				return k == 0
			}
		}
		return false
	}
}

func (r *run) delay(ctx context.Context, s schedule.Step, v *server, failed func() error) error {
	d := time.Duration(s.Amount) * time.Millisecond
	if err := errors.Join(failed(), v.proxy.Latency(d, d/2)); err != nil {
		return err
	}
	wait(ctx, s.For)
	v.proxy.Heal(ctx)
	return nil
}

// allDown kills every server, and starts them one after the other: the first may be
// any.
func (r *run) allDown(ctx context.Context, s schedule.Step, failed func(*server) error) error {
	var errs []error
	for _, v := range r.servers {
		errs = append(errs, failed(v))
		if v.cluster != nil {
			v.gate.shut(gateDown) // out of reach: all its nodes down is another story
			continue
		}
		errs = append(errs, v.kill())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	wait(ctx, s.For)
	first := int(s.At/time.Millisecond) % len(r.servers)
	for i := range r.servers {
		v := r.servers[(first+i)%len(r.servers)]
		if v.cluster != nil {
			errs = append(errs, v.gate.open(gateDown))
			continue
		}
		errs = append(errs, v.start(ctx))
	}
	return errors.Join(errs...)
}
