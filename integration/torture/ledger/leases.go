package ledger

import (
	"cmp"
	"slices"
)

// holding is a lease of a process, put together from its records.
type holding struct {
	process, holder string
	worker          int64
	from, until     int64
	released        bool
}

// tenancy is a worker number in a process.
type tenancy struct {
	process string
	worker  int64
}

// leases are all that was logged. They are built first, and only read after that.
type leases struct {
	order []*holding // as they were logged first
	byKey map[holding]*holding
	byWho map[tenancy][]*holding
}

func newLeases() *leases {
	return &leases{byKey: map[holding]*holding{}, byWho: map[tenancy][]*holding{}}
}

// add takes a record. Those of a process come in their order.
func (ls *leases) add(l Lease) {
	key := holding{process: l.Process, holder: l.Holder, worker: l.Worker}
	h := ls.byKey[key]
	if h == nil {
		h = &holding{process: l.Process, holder: l.Holder, worker: l.Worker, from: l.FromTick}
		ls.byKey[key] = h
		ls.order = append(ls.order, h)
		who := tenancy{l.Process, l.Worker}
		ls.byWho[who] = append(ls.byWho[who], h)
	}
	h.from, h.until, h.released = min(h.from, l.FromTick), l.UntilTick, l.Released
}

// of returns the leases of a worker number in a process.
func (ls *leases) of(process string, worker int64) []*holding {
	return ls.byWho[tenancy{process, worker}]
}

// rectangles puts the leases of each holder together, over the processes that took
// it up one after the other. Whoever released it has ended it for all.
func (ls *leases) rectangles() []*holding {
	merged := map[holding]*holding{}
	var all []*holding
	for _, h := range ls.order {
		key := holding{holder: h.holder, worker: h.worker}
		m := merged[key]
		if m == nil {
			c := *h
			merged[key] = &c
			all = append(all, &c)
			continue
		}
		m.from = min(m.from, h.from)
		switch {
		case m.released == h.released && m.released:
			m.until = min(m.until, h.until)
		case m.released == h.released:
			m.until = max(m.until, h.until)
		case h.released:
			m.until, m.released = h.until, true
		}
		m.process += ", " + h.process
	}
	return all
}

// check finds rectangles of one worker number that overlap.
func (ls *leases) check(f *findings) int {
	all := ls.rectangles()
	slices.SortStableFunc(all, func(a, b *holding) int {
		return cmp.Or(cmp.Compare(a.worker, b.worker), cmp.Compare(a.from, b.from))
	})
	for i, a := range all {
		for _, b := range all[i+1:] {
			if b.worker != a.worker || b.from >= a.until {
				break
			}
			if b.until > b.from {
				f.add(KindLease, 1, "worker %d: ticks [%d, %d) of holder %s in %s, and [%d, %d) of holder %s in %s overlap",
					a.worker, a.from, a.until, a.holder, a.process, b.from, b.until, b.holder, b.process)
			}
		}
	}
	return len(all)
}
