package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/torture/order"
	"github.com/oddeven/oddeven/snowflake"
)

// call makes a call, as long as the patience of the order allows, and notes it if
// it fails or takes long. What failed because the client is being stopped is no
// failure.
func (p *process) call(ctx context.Context, source string, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, p.order.Patience)
	defer cancel()
	began, since := now(), time.Now()
	err := do(bounded)
	took := time.Since(since)
	if ctx.Err() != nil || err == nil && took < p.order.Slow {
		return err
	}
	c := order.Call{Process: p.order.Process, Source: source, Began: began, Took: took}
	if err != nil {
		c.Err, c.NoWorker = shortened(err.Error()), noWorker(err)
	}
	if noted := p.note(c); noted != nil {
		return noted
	}
	return err
}

// shortened is enough of an error to see what it was.
func shortened(text string) string {
	const most = 1000
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// noWorker reports whether a call of the facade failed because there was no worker
// to fall back on, for a reason that the documents name.
func noWorker(err error) bool {
	none, ok := errors.AsType[*oddeven.UnavailableError](err)
	if !ok || none.Worker == nil {
		return false
	}
	return true
}

// over reports whether a worker is of no use any more, as the documents say it may
// be.
func over(err error) bool {
	return errors.Is(err, snowflake.ErrLeaseEnded) || errors.Is(err, snowflake.ErrLeaseLost)
}

// note writes a call down. It has reached the kernel when note returns.
func (p *process) note(c order.Call) error {
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("note call: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.calls.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("note call: %w", err)
	}
	return nil
}
