package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/order"
	"github.com/oddeven/oddeven/snowflake"
)

// newTestRun is a run of two servers without any process.
func newTestRun(t *testing.T) *run {
	t.Helper()
	w, err := ledger.Create(filepath.Join(t.TempDir(), "driver"+ledger.Extension))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return &run{ledger: w, health: newHealth(w, 2), servers: make([]*server, 2)}
}

func TestServerRecoversWhenAllClientsHaveSeenIt(t *testing.T) {
	t.Parallel()
	h := newTestRun(t).health
	start := time.Now().Add(-time.Hour)
	one, err := h.failed(0, "server-kill", "")
	require.NoError(t, err)
	two, err := h.failed(0, "net-cut", "")
	require.NoError(t, err)
	recovered := func(clients ...seenBy) bool {
		all, err := h.look(clients)
		require.NoError(t, err)
		return all
	}
	late := time.Now().Add(time.Hour)
	fresh := seenBy{since: start, seen: []time.Time{late, late}}
	require.NoError(t, h.mended(one, "server-kill"))
	require.False(t, recovered(fresh), "another fault lasts")
	require.NoError(t, h.mended(two, "net-cut"))
	require.False(t, recovered(), "nobody has seen it")
	require.False(t, recovered(fresh, seenBy{since: start, seen: []time.Time{start, late}}), "one has not")
	require.True(t, recovered(fresh, seenBy{since: late, seen: []time.Time{start, late}}), "one was started since")
	n, median, _ := h.figures()
	require.Equal(t, 1, n)
	require.InDelta(t, time.Hour, median, float64(time.Minute))
	require.True(t, recovered(), "nothing is left to wait for")
}

func TestCallsMayFailWhileEveryServerIsAffected(t *testing.T) {
	t.Parallel()
	r := newTestRun(t)
	now := time.Now()
	call := func(source, text string, noWorker bool) order.Call {
		return order.Call{Process: "c1.1", Source: source, Began: now, Took: time.Second, Err: text, NoWorker: noWorker}
	}
	facade, tickets := call(order.JobFacade, "no IDs", true), call(order.JobTicket, "no server", false)
	require.False(t, r.allowed(tickets))
	require.False(t, r.allowed(facade), "every server is in order, and it has had time to find a worker")
	newborn := r.newClient(0)
	newborn.began["c1.1"] = now.Add(-time.Second)
	r.clients = []*client{newborn}
	require.True(t, r.allowed(facade), "it has just begun")
	newborn.began["c1.1"] = now.Add(-time.Minute)
	require.False(t, r.allowed(facade))
	w, err := r.health.failed(0, "server-kill", "")
	require.NoError(t, err)
	require.False(t, r.allowed(tickets), "the other server is in order")
	require.True(t, r.allowed(facade), "its worker may have been on the server that is not")
	require.False(t, r.allowed(call(order.JobFacade, "no IDs", false)))
	_, err = r.health.failed(1, "net-cut", "")
	require.NoError(t, err)
	require.True(t, r.allowed(tickets))
	require.True(t, r.allowed(call(order.JobTicket, "", false)), "it only took long")
	require.False(t, r.allowed(call(order.JobFacade, "no IDs", false)), "its worker must do without servers")

	require.NoError(t, r.health.mended(w, "server-kill"))
	require.True(t, r.allowed(tickets), "the process has not seen the server since")
	seen := time.Now()
	r.health.saw("c1.1", []time.Time{seen, {}})
	after := call(order.JobTicket, "no server", false)
	after.Began = seen.Add(time.Minute)
	require.False(t, r.allowed(after), "the first server was in order")
	require.True(t, r.allowed(tickets), "it was not, then")
}

func TestWorkersMayLoseTheirLease(t *testing.T) {
	t.Parallel()
	r := newTestRun(t)
	for _, err := range []error{&snowflake.LeaseEndedError{Worker: 3}, &snowflake.LeaseLostError{Worker: 3}} {
		require.True(t, r.allowed(order.Call{Source: order.JobWorker, Err: err.Error()}), "%v", err)
	}
	require.False(t, r.allowed(order.Call{Source: order.JobWorker, Err: context.DeadlineExceeded.Error()}))
}

func TestTimeInWhichAProcessWasFrozen(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	c := &client{freezes: []span{{"c1.1", at(10), at(20)}, {"c1.1", at(30), at(40)}, {"c1.2", at(0), at(100)}}}
	require.Equal(t, 8*time.Second, c.wasFrozen("c1.1", at(15), at(33)))
	require.Zero(t, c.wasFrozen("c1.1", at(20), at(30)))
	require.Zero(t, c.wasFrozen("c2.1", at(0), at(100)))
}
