package oddeven

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/oddeven/oddeven/ticket"
)

// Client is one application's way to a fleet: its connections, its Generators and
// the worker that they fall back on. All methods are safe for concurrent use. It
// owns the goroutines of the packages below and, of its own, one that keeps the
// worker, one for each sequence that no server has told of yet, and one while no
// server has been reached. Close ends them all.
type Client struct {
	cfg     Config
	reserve *reserve // the worker
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup // Add only under mu and before closed
	once    sync.Once      // Close
	err     error          // of Close

	reached chan struct{}                // closed when fleet is set
	fleet   atomic.Pointer[ticket.Fleet] // set once; nil until a server was reached
	wrong   atomic.Pointer[error]        // why nothing may be handed out any more

	mu         sync.Mutex // guards all below; never held across I/O
	closed     bool
	scheme     scheme
	unreached  error // why no server has been reached yet
	generators map[string]*Generator
}

// Open connects to the servers and succeeds when at least one is in order; the
// others are probed in the background, and a worker is leased there (see Ready).
// When none is, Open succeeds if the lease in Config.Worker.StateFile can be taken
// up: then Generators make IDs with the worker until a server answers. ctx bounds
// the opening only.
//
// Open checks that IDs of segments and of workers can't meet. Errors: a
// *ticket.ConfigError; a *PlaneError with the arithmetic; a
// *snowflake.LayoutConflictError; a *ticket.ServerError of kind ticket.ErrForeign if
// the servers do not belong together; an *UnavailableError with one
// *ticket.ServerError for each server; ctx's own.
func Open(ctx context.Context, cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := newClient(cfg)
	fleet, s, err := c.connect(ctx)
	switch {
	case err == nil:
		c.reach(fleet, s)
	case errors.Is(err, ticket.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded):
		err = c.openWithout(err)
	}
	if err != nil {
		c.cancel()
		return nil, err
	}
	if cfg.needsWorker() {
		c.background(c.keepWorker)
	}
	return c, nil
}

func newClient(cfg Config) *Client {
	c := &Client{cfg: cfg, reserve: newReserve(cfg.needsWorker()), reached: make(chan struct{}), generators: map[string]*Generator{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// connect opens the fleet and checks how its IDs are put together.
func (c *Client) connect(ctx context.Context) (*ticket.Fleet, scheme, error) {
	fleet, err := ticket.Open(ctx, c.cfg.tickets())
	if err != nil {
		return nil, scheme{}, err
	}
	row, err := readSettings(ctx, fleet)
	var s scheme
	if err == nil {
		s, err = row.scheme(fleet.Stats().Fleet, c.cfg.Worker)
	}
	if err != nil {
		return nil, s, errors.Join(err, fleet.Close())
	}
	return fleet, s, nil
}

// reach takes over a fleet.
func (c *Client) reach(fleet *ticket.Fleet, s scheme) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scheme, c.unreached = s, nil
	c.fleet.Store(fleet)
	close(c.reached)
}

// background starts a goroutine that ends with the Client; not after Close.
func (c *Client) background(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.backgroundLocked(f)
}

func (c *Client) backgroundLocked(f func()) {
	if !c.closed {
		c.work.Go(f)
	}
}

// Tickets returns the fleet, for tickets and for what else package ticket offers;
// it belongs to the Client. Tickets are one sequence of their own, without shard
// bits. The error is an *UnavailableError while no server has been reached, which
// can be only if Open took up a lease, or a *PlaneError if that lease turned out to
// be another fleet's.
func (c *Client) Tickets() (*ticket.Fleet, error) {
	if wrong := c.wrong.Load(); wrong != nil {
		return nil, *wrong
	}
	if fleet := c.fleet.Load(); fleet != nil {
		return fleet, nil
	}
	return nil, &UnavailableError{Servers: c.whyUnreached()}
}

// ShardBits is how many of the lowest bits of every ID name a shard; 0 if none do.
// It never changes.
func (c *Client) ShardBits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scheme.bits
}

// FailBack calls Generator.FailBack of all sequences.
func (c *Client) FailBack() {
	for _, g := range c.all() {
		g.FailBack()
	}
}

// all are the Generators there are.
func (c *Client) all() []*Generator {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*Generator, 0, len(c.generators))
	for _, g := range c.generators {
		all = append(all, g)
	}
	return all
}

func (c *Client) isClosed() bool { return c.ctx.Err() != nil }

// refused is why nothing may be handed out any more, nil as a rule.
func (c *Client) refused() error {
	if c.isClosed() {
		return ErrClosed
	}
	if wrong := c.wrong.Load(); wrong != nil {
		return *wrong
	}
	return nil
}

// whyDown is why every server is down, nil if one is not known to be.
func (c *Client) whyDown() error {
	fleet := c.fleet.Load()
	if fleet == nil {
		return c.whyUnreached()
	}
	errs := []error{errors.New("no server is up")}
	for _, s := range fleet.Stats().Servers {
		if s.State != ticket.StateDown {
			return nil
		}
		errs = append(errs, s.Err)
	}
	return errors.Join(errs...)
}

// Close ends the Client: calls that wait get ErrClosed, every goroutine is joined,
// the worker's number is released, for which it waits 5 seconds at most, and all
// connections are closed. The error is that of the release or of a connection. It
// may be called again, and returns the same.
func (c *Client) Close() error {
	c.once.Do(func() {
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		c.cancel()
		c.work.Wait()
		var errs []error
		for _, g := range c.all() {
			if a := g.opened.Load(); a != nil {
				errs = append(errs, a.Close())
			}
		}
		errs = append(errs, c.reserve.close())
		if fleet := c.fleet.Load(); fleet != nil {
			errs = append(errs, fleet.Close())
		}
		c.err = errors.Join(errs...)
	})
	return c.err
}
