package segment_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/segment"
)

// world is two servers, two clients, and what may happen to them. The model is
// that no ID comes twice and that those of one Allocator rise.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	servers *testfleet.Fleet
	down    [2]bool
	backup  [2]*testfleet.Snapshot
	clients []client
	ledger  *ledger
}

// events are what may happen; the second half takes seconds, and is rarer.
var events = []struct {
	name   string
	often  int
	happen func(*world, int)
}{
	{"draw", 12, (*world).draw},
	{"drawMany", 6, (*world).drawMany},
	{"try", 4, (*world).try},
	{"cutReply", 4, (*world).cutReply},
	{"reopen", 2, (*world).reopen},
	{"kill", 1, (*world).kill},
	{"start", 2, (*world).start},
	{"restart", 1, (*world).restart},
	{"backUp", 1, (*world).backUp},
	{"restore", 2, (*world).restore},
}

func TestNothingThatHappensRepeatsAnID(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	servers := newFleet(t, 2)
	clienttest.AnyIdentity(t, servers)
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 0)), servers: servers, ledger: newLedger(), clients: make([]client, 2)}
	for i, s := range servers.Servers {
		w.backup[i] = s.Snapshot()
	}
	for i := range w.clients {
		w.clients[i] = w.open()
	}
	var story []string
	for range 60 {
		event, which := w.choose(), w.rand.IntN(2)
		story = append(story, fmt.Sprintf("%s %d", events[event].name, which))
		events[event].happen(w, which)
		if t.Failed() {
			break
		}
	}
	for i := range servers.Servers {
		w.start(i)
	}
	for i := range w.clients {
		w.draw(i)
	}
	if err := w.ledger.all.duplicate(); err != nil {
		t.Fatalf("%v after %v", err, story)
	}
}

// choose picks an event, the frequent ones more often.
func (w *world) choose() int {
	sum := 0
	for _, e := range events {
		sum += e.often
	}
	at := w.rand.IntN(sum)
	for i, e := range events {
		if at -= e.often; at < 0 {
			return i
		}
	}
	return 0
}

func (w *world) open() client {
	step := int64(1 + w.rand.IntN(300))
	return open(w.t, segment.Config{MinStep: step, MaxStep: step}, w.servers.DSNs()...)
}

func (w *world) allDown() bool { return w.down[0] && w.down[1] }

// draw draws as long as a server is there, or what is at hand.
func (w *world) draw(i int) {
	if w.allDown() {
		w.try(i)
		return
	}
	w.ledger.draw(w.t, w.clients[i].Allocator, 1+w.rand.IntN(400))
}

func (w *world) drawMany(i int) {
	ids := make([]int64, 1+w.rand.IntN(1000))
	ctx := clienttest.Bounded(w.t)
	if w.allDown() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
	}
	if err := w.clients[i].NextN(ctx, ids); err == nil {
		w.ledger.rising(w.t, w.clients[i].Allocator, ids)
	} else {
		require.True(w.t, w.allDown(), "%v", err)
	}
}

func (w *world) try(i int) {
	for range 200 {
		if id, ok := w.clients[i].TryNext(); ok {
			w.ledger.rising(w.t, w.clients[i].Allocator, []int64{id})
		}
	}
}

func (w *world) cutReply(i int) { w.servers.Servers[i].CutReply(isReserve) }

func (w *world) reopen(i int) {
	if !w.allDown() {
		w.clients[i].close(w.t)
		w.clients[i] = w.open()
	}
}

func (w *world) kill(i int) {
	if !w.down[i] {
		w.servers.Servers[i].Kill()
		w.down[i] = true
	}
}

func (w *world) start(i int) {
	if w.down[i] {
		w.servers.Servers[i].Start()
		w.down[i] = false
	}
}

func (w *world) restart(i int) {
	w.kill(i)
	w.start(i)
}

func (w *world) backUp(i int) {
	if !w.down[i] {
		w.backup[i] = w.servers.Servers[i].Snapshot()
	}
}

func (w *world) restore(i int) {
	w.kill(i)
	w.servers.Servers[i].RestartFrom(w.backup[i])
	w.down[i] = false
}
