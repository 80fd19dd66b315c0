package testfleet

import "slices"

// A cut waits for a statement and then breaks the connection it came on, once.
type cut struct {
	match  func(query string) bool
	before bool          // before the statement reaches the server, else before its reply gets back
	cut    chan struct{} // closed right before the connection is broken
}

// nth returns a match for the k-th statement it is asked about, from 1.
func nth(k int) func(string) bool {
	return func(string) bool { k--; return k == 0 }
}

// arm adds a cut.
func (t *tap) arm(before bool, match func(string) bool) <-chan struct{} {
	c := &cut{match: match, before: before, cut: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cuts = append(t.cuts, c)
	return c.cut
}

// disarm forgets the cuts that have not happened.
func (t *tap) disarm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cuts = nil
}

// match returns the cuts that this statement sets off, and forgets them. Every
// cut sees every statement, so that each can count.
func (t *tap) match(query string) (hits []*cut) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cuts = slices.DeleteFunc(t.cuts, func(c *cut) bool {
		hit := c.match(query)
		if hit {
			hits = append(hits, c)
		}
		return hit
	})
	return hits
}

// done says of all of them that they happen. It comes before the connection is
// broken, so that a client that notices finds the channel closed.
func done(cuts []*cut) {
	for _, c := range cuts {
		close(c.cut)
	}
}

// anyBefore reports whether one of them keeps the statement from the server.
func anyBefore(cuts []*cut) bool {
	return slices.ContainsFunc(cuts, func(c *cut) bool { return c.before })
}
