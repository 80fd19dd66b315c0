package testfleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A chain is what one fleet puts in front of one server:
//
//	client ── tap ── toxiproxy ── server
//
// The tap reads the protocol and cuts, toxiproxy delays, throttles and
// swallows. Both run in this process and listen on 127.0.0.1.
type chain struct {
	tap   *tap
	toxic *toxiproxy.Proxy
}

// newChain opens a chain to the server at upstream.
func newChain(upstream string) (*chain, error) {
	toxic, err := newToxic(upstream)
	if err != nil {
		return nil, err
	}
	tap, err := newTap(toxic.Listen)
	if err != nil {
		toxic.Stop()
		return nil, err
	}
	return &chain{tap: tap, toxic: toxic}, nil
}

func newToxic(upstream string) (*toxiproxy.Proxy, error) {
	silence()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()) // holds settings; never listens
	toxic := toxiproxy.NewProxy(api, upstream, "127.0.0.1:0", upstream)
	if err := toxic.Start(); err != nil {
		return nil, fmt.Errorf("open fault proxy: %w", err)
	}
	return toxic, nil
}

// retarget makes the chain lead to another server, without any faults. The tap
// keeps its port.
func (c *chain) retarget(upstream string) error {
	toxic, err := newToxic(upstream)
	if err != nil {
		return err
	}
	c.tap.disarm()
	c.tap.lead(toxic.Listen)
	c.toxic.Stop()
	c.toxic = toxic
	return nil
}

// silence turns off toxiproxy's log, a part of which goes to a global logger.
var silence = sync.OnceFunc(func() { zerolog.SetGlobalLevel(zerolog.Disabled) })

// close ends both proxies and their connections.
func (c *chain) close() {
	c.tap.close()
	c.toxic.Stop()
}

// latency delays replies; see [Server.Latency].
func (c *chain) latency(d, jitter time.Duration) error {
	return c.set("latency", "downstream", map[string]any{
		"latency": d.Milliseconds(), "jitter": jitter.Milliseconds(),
	})
}

// bandwidth throttles both directions, each to kbps kilobytes a second.
func (c *chain) bandwidth(kbps int) error {
	attributes := map[string]any{"rate": kbps}
	return errors.Join(
		c.set("bandwidth", "upstream", attributes),
		c.set("bandwidth", "downstream", attributes))
}

// blackhole swallows everything in both directions, without an end.
func (c *chain) blackhole() error {
	attributes := map[string]any{"timeout": 0}
	return errors.Join(
		c.set("timeout", "upstream", attributes),
		c.set("timeout", "downstream", attributes))
}

// heal takes back all faults.
func (c *chain) heal(ctx context.Context) {
	c.tap.disarm()
	c.toxic.Toxics.ResetToxics(ctx)
}

// set adds a toxic or changes the one of that kind and direction.
func (c *chain) set(kind, direction string, attributes map[string]any) error {
	name := kind + "_" + direction
	spec, err := json.Marshal(map[string]any{
		"name": name, "type": kind, "stream": direction, "toxicity": 1, "attributes": attributes,
	})
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	if c.toxic.Toxics.GetToxic(name) != nil {
		_, err = c.toxic.Toxics.UpdateToxicJson(name, bytes.NewReader(spec))
	} else {
		_, err = c.toxic.Toxics.AddToxicJson(bytes.NewReader(spec))
	}
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}
