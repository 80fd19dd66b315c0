// Package leasemodel is an explicit-state model of the lease of one Snowflake
// worker number: a server that may forget, clients that crash, freeze and come
// late, messages that arrive late or twice. Its tests explore it and show that no
// tick ever belongs to two leases, and that it would if one of the rules were
// missing. The SQL of package snowflake and the fence of package ticket are what
// it stands for.
package leasemodel

const (
	// Clients is how many processes have or want the number at a time. Which of them
	// it is makes no difference.
	Clients = 3
	// MaxLeases bounds the leases of one run whose grant was confirmed.
	MaxLeases = 3
	// Longest is the longest lease, in ticks. Shorter ones are granted too.
	Longest = 2
	// nobody is the nonce of a grant whose reply was lost.
	nobody = -1
)

// Rules are what keeps leases apart. The zero value has none of them missing.
type Rules struct {
	NoPark          bool // a fence does not park
	RenewLate       bool // a renewal counts also after the holder's own end
	RenewAdds       bool // a renewal adds to the end instead of counting from now
	GrantEarly      bool // a grant does not look at the end of the last lease
	ReleaseParked   bool // a release counts on a parked row
	ReleaseAnybody  bool // a release does not look at the holder
	ReleaseAllUsed  bool // a release writes the present tick instead of the first unused one
	SameNonce       bool // all leases have one nonce
	ParkBriefly     bool // a fence parks for less than the longest lease
	ClockMayGoBack  bool // the server's clock may be set back while it forgets: this is assumed not to happen
	LostReplyCounts bool // the holder believes a renewal although the reply was lost, and the server never got it
}

// row is the number's row on the server.
type row struct {
	holder int8 // nonce, 0 for none
	until  int8
	parked int8 // what the last fence raised until to
}

// lease is what a client was granted. Its ticks are [from, until), of which a
// client may use any at any time: clocks and freezes are of no account.
type lease struct {
	nonce       int8
	from, until int8
	active      bool // not released, and its client has not crashed
}

// message is a release under way; nonce is 0 if there is none.
type message struct {
	nonce, first int8
}

// State is everything there is. States are comparable.
type State struct {
	now     int8
	row     row
	backup  row // what the server goes back to when it forgets
	leases  [MaxLeases]lease
	granted int8
	message message
}

// Duplicate reports whether a tick belongs to two leases.
func (s State) Duplicate() bool {
	for i := range s.granted {
		for j := range i {
			if a, b := s.leases[i], s.leases[j]; a.from < b.until && b.from < a.until {
				return true
			}
		}
	}
	return false
}

// active is how many leases may still be renewed or released.
func (s State) active() int {
	n := 0
	for _, l := range s.leases {
		if l.active {
			n++
		}
	}
	return n
}

// Next is every state that may follow, up to a time. The order is always the same.
func (s State) Next(r Rules, end int8) []State {
	var all []State
	add := func(n State) { all = append(all, n) }
	if s.now < end {
		n := s
		n.now++
		add(n)
	}
	s.server(r, add)
	if s.active() < Clients {
		s.grant(r, add)
	}
	for i := range s.granted {
		if s.leases[i].active {
			s.holder(r, i, add)
		}
	}
	if s.message.nonce != 0 {
		s.deliver(r, add)
	}
	return all
}

// server takes backups, is restarted, and forgets. A fence follows before anything
// else, because nobody uses a server that is not fenced.
func (s State) server(r Rules, add func(State)) {
	n := s
	n.backup = s.row
	add(n)
	fence := func(n State) {
		until := n.now + Longest
		if r.ParkBriefly {
			until--
		}
		if !r.NoPark {
			n.row.until = max(n.row.until, until)
			n.row.parked = n.row.until
		}
		add(n)
	}
	fence(s)
	n = s
	n.row = s.backup
	fence(n)
	if r.ClockMayGoBack && n.now > 1 {
		n.now -= 2
		fence(n)
	}
}

// grant gives a client the number, and perhaps loses the reply.
func (s State) grant(r Rules, add func(State)) {
	if s.row.until > s.now && !r.GrantEarly {
		return
	}
	for length := int8(1); length <= Longest; length++ {
		n := s
		n.row.holder, n.row.until = nobody, s.now+length
		add(n)
		if s.granted == MaxLeases {
			continue
		}
		nonce := s.granted + 1
		if r.SameNonce {
			nonce = 1
		}
		n.row.holder = nonce
		n.leases[n.granted] = lease{nonce: nonce, from: s.now, until: s.now + length, active: true}
		n.granted++
		add(n)
	}
}

// holder renews, releases and crashes.
func (s State) holder(r Rules, i int8, add func(State)) {
	l := s.leases[i]
	n := s
	n.leases[i].active = false // all its ticks may have been used
	add(n)
	if s.row.holder == l.nonce && (s.now < l.until || r.RenewLate) {
		until := s.now + Longest
		if r.RenewAdds {
			until = l.until + Longest
		}
		n = s
		n.row.until = max(s.row.until, until)
		add(n) // the reply is lost
		n.leases[i].until = max(l.until, until)
		add(n)
	}
	if r.LostReplyCounts {
		n = s
		n.leases[i].until = max(l.until, s.now+Longest)
		add(n)
	}
	for first := l.from; first <= l.until; first++ {
		s.release(r, i, first, add)
	}
}

// release stops the generator and sends a release, which may arrive never, later
// and more than once. There is one under way at a time.
func (s State) release(r Rules, i, first int8, add func(State)) {
	if s.message.nonce != 0 {
		return
	}
	n := s
	n.leases[i].until, n.leases[i].active = first, false
	n.message = message{nonce: s.leases[i].nonce, first: first}
	if r.ReleaseAllUsed {
		n.message.first = min(first, s.now)
	}
	add(n)
}

// deliver is the arrival of a release. The message stays, and may arrive again;
// or it is lost.
func (s State) deliver(r Rules, add func(State)) {
	m := s.message
	n := s
	n.message = message{}
	add(n)
	if s.row.holder != m.nonce && !r.ReleaseAnybody || s.row.until <= s.row.parked && !r.ReleaseParked {
		return
	}
	n = s
	n.row.until = min(s.row.until, m.first)
	if !r.ReleaseParked {
		n.row.until = max(n.row.until, s.row.parked)
	}
	n.row.holder = 0
	add(n)
}
