package schedule

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// All is the target of a fault of every server.
const All = -1

// Step is one planned fault.
type Step struct {
	At     time.Duration // when it begins, from the beginning of the run
	Kind   Kind          //
	Target int           // which server or client, from 0; All for every server
	For    time.Duration // how long it lasts, but for the time that healing takes
	Amount int64         // what else there is to say: see the kinds
}

// String is a line for people.
func (s Step) String() string {
	target := fmt.Sprintf("server %d", s.Target+1)
	if s.Target == All {
		target = "all servers"
	} else if s.Kind.OnClient() {
		target = fmt.Sprintf("client %d", s.Target+1)
	}
	return fmt.Sprintf("%8.3fs  %-20s  %-11s  for %5.3fs  amount %d", s.At.Seconds(), s.Kind, target, s.For.Seconds(), s.Amount)
}

// Config is what a plan depends on.
type Config struct {
	// Seed chooses the plan.
	Seed uint64
	// Duration is that of the run. Nothing is planned for its first second, and
	// everything is over before its end.
	Duration time.Duration
	// Servers and Clients are how many there are to break, at least one each.
	Servers, Clients int
	// Kinds are those to plan. Empty means all that the fleet can have, but for those
	// that have to be asked for.
	Kinds []Kind
	// Cluster says that the last server is a cluster of several nodes.
	Cluster bool
}

const (
	begin = time.Second             // before the first fault
	end   = 2 * time.Second         // after the last one
	rest  = 3 * time.Second         // between two faults of one target, so that it recovers
	gap   = 1500 * time.Millisecond // at most, between two faults of a lane
)

// New plans a run. The steps are in the order of their beginnings.
func New(cfg Config) []Step {
	p := &planner{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x0ddeef)),
		servers: make([]time.Duration, cfg.Servers), networks: make([]time.Duration, cfg.Servers), clients: make([]time.Duration, cfg.Clients)}
	var now [lanes]time.Duration
	for i := range now {
		now[i] = begin + p.between(0, gap)
	}
	// The lane that is behind goes on, so that what it is to keep away from is known.
	for live := []int{laneServer, laneServerToo, laneNetwork, laneClient}; len(live) > 0; {
		next := slices.MinFunc(live, func(a, b int) int { return int(now[a] - now[b]) })
		step, ok := p.step(next, now[next])
		if !ok || step.At+step.For > cfg.Duration-end {
			live = slices.DeleteFunc(live, func(lane int) bool { return lane == next })
			continue
		}
		p.take(step)
		now[next] = step.At + step.For + p.between(0, gap)
	}
	slices.SortStableFunc(p.steps, func(a, b Step) int { return int(a.At - b.At) })
	return p.steps
}

// planner makes a plan. Times are from when on a target may have another fault.
type planner struct {
	cfg      Config
	rng      *rand.Rand
	decks    [lanes][]spec
	servers  []time.Duration
	networks []time.Duration
	clients  []time.Duration
	forgets  time.Duration // from when on another server may forget
	steps    []Step
}

func (p *planner) between(least, most time.Duration) time.Duration {
	d := least + time.Duration(p.rng.Int64N(int64(most-least)+1))
	return d.Truncate(ms)
}

// step plans the next fault of a lane; false if it has none.
func (p *planner) step(lane int, now time.Duration) (Step, bool) {
	s, ok := p.deal(lane)
	if !ok {
		return Step{}, false
	}
	step := Step{Kind: s.kind, For: p.between(s.least, s.most)}
	if len(s.amounts) > 0 {
		step.Amount = s.amounts[p.rng.IntN(len(s.amounts))]
	}
	if s.forgets {
		now = max(now, p.forgets)
	}
	if s.kind == AllDown {
		step.Target, step.At = All, max(now, slices.Max(p.servers))
		return step, true
	}
	free := p.free(s)
	order := p.rng.Perm(len(free))
	best := -1
	for _, i := range order { // the first that is free, else the one that is free first
		if s.fits(p.cfg, i) && (best < 0 || max(free[i], now) < max(free[best], now)) {
			best = i
		}
	}
	step.Target, step.At = best, max(now, free[best])
	return step, true
}

// free is since when the possible targets of a kind are free.
func (p *planner) free(s spec) []time.Duration {
	switch s.lane {
	case laneClient:
		return p.clients
	case laneNetwork:
		return p.networks
	default:
		return p.servers
	}
}

// fits reports whether target i can have such a fault.
func (s spec) fits(cfg Config, i int) bool {
	if s.lane == laneClient || s.kind == AllDown {
		return true
	}
	if cfg.Cluster && i == cfg.Servers-1 {
		return s.cluster
	}
	return s.rest
}

// take notes when the targets of a step are free again.
func (p *planner) take(step Step) {
	s, _ := lookup(step.Kind)
	over := step.At + step.For + rest
	if step.Target == All {
		for i := range p.servers {
			p.servers[i] = over
		}
	} else {
		p.free(s)[step.Target] = over
	}
	if s.forgets {
		p.forgets = over
	}
	p.steps = append(p.steps, step)
}

// deal takes the next kind from the deck of a lane.
func (p *planner) deal(lane int) (spec, bool) {
	from := lane
	if lane == laneServerToo {
		from = laneServer // both deal from one deck
	}
	if len(p.decks[from]) == 0 {
		p.decks[from] = p.deck(from)
	}
	if len(p.decks[from]) == 0 {
		return spec{}, false
	}
	s := p.decks[from][0]
	p.decks[from] = p.decks[from][1:]
	return s, true
}

// deck shuffles the kinds of a lane that the fleet can have.
func (p *planner) deck(lane int) []spec {
	var deck []spec
	for _, s := range all {
		asked := slices.Contains(p.cfg.Kinds, s.kind) || len(p.cfg.Kinds) == 0 && !s.asked
		if s.lane == lane && asked && p.possible(s) {
			deck = append(deck, s)
		}
	}
	p.rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

func (p *planner) possible(s spec) bool {
	if s.lane == laneClient {
		return p.cfg.Clients > 0
	}
	for i := range p.cfg.Servers {
		if s.fits(p.cfg, i) {
			return true
		}
	}
	return false
}

// Hash tells plans apart.
func Hash(steps []Step) string {
	h := fnv.New64a()
	for _, s := range steps {
		_, _ = fmt.Fprintf(h, "%d %s %d %d %d\n", s.At, s.Kind, s.Target, s.For, s.Amount)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// Count is how often each kind is planned.
func Count(steps []Step) map[Kind]int {
	n := map[Kind]int{}
	for _, s := range steps {
		n[s.Kind]++
	}
	return n
}
