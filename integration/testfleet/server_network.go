package testfleet

import "time"

// Faults of the network between the clients of this fleet and one server.
// Other tests that share the server don't feel them, and they don't hinder
// DirectDSN and DB. They add up until Heal.

// Latency delays every reply by d, give or take jitter.
func (s *Server) Latency(d, jitter time.Duration) {
	s.fleet.t.Helper()
	s.check("delay", s.chain.latency(d, jitter))
}

// Bandwidth lets through so many kilobytes a second, in each direction.
func (s *Server) Bandwidth(kbps int) {
	s.fleet.t.Helper()
	s.check("throttle", s.chain.bandwidth(kbps))
}

// Cut resets all connections and refuses new ones until Heal.
func (s *Server) Cut() {
	s.cut = true
	s.chain.tap.refuse()
}

// Blackhole lets everything vanish, in both directions, without a reset:
// connections stay half open, new ones are accepted and never greeted. At Heal
// they are closed.
func (s *Server) Blackhole() {
	s.fleet.t.Helper()
	s.check("blackhole", s.chain.blackhole())
}

// Heal ends all faults of the network and disarms cuts that have not happened.
// It does not start a server that is down.
func (s *Server) Heal() {
	s.fleet.t.Helper()
	ctx, cancel := opContext()
	defer cancel()
	s.chain.heal(ctx)
	s.cut = false
	if !s.node.isDown() {
		s.listen()
	}
}

// CutReply breaks the connection of the next statement for which match reports
// true, after the server has carried it out and before a byte of its reply
// gets back: the client cannot know that it was done. A statement counts when
// it is executed (ComQuery, ComExecute), not when it is prepared. match must
// not call methods of the server. The channel is closed when it happens, before
// the client notices.
func (s *Server) CutReply(match func(query string) bool) <-chan struct{} {
	return s.chain.tap.arm(false, match)
}

// CutReplyAt is CutReply for the k-th statement from now, counted from 1 over
// all connections of this fleet to this server.
func (s *Server) CutReplyAt(k int) <-chan struct{} { return s.CutReply(nth(k)) }

// CutBefore breaks the connection of the k-th statement from now before the
// statement reaches the server.
func (s *Server) CutBefore(k int) <-chan struct{} { return s.CutBeforeQuery(nth(k)) }

// CutBeforeQuery breaks the connection of the next statement for which match
// reports true before the statement reaches the server.
func (s *Server) CutBeforeQuery(match func(query string) bool) <-chan struct{} {
	return s.chain.tap.arm(true, match)
}

// Mark begins the log of Statements and the count of Executed anew.
func (s *Server) Mark() { s.chain.tap.journal.mark() }

// Statements returns what clients of this fleet sent to this server since
// Mark, or New. It keeps the last 32768 commands and 2 KiB of the SQL of each.
// A command that was cut off or vanished on its way to the server is in it.
func (s *Server) Statements() Statements { return s.chain.tap.journal.since() }

// Executed returns how many statements (ComQuery and ComExecute) clients of
// this fleet sent to this server since Mark, or New. It is exact.
func (s *Server) Executed() int { return s.chain.tap.journal.executed() }
