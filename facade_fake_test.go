package oddeven

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// newTestClient is a Client without servers: what Open leaves behind when one was
// reached.
func newTestClient(t testing.TB, cfg Config, bits int) *Client {
	t.Helper()
	cfg, err := cfg.withDefaults()
	require.NoError(t, err)
	layout, err := snowflake.ParseLayout("time:41,worker:10,sequence:12;unit=1ms;epoch=1970-01-01T00:00:00Z") // for bubbles too
	require.NoError(t, err)
	layout, err = layout.WithShardBits(bits)
	require.NoError(t, err)
	c := newClient(cfg)
	c.scheme = scheme{increment: 2, bits: bits, layout: layout}
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// source is a Source that can stop answering, or fail.
type source struct {
	segment.Memory
	silent chan struct{} // Reserve waits until it is closed, if it is not nil
}

func (s *source) Reserve(ctx context.Context, floor, count int64) (segment.Range, error) {
	if s.silent != nil {
		select {
		case <-s.silent:
		case <-ctx.Done():
			return segment.Range{}, ctx.Err()
		}
	}
	return s.Memory.Reserve(ctx, floor, count)
}

// newTestGenerator is a Generator over a source, in segments of step IDs.
func newTestGenerator(t testing.TB, c *Client, s segment.Source, name string, step int64) *Generator {
	t.Helper()
	cfg := c.cfg.segments(c.cfg.of(name))
	cfg.MinStep, cfg.MaxStep = step, step
	a, err := segment.New(context.Background(), s, cfg)
	require.NoError(t, err)
	g, err := c.add(name, a, nil)
	require.NoError(t, err)
	return g
}

// useWorker gives the Client a worker with a number by hand.
func useWorker(t testing.TB, c *Client) {
	t.Helper()
	w, err := snowflake.New(7, snowflake.Config{Layout: c.scheme.layout})
	require.NoError(t, err)
	c.reserve.set(w, true)
}

// errDown is what a fleet says of which every server is down.
var errDown = ticket.ErrUnavailable

// bounded is a context that ends with the test.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
