package segment_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// childEnv makes the test binary a client: DSNs, separated by blanks.
	childEnv     = "ODDEVEN_SEGMENT_TEST_CHILD"
	childCallers = 32
	childIDs     = 30_000 // at least
)

// child draws IDs until it has enough, prints them and returns the exit code.
func child(dsns string) int {
	if err := childDraws(strings.Fields(dsns)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func childDraws(dsns []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), clienttest.Patience)
	defer cancel()
	cfg := ticket.Config{Timeout: clienttest.Timeout, Conns: 4}
	for _, dsn := range dsns {
		server, err := mysql.ParseDSN(dsn)
		if err != nil {
			return err
		}
		cfg.Servers = append(cfg.Servers, server)
	}
	fleet, err := ticket.Open(ctx, cfg)
	if err != nil {
		return err
	}
	a, err := segment.Open(ctx, fleet, orders, segment.Config{MinStep: 40, MaxStep: 40})
	if err != nil {
		return err
	}
	drawn, errs := drawTogether(ctx, a)
	for _, err := range append(errs, a.Close(), fleet.Close()) {
		if err != nil {
			return err
		}
	}
	w := bufio.NewWriter(os.Stdout)
	for _, s := range drawn {
		if _, err := fmt.Fprintln(w, s.first, s.last); err != nil {
			return err
		}
	}
	return w.Flush()
}

// drawTogether lets many callers race over the boundaries of segments.
func drawTogether(ctx context.Context, a *segment.Allocator) (all spans, errs []error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range childCallers {
		wg.Go(func() {
			var own spans
			var err error
			for own.count() < childIDs/childCallers && err == nil && ctx.Err() == nil {
				var some spans
				batch, stop := context.WithTimeout(ctx, 50*time.Millisecond)
				some, err = drawWhile(batch, a, 1+c%3*20)
				stop()
				own = append(own, some...)
			}
			mu.Lock()
			defer mu.Unlock()
			all, errs = append(all, own...), append(errs, err)
		})
	}
	wg.Wait()
	return all, append(errs, ctx.Err())
}

// Two processes with 32 callers each, small segments, and both servers.
func TestTwoProcessesAndManyCallers(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	l := newLedger()
	outputs, errs := make([][]byte, 2), make([]error, 2)
	var wg sync.WaitGroup
	for p := range outputs {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(servers.DSNs(), " "))
			cmd.Stderr = os.Stderr
			outputs[p], errs[p] = cmd.Output()
		})
	}
	wg.Wait()
	for p, out := range outputs {
		require.NoError(t, errs[p])
		var own spans
		for line := range strings.Lines(string(out)) {
			var s span
			_, err := fmt.Sscan(line, &s.first, &s.last)
			require.NoError(t, err)
			own = append(own, s)
		}
		require.GreaterOrEqual(t, own.count(), int64(childIDs)*9/10)
		l.note(own...)
	}
	l.requireUnique(t)
}
