package main

import "time"

// beat is how often a pacer lets callers go on, and how often what was issued is
// written down: what a kill can take from the ledger is no more than that.
const beat = 10 * time.Millisecond

// most is how much a caller that fell behind may catch up. With more, segments would
// follow the burst, and what a kill then throws away would outrun the clock line.
const most = 50 * time.Millisecond

// pacer keeps a caller to a rate. Not safe for concurrent use.
type pacer struct {
	per   time.Duration // of one ID
	spent time.Duration // by the IDs drawn since start
	start time.Time
}

func newPacer(rate int) *pacer {
	return &pacer{per: time.Second / time.Duration(max(rate, 1)), start: time.Now()}
}

// drew notes that n IDs were drawn, and returns how long to wait because that is
// ahead of the rate: not at all, or about a beat at least.
func (p *pacer) drew(n int) time.Duration {
	p.spent += time.Duration(n) * p.per
	since := time.Since(p.start)
	if late := since - p.spent - most; late > 0 {
		p.start, since = p.start.Add(late), since-late
	}
	if ahead := p.spent - since; ahead >= beat {
		return ahead
	}
	return 0
}
