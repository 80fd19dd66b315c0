package segment

import (
	"math"
	"time"
)

// process is an Allocator with its caller, reduced to the step rule: numbers
// flow out at a rate, refills take the same time always, nothing fails. Time is
// virtual, in seconds, and the caller of run makes it pass. It asks the pacer
// what the Allocator asks, at the same moments.
type process struct {
	p       pacer
	latency float64
	maxAge  float64

	now    float64
	left   float64 // of the current segment
	hidden float64 // of those; the next refill begins when they come into use
	born   float64
	since  float64 // from when on numbers have been used
	used   float64 // since then
	queue  []reserved
	coming []reserved // in the order in which they land

	issued, reserved, dropped float64
	waited                    float64
	refills, enlargements     int
	most                      float64 // reserved ahead when a refill began, the refill included
}

// reserved is a segment, or a refill under way.
type reserved struct {
	count       float64
	began, ends float64
}

// newProcess is an Allocator that was opened at a time with the default
// configuration but for the interval.
func newProcess(at float64, interval, latency time.Duration) *process {
	s := &process{
		p:       pacer{interval: interval.Seconds(), min: defaultMinStep, max: defaultMaxStep},
		latency: latency.Seconds(), maxAge: defaultMaxAge.Seconds(), now: at,
	}
	first := float64(s.p.next(0, 0))
	s.queue = append(s.queue, reserved{count: first, began: at})
	s.reserved, s.refills = first, 1
	return s
}

// run lets numbers be used at a rate until a time.
func (s *process) run(until, rate float64) {
	for s.now < until {
		s.land()
		if s.left == 0 && rate > 0 {
			s.advance()
		}
		next := until
		if len(s.coming) > 0 {
			next = min(next, s.coming[0].ends)
		}
		if s.left > 0 {
			next = min(next, s.born+s.maxAge)
			if rate > 0 {
				next = min(next, s.now+(s.left-s.hidden)/rate)
			}
		}
		s.pass(next, rate)
	}
}

// pass lets time pass in which nothing happens but at its end.
func (s *process) pass(next, rate float64) {
	if s.left == 0 {
		if rate > 0 {
			s.waited += next - s.now
		}
		s.now = next
		return
	}
	n := min(s.left-s.hidden, rate*(next-s.now))
	if s.left-s.hidden-n < 1e-3 { // of a number
		n = s.left - s.hidden
	}
	s.left, s.used, s.issued, s.now = s.left-n, s.used+n, s.issued+n, next
	switch {
	case s.now >= s.born+s.maxAge:
		s.dropped += s.left
		s.left, s.hidden, s.used = 0, 0, 0
		s.p.forget()
	case s.left == s.hidden && s.hidden > 0:
		s.measure()
		s.hidden = 0
		s.refill()
	case s.left == 0:
		s.measure()
	}
}

// measure tells the step rule what was used.
func (s *process) measure() {
	if s.used > 0 {
		s.p.used(int64(math.Round(s.used)), seconds(s.now-s.since))
	}
	s.since, s.used = s.now, 0
}

// advance makes the next segment in the queue the current one, or begins the
// refill that a caller has to wait for.
func (s *process) advance() {
	for len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		if s.now >= next.began+s.maxAge {
			s.dropped += next.count
			s.p.forget()
			continue
		}
		s.left, s.born, s.since, s.used = next.count, next.began, s.now, 0
		s.p.began(int64(next.count))
		s.hidden = float64(s.p.reserve(int64(next.count)))
		if s.hidden >= s.left {
			s.hidden = 0
			s.refill()
		}
		return
	}
	s.refill()
}

// refill begins a refill if nothing is queued and none is under way, or a
// larger one if a caller waits and those under way will not last.
func (s *process) refill() {
	var count int64
	switch {
	case len(s.queue) > 0:
		return
	case len(s.coming) == 0:
		count = s.p.next(int64(s.left), 0)
	case len(s.coming) == 1 && s.left == 0:
		if count = s.p.enlarge(int64(s.coming[0].count), 0); count == 0 {
			return
		}
		s.enlargements++
	default:
		return
	}
	s.coming = append(s.coming, reserved{count: float64(count), began: s.now, ends: s.now + s.latency})
	s.most = max(s.most, s.left+float64(count))
}

// land puts refills that have arrived into the queue.
func (s *process) land() {
	for len(s.coming) > 0 && s.coming[0].ends <= s.now {
		s.p.refilled(seconds(s.coming[0].ends - s.coming[0].began))
		s.queue = append(s.queue, s.coming[0])
		s.reserved += s.coming[0].count
		s.refills++
		s.coming = s.coming[1:]
	}
}

// tally is what processes did, together, from one moment to another.
type tally struct {
	issued, reserved, dropped, waited float64
	refills, enlargements             int
}

func (t *tally) add(s *process) {
	t.issued += s.issued
	t.reserved += s.reserved
	t.dropped += s.dropped
	t.waited += s.waited
	t.refills += s.refills
	t.enlargements += s.enlargements
}

// since is what happened after an earlier tally.
func (t tally) since(before tally) tally {
	return tally{
		t.issued - before.issued, t.reserved - before.reserved, t.dropped - before.dropped, t.waited - before.waited,
		t.refills - before.refills, t.enlargements - before.enlargements,
	}
}
