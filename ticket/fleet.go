package ticket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

// Fleet draws tickets from all its servers in turn. All methods are safe for
// concurrent use. A Fleet owns its connections and two goroutines per server
// (keeper and lane) and one for upkeep, which Close ends.
type Fleet struct {
	cfg     Config
	name    string // of this client, for people
	servers []*server
	turn    atomic.Uint64
	ctx     context.Context // ends with Close; bounds all goroutines
	cancel  context.CancelFunc
	workers sync.WaitGroup // keepers, lanes and upkeep

	mu       sync.Mutex // guards all below; never held across I/O
	closed   bool
	calls    sync.WaitGroup // Add only under mu and before closed
	fleet    schema.Server  // settings that every server must share; zero until the first row is read
	admitted map[int64]*admitted
	rounds   map[string]int64 // see Seen
}

// Open connects to the servers and succeeds when at least one is in order; the
// others are probed in the background. ctx bounds the opening only. It returns
// a *ConfigError for a bad configuration, a *ServerError of kind ErrForeign when
// the servers do not belong together (two DSNs for one server, equal offsets,
// another fleet), and ErrUnavailable, with one *ServerError for each server, when
// none is in order.
func Open(ctx context.Context, cfg Config) (*Fleet, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := newFleet(cfg)
	if err != nil {
		return nil, err
	}
	for _, s := range f.servers {
		f.workers.Go(func() { f.keep(s) })
		f.workers.Go(func() { s.lane.run(f.ctx) })
	}
	f.workers.Go(f.upkeep)
	if err := f.await(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// newFleet makes a fleet without goroutines and connections.
func newFleet(cfg Config) (*Fleet, error) {
	f := &Fleet{cfg: cfg, name: clientName(), admitted: map[int64]*admitted{}, rounds: map[string]int64{}}
	for i, sc := range cfg.Servers {
		s, err := newServer(sc, cfg)
		if err != nil {
			for _, made := range f.servers {
				_ = made.close() // has no connection yet
			}
			return nil, &ConfigError{Field: fmt.Sprintf("Servers[%d]", i), Remedy: err.Error()}
		}
		f.servers = append(f.servers, s)
	}
	f.turn.Store(rand.Uint64()) // many short-lived clients must not all begin with the same server
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// await waits for the first judgement of every keeper.
func (f *Fleet) await(ctx context.Context) error {
	up := false
	var errs []error
	for _, s := range f.servers {
		if checking := s.checking(); checking != nil {
			select {
			case <-checking:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if s.is(StateUp) {
			up = true
			continue
		}
		err := s.lastError()
		if errors.Is(err, ErrForeign) {
			return err
		}
		errs = append(errs, err)
	}
	if up {
		return nil
	}
	return errors.Join(append([]error{ErrUnavailable}, errs...)...)
}

// Next returns one ticket, at least 1 and below 2^53. Calls at the same time
// share statements. It waits for the network and ends with ctx; a call cut short
// may leave a gap. Errors: ErrClosed, ctx's own, or ErrUnavailable when every
// server failed, which happens at once if all are known to be down; it wraps
// ErrExhausted if tickets have reached their ceiling.
func (f *Fleet) Next(ctx context.Context) (int64, error) {
	r := request{rows: 1}
	if err := f.draw(ctx, &r); err != nil {
		return 0, err
	}
	return r.first, nil
}

// NextN fills ids with tickets, all different, in no promised order: all or
// nothing. len(ids) must be 1 to MaxN. Errors are those of Next, and a
// *ConfigError for a length out of range; what had been drawn by then is
// abandoned.
func (f *Fleet) NextN(ctx context.Context, ids []int64) error {
	if len(ids) < 1 || len(ids) > MaxN {
		return &ConfigError{Field: "len(ids)", Value: len(ids), Remedy: fmt.Sprintf("must be 1 to %d", MaxN)}
	}
	for done := 0; done < len(ids); {
		r := request{rows: min(stubsPerConn, len(ids)-done)}
		if err := f.draw(ctx, &r); err != nil {
			clear(ids)
			return err
		}
		for range r.rows {
			ids[done] = r.first
			r.first += r.step
			done++
		}
	}
	return nil
}

// draw fills the request from the next server that can.
func (f *Fleet) draw(ctx context.Context, r *request) error {
	return f.each(ctx, func(s *server) error {
		// A caller that left early leaves its request to the lane, so every
		// attempt has its own.
		attempt := &request{rows: r.rows, done: make(chan struct{}, 1)}
		err := s.lane.draw(ctx, attempt)
		if err != nil && ctx.Err() != nil {
			return err
		}
		r.first, r.step = attempt.first, attempt.step
		return err
	})
}

// Do runs fn with a verified connection to the next server that is up, and if
// that fails with the ones after it. It waits for servers that are being checked
// only if none that is up could do it. The context given to fn also ends after
// Config.Timeout. An error that a statement returned takes the server out until
// it has been checked; after any other error of fn it stays. fn must be prepared
// to run several times, also on the same server. Errors: ErrClosed, ctx's own, or
// ErrUnavailable with one *ServerError per server.
func (f *Fleet) Do(ctx context.Context, fn func(context.Context, *Conn) error) error {
	return f.each(ctx, func(s *server) error { return s.do(ctx, fn) })
}

// Each runs fn on every server that is up, side by side, with a verified
// connection; it waits for servers that are being checked. The errors are in the
// order of Config.Servers: nil where fn succeeded, else a *ServerError that says
// why it did not, or was not run; after Close, or when ctx ends, ErrClosed or
// ctx's own. What Do says about fn holds here as well.
func (f *Fleet) Each(ctx context.Context, fn func(context.Context, *Conn) error) []error {
	errs := make([]error, len(f.servers))
	if err := f.enter(); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	defer f.calls.Done()
	var wg sync.WaitGroup
	for i, s := range f.servers {
		wg.Go(func() {
			// Again, because its connections may tell that a server has to be checked.
			for range maxRaces {
				if errs[i] = f.wait(ctx, s); errs[i] != nil {
					return
				}
				if errs[i] = s.do(ctx, fn); errs[i] == nil || s.is(StateUp) || ctx.Err() != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errs
}

// wait waits until a server has been checked; the error is why it is not up.
func (f *Fleet) wait(ctx context.Context, s *server) error {
	if checking := s.checking(); checking != nil {
		select {
		case <-checking:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.ctx.Done():
			return ErrClosed
		}
	}
	if !s.is(StateUp) {
		return s.lastError()
	}
	return nil
}

// Name is this client for people: its host and process.
func (f *Fleet) Name() string { return f.name }

// Seen notes that a round of a sequence is known to be reserved, on whichever
// server: a fence that this client runs takes the sequence above it, or holds it
// back. It does no I/O.
func (f *Fleet) Seen(sequence string, round int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rounds[sequence] = max(f.rounds[sequence], round)
}

// seen are the rounds that were noted, as the fence wants them.
func (f *Fleet) seen() []sequence {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]sequence, 0, len(f.rounds))
	for name, round := range f.rounds {
		all = append(all, sequence{Name: []byte(name), Rounds: round})
	}
	return all
}

const (
	// maxPasses bounds how often a call tries the servers.
	maxPasses = 3
	// maxChanges is how many passes more it makes in which a server had to be checked
	// again because it changed, within the time that a check may take: a server that is
	// told of a new start of another one is checked again, and in a fleet where several
	// start at once that goes on for a while.
	maxChanges = 16
)

// each tries the servers that are up, one after the other, from the next in
// turn on, those that stall last. When none of them could, it waits for those that
// are being checked and tries again, because one may fail once more right after its
// check.
func (f *Fleet) each(ctx context.Context, try func(*server) error) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.calls.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	start, began := int(f.turn.Add(1)%uint64(len(f.servers))), time.Now()
	errs := make([]error, len(f.servers))
	for passes, changes := 0, 0; ; {
		stays := make([]bool, len(f.servers)) // failed, and is up nevertheless
		changed := false
		for _, at := range f.order(start) {
			s := f.servers[at]
			if f.ctx.Err() != nil {
				return ErrClosed
			}
			if s.is(StateUp) {
				err := try(s)
				if err == nil || errors.Is(err, ErrClosed) || ctx.Err() != nil {
					return err
				}
				errs[at], stays[at] = err, s.is(StateUp)
			} else {
				errs[at] = s.lastError()
			}
			changed = changed || isChange(errs[at])
		}
		if changed && changes < maxChanges && time.Since(began) <= checkFor*f.cfg.Timeout {
			changes++
		} else {
			passes++
		}
		if passes == maxPasses {
			break
		}
		if hope, err := f.settle(ctx, stays); err != nil {
			return err
		} else if !hope {
			break
		}
	}
	return errors.Join(append([]error{ErrUnavailable}, errs...)...)
}

// order is the servers from start on, those that stall last.
func (f *Fleet) order(start int) []int {
	order := make([]int, 0, len(f.servers))
	var last []int
	for i := range f.servers {
		at := (start + i) % len(f.servers)
		if f.servers[at].stalls() {
			last = append(last, at)
		} else {
			order = append(order, at)
		}
	}
	return append(order, last...)
}

// settle waits until a server is known to be up, and reports false if all are
// known not to be. Those that stay up although they could not do what was asked do
// not count as long as another one is being checked.
func (f *Fleet) settle(ctx context.Context, stays []bool) (bool, error) {
	for i, s := range f.servers {
		if !stays[i] && s.is(StateUp) {
			return true, nil
		}
	}
	for _, s := range f.servers {
		if checking := s.checking(); checking != nil {
			select {
			case <-checking:
			case <-ctx.Done():
				return false, ctx.Err()
			case <-f.ctx.Done():
				return false, ErrClosed
			}
			if s.is(StateUp) {
				return true, nil
			}
		}
	}
	return slices.ContainsFunc(f.servers, func(s *server) bool { return s.is(StateUp) }), nil
}

// enter counts a call, so that Close can wait for it.
func (f *Fleet) enter() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.calls.Add(1)
	return nil
}

// Close ends the calls under way with ErrClosed (a function given to Do is
// waited for, at most Config.Timeout), joins every goroutine and closes every
// connection. It may be called again.
func (f *Fleet) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.calls.Wait()
	f.workers.Wait()
	var errs []error
	for _, s := range f.servers {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
