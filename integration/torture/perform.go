package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/integration/torture/schedule"
)

// perform makes the faults of the plan, each at its time or as soon after it as its
// target has no other of that kind, and waits until all is well again.
func (r *run) perform(ctx context.Context, steps []schedule.Step) error {
	began := time.Now()
	over := began.Add(r.opts.duration)
	watching, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- r.watch(watching) }()
	for _, s := range steps {
		wait(ctx, time.Until(began.Add(s.At)))
		if ctx.Err() != nil {
			break
		}
		r.work.Go(func() { r.do(ctx, s, over) })
	}
	r.work.Wait()
	wait(ctx, time.Until(over))
	// Whoever is not well in time is found by the checker: it knows since when.
	_ = r.until(ctx, "all is well", func() bool {
		all, _ := r.health.look(r.seen())
		return all
	})
	stop()
	err := errors.Join(<-watched, ctx.Err())
	if err == nil {
		err = r.lines(ctx)
	}
	r.say("faults are over: %s", r.figures())
	return err
}

// watch notes recoveries until ctx ends, and says how far the run is.
func (r *run) watch(ctx context.Context) error {
	look, say := time.NewTicker(50*time.Millisecond), time.NewTicker(15*time.Second)
	defer look.Stop()
	defer say.Stop()
	for {
		select {
		case <-look.C:
			if _, err := r.health.look(r.seen()); err != nil {
				return err
			}
		case <-say.C:
			r.say("%s", r.figures())
		case <-ctx.Done():
			return nil
		}
	}
}

// seen is what the clients have seen that run.
func (r *run) seen() []seenBy {
	all := make([]seenBy, 0, len(r.clients))
	for _, c := range r.clients {
		if s, runs := c.sees(); runs {
			all = append(all, s)
		}
	}
	return all
}

func (r *run) figures() string {
	var ids int64
	for _, c := range r.clients {
		ids += c.total()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	made := 0
	for _, n := range r.made {
		made += n
	}
	return fmt.Sprintf("%d million IDs, %d faults", ids/1_000_000, made)
}

// do makes one fault. What has not begun when the time is over is left out.
func (r *run) do(ctx context.Context, s schedule.Step, over time.Time) {
	targets := r.targets(s)
	for i, use := range targets {
		select {
		case use <- struct{}{}:
		case <-ctx.Done():
			free(targets[:i])
			return
		}
	}
	defer free(targets)
	if s.Kind.Forgets() {
		// The plan keeps those apart, but a slow machine does not keep to the plan; and
		// servers that forget at the same time are more than the documents promise.
		select {
		case r.forget <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
	if time.Now().After(over) {
		if s.Kind.Forgets() {
			<-r.forget
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.late++
		return
	}
	r.say("%s", s)
	err := r.make(ctx, s)
	if s.Kind.Forgets() {
		since := time.Now()
		r.work.Go(func() { r.remembered(ctx, s.Target, since) })
	}
	if s.Kind == schedule.ClusterKill && err == nil {
		err = r.servers[s.Target].rejoin(ctx, s.For)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, errNoDisk), errors.Is(err, errUnsafe):
		r.skipped[s.Kind]++
	case err != nil && ctx.Err() == nil:
		r.found = append(r.found, fmt.Sprintf("fault could not be made or healed: %s: %v", s, err))
		fmt.Fprintf(r.progress, "%s: %v\n", s, err)
	default:
		r.made[s.Kind]++
	}
}

// remembered lets another server forget, when clients use this one again.
func (r *run) remembered(ctx context.Context, server int, since time.Time) {
	_ = r.until(ctx, "a server that forgot is used again", func() bool { return r.health.wellSince(server, since) })
	free(r.witness)
	r.witness = nil
	<-r.forget
}

// targets are what the fault needs to have for itself. Those of the network go with
// any other.
func (r *run) targets(s schedule.Step) []chan struct{} {
	switch {
	case s.Kind.OnClient():
		return []chan struct{}{r.clients[s.Target].use}
	case s.Kind.OnNetwork():
		return []chan struct{}{r.servers[s.Target].network}
	case s.Target == schedule.All:
		all := make([]chan struct{}, len(r.servers))
		for i, v := range r.servers {
			all[i] = v.use
		}
		return all
	default:
		return []chan struct{}{r.servers[s.Target].use}
	}
}

func free(targets []chan struct{}) {
	for _, use := range targets {
		<-use
	}
}

// make makes one fault, and heals it.
func (r *run) make(ctx context.Context, s schedule.Step) error {
	if s.Kind.OnClient() {
		return r.onClient(ctx, s)
	}
	var windows []*window
	failed := func(v *server) error {
		w, err := r.health.failed(v.number, string(s.Kind), fmt.Sprintf("for %s, amount %d", s.For, s.Amount))
		windows = append(windows, w)
		return err
	}
	var err error
	if s.Target == schedule.All {
		err = r.allDown(ctx, s, failed)
	} else {
		v := r.servers[s.Target]
		err = r.faults()[s.Kind](ctx, s, v, func() error { return failed(v) })
	}
	for _, w := range windows {
		err = errors.Join(err, r.health.mended(w, string(s.Kind)))
	}
	if err == nil && !s.Kind.OnNetwork() && s.Target != schedule.All {
		// For rewinds to come: one of a replica that took the server's place only now that
		// it is accepted, or it would have to be accepted again.
		return r.servers[s.Target].snapshot(ctx)
	}
	return err
}

// onClient makes a fault of a client.
func (r *run) onClient(ctx context.Context, s schedule.Step) error {
	c := r.clients[s.Target]
	switch s.Kind {
	case schedule.ClientKill:
		if err := c.kill(); err != nil {
			return err
		}
		wait(ctx, s.For)
		return c.start()
	case schedule.ClientFreeze:
		if err := c.freeze(); err != nil {
			return err
		}
		wait(ctx, s.For)
		return c.thaw()
	case schedule.ClientClock:
		if err := c.clock(s.Amount); err != nil {
			return err
		}
		wait(ctx, s.For)
		return c.clock(0)
	default:
		return fmt.Errorf("%s is no fault of a client", s.Kind)
	}
}
