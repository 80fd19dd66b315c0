package ledger

import "time"

// target is what an event is about.
type target struct{ server, client string }

func (t target) String() string {
	switch {
	case t.server != "":
		return "server " + t.server
	case t.client != "":
		return "client " + t.client
	}
	return "the fleet"
}

// patient is a target between its fault and its recovery.
type patient struct {
	faults map[string]int // that are not healed
	waits  bool           // for it to recover: all are healed
	healed time.Time
	last   string // healed last
}

// recoveries follows the events of a run. A target must have recovered within some
// time after the last of its faults is healed, unless there is another one before.
type recoveries struct {
	within   time.Duration
	f        *findings
	patients map[target]*patient
	order    []target
}

// check fills in what the Report says of faults.
func checkEvents(events []Event, within time.Duration, f *findings, r *Report) {
	byTime(events)
	rs := recoveries{within: within, f: f, patients: map[target]*patient{}}
	r.Faults = map[string]int{}
	for _, e := range events {
		t := target{e.Server, e.Client}
		p := rs.patients[t]
		if p == nil {
			p = &patient{faults: map[string]int{}}
			rs.patients[t] = p
			rs.order = append(rs.order, t)
		}
		switch e.Kind {
		case EventFault:
			r.Faults[e.fault()]++
			rs.fault(t, p, e)
		case EventHealed:
			rs.healed(t, p, e)
		case EventRecovered:
			if p.waits {
				r.Recoveries++
				r.SlowestRecovery = max(r.SlowestRecovery, e.At.Sub(p.healed))
				rs.late(t, p, e.At)
				p.waits = false
			}
		}
	}
	for _, t := range rs.order {
		p := rs.patients[t]
		if p.waits && within > 0 {
			f.add(KindRecovery, 1, "%s has not recovered from %s, which was healed at %s; it should have within %s", t, p.last, stamp(p.healed), within)
		}
	}
}

// fault ends a wait for recovery, which must not have been too long by then.
func (rs *recoveries) fault(t target, p *patient, e Event) {
	if p.waits {
		rs.late(t, p, e.At)
	}
	p.waits = false
	p.faults[e.fault()]++
}

func (rs *recoveries) healed(t target, p *patient, e Event) {
	name := e.fault()
	switch {
	case name == "":
		clear(p.faults)
	case p.faults[name] == 0:
		rs.f.add(KindLog, 1, "%s: %s is said to be healed at %s, but was not made", t, name, stamp(e.At))
		return
	default:
		if p.faults[name]--; p.faults[name] == 0 {
			delete(p.faults, name)
		}
	}
	if len(p.faults) == 0 {
		p.waits, p.healed, p.last = true, e.At, e.Detail
	}
}

func (rs *recoveries) late(t target, p *patient, at time.Time) {
	if took := at.Sub(p.healed); rs.within > 0 && took > rs.within {
		rs.f.add(KindRecovery, 1, "%s took more than %s to recover from %s, which was healed at %s: %s", t, rs.within, p.last, stamp(p.healed), took)
	}
}

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// checkCall is for one call.
func checkCall(c Call, longest time.Duration, f *findings, r *Report) {
	r.Calls++
	r.LongestCall = max(r.LongestCall, c.Took)
	if c.Err != "" {
		r.FailedCalls++
		if c.Allowed {
			r.AllowedFailures++
		} else {
			f.add(KindCall, 1, "%s of %s at %s, after %s: %s", c.Source, c.Process, stamp(c.Began), c.Took, c.Err)
		}
	}
	if longest > 0 && c.Took > longest && !c.Allowed {
		f.add(KindLongCall, 1, "%s of %s at %s took %s; at most %s", c.Source, c.Process, stamp(c.Began), c.Took, longest)
	}
}
