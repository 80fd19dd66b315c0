package doctor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/ticket"
)

const defaultTimeout = 5 * time.Second

// Config says how to examine.
type Config struct {
	Timeout time.Duration // for each server, all of it. Defaults to 5 seconds
	Logger  *slog.Logger  // gets what the clients' own survey says. Defaults to none
}

// Examine looks at every server, side by side, and changes nothing. A server
// that does not answer is bad, and the others are examined all the same. ctx
// bounds it as a whole. The error is a *ticket.ConfigError: nothing was examined.
func Examine(ctx context.Context, servers []*mysql.Config, cfg Config) (Report, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	fleet := make([]*facts, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() { fleet[i] = examine(ctx, server, cfg.Timeout) })
	}
	inspections, err := ticket.Inspect(ctx, ticket.Config{Servers: servers, Timeout: cfg.Timeout, Logger: cfg.Logger})
	wg.Wait()
	if err != nil {
		return Report{}, err
	}
	reports := make([]Server, len(fleet))
	for i, f := range fleet {
		f.inspection = inspections[i]
	}
	for i, f := range fleet {
		reports[i] = newServer(f.label, judge(f, fleet))
	}
	return newReport(reports), nil
}

// examine reads the facts of one server.
func examine(ctx context.Context, server *mysql.Config, timeout time.Duration) *facts {
	f := &facts{label: dsn.Label(server)}
	prepared, err := dsn.Prepare(server)
	if err != nil {
		f.err = err
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f.label, f.database = dsn.Label(prepared), prepared.DBName
	f.socket, f.loopback = route(ctx, prepared)
	f.verified = prepared.TLS != nil && !prepared.TLS.InsecureSkipVerify
	if err := read(ctx, prepared, f); err != nil {
		return &facts{label: f.label, database: f.database, err: err}
	}
	return f
}
