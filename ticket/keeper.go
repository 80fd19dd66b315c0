package ticket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/internal/schema"
)

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = time.Second
	// justStarted is how often a server is asked whether the second of its start is over.
	justStarted = 100 * time.Millisecond
	// maxRaces is how often something is done anew because the server changed meanwhile.
	maxRaces = 10
	// distrust is how long a server is left alone that broke the scheme again
	// right after it had been fenced for that.
	distrust = 5 * time.Second
)

// keep is a server's keeper: it checks the server whenever it is not up, at
// once and then less and less often, until the fleet closes. The fleet starts
// one for each server and joins it in Close.
func (f *Fleet) keep(s *server) {
	for {
		for backoff := minBackoff; !s.is(StateUp); backoff = min(2*backoff, maxBackoff) {
			if f.check(s) {
				break
			}
			if !s.rest(f.ctx, backoff/2+rand.N(backoff/2)) {
				return
			}
		}
		select {
		case <-f.ctx.Done():
			return
		case <-s.wake:
		}
		if s.is(StateDown) && !pause.For(f.ctx, s.patience()) {
			return
		}
	}
}

// patience is how long a server that has just gone down is left alone: long if
// it broke the scheme again right after it had been fenced for that.
func (s *server) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forced != "" {
		return distrust
	}
	return minBackoff/2 + rand.N(minBackoff/2)
}

// rest waits, but no longer than until the server has to be looked at. It reports
// false when ctx ended first.
func (s *server) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// check brings the server up if it is in order, fencing it first if it has to
// be. It reports whether the server is up.
func (f *Fleet) check(s *server) bool {
	s.mu.Lock()
	again := s.again // those who ask from now on want another one
	s.again = nil
	s.mu.Unlock()
	defer answer(again)
	for range maxRaces {
		s.mu.Lock()
		doubts := s.doubts
		s.mu.Unlock()
		row, inc, err := f.verify(f.ctx, s, false)
		if errors.Is(err, errFencedMeanwhile) {
			continue
		}
		if f.conclude(s, doubts, row, inc, err) {
			return err == nil
		}
	}
	f.conclude(s, 0, schema.Server{}, schema.Incarnation{}, errFencedMeanwhile)
	return false
}

// conclude sets the state that a check has led to. It reports false if doubts
// have come up since the check began, which it may not have seen.
func (f *Fleet) conclude(s *server, doubts int64, row schema.Server, inc schema.Incarnation, err error) bool {
	s.mu.Lock()
	before := s.state
	switch {
	case err != nil:
		s.lastErr = NewServerError(s.label, err)
		s.enter(StateDown)
	case s.doubts != doubts:
		s.mu.Unlock()
		return false
	default:
		s.row, s.inc, s.lastErr = row, inc, nil
		s.enter(StateUp)
	}
	problem := s.lastErr
	s.mu.Unlock()
	switch {
	case err == nil:
		s.log.Info("ticket server is up", "server", s.label, "offset", row.Offset, "gen", row.Gen)
	case before != StateDown && f.ctx.Err() == nil:
		s.log.Warn("ticket server is down", "server", s.label, "error", problem)
	}
	return true
}

// checkFor is how long a check may take, in timeouts.
const checkFor = 2

// verify surveys the server and its reachable peers, judges, and fences if that
// is the judgement. It returns what the connections of the server must find.
// accepted says that an operator vouches for the server.
func (f *Fleet) verify(ctx context.Context, s *server, accepted bool) (schema.Server, schema.Incarnation, error) {
	ctx, cancel := context.WithTimeout(ctx, checkFor*s.timeout)
	defer cancel()
	var none schema.Server
	c, err := s.dial(ctx, 0)
	if err != nil {
		return none, schema.Incarnation{}, err
	}
	defer func() { _ = c.close() }() // nothing is pending on it
	own, err := s.survey(ctx, c)
	// In the second of its start an incarnation cannot be told from one more
	// restart within the same second.
	for err == nil && own.incarnation.Now <= own.incarnation.StartedAt && pause.For(ctx, justStarted) {
		own, err = s.survey(ctx, c)
	}
	if err == nil && ctx.Err() != nil {
		err = unsettled(ctx, own.incarnation)
	}
	if err != nil {
		return none, schema.Incarnation{}, err
	}
	if err := f.admit(s, own.row); err != nil {
		return none, schema.Incarnation{}, err
	}
	if own.readOnly {
		return none, schema.Incarnation{}, errReadOnly()
	}
	peers, newest, reason, err := f.judge(ctx, s, own, accepted)
	if err != nil {
		return none, schema.Incarnation{}, err
	}
	if reason != "" {
		if own.row, err = f.fence(ctx, s, c, own, newest, peers, reason); err != nil {
			return none, schema.Incarnation{}, err
		}
	}
	if err := f.tell(ctx, s, c, own, peers); err != nil {
		return none, schema.Incarnation{}, err
	}
	return own.row, own.incarnation, nil
}

// unsettled is why the second of a server's start was not over within the time for a
// check, whose ctx has ended.
func unsettled(ctx context.Context, inc schema.Incarnation) error {
	if inc.Now >= inc.StartedAt {
		return ctx.Err()
	}
	return &ServerError{
		Problem: fmt.Sprintf("its clock is %d seconds before its own start", inc.StartedAt-inc.Now),
		Remedy:  "The clock was set back while the server ran. Set it right, or restart the server process.",
	}
}

// judge asks the peers about a server that was surveyed, and judges it.
func (f *Fleet) judge(ctx context.Context, s *server, own *survey, accepted bool) (peers []peer, newest record, reason string, err error) {
	peers = f.surveyPeers(ctx, s)
	newest, remembered := about(own.row.Identity, surveys(peers))
	s.mu.Lock()
	forced := s.forced
	s.mu.Unlock()
	reason, err = judge(own, newest, remembered, forced, accepted)
	return peers, newest, reason, err
}

// peer is another server that answered.
type peer struct {
	server *server
	survey *survey
}

func surveys(peers []peer) []*survey {
	all := make([]*survey, len(peers))
	for i, p := range peers {
		all[i] = p.survey
	}
	return all
}

// surveyPeers asks all other servers, side by side, each within a part of the
// timeout. Who does not answer is not reachable; if it takes part, it has to pass
// a check of its own, because it could not be told anything.
func (f *Fleet) surveyPeers(ctx context.Context, except *server) []peer {
	ctx, cancel := context.WithTimeout(ctx, except.timeout/2)
	defer cancel()
	found := make([]peer, len(f.servers))
	var wg sync.WaitGroup
	for i, s := range f.servers {
		if s == except {
			continue
		}
		wg.Go(func() {
			own, err := s.ask(ctx)
			if err == nil {
				err = f.admit(s, own.row)
			}
			if err == nil {
				found[i] = peer{server: s, survey: own}
			} else if s.is(StateUp) && f.ctx.Err() == nil {
				s.recheck("did not answer when " + except.label + " was checked")
			}
		})
	}
	wg.Wait()
	var peers []peer
	for _, p := range found {
		if p.server != nil {
			peers = append(peers, p)
		}
	}
	return peers
}

// ask surveys the server over a connection of its own.
func (s *server) ask(ctx context.Context) (*survey, error) {
	c, err := s.dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.close() }() // only read
	return s.survey(ctx, c)
}

// survey takes the survey and remembers the server's time.
func (s *server) survey(ctx context.Context, c *Conn) (*survey, error) {
	own, err := take(ctx, c)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = own.row
	if own.incarnation.Now > s.clock.now() {
		s.clock = serverClock{unix: own.incarnation.Now, read: time.Now()}
	}
	return own, nil
}

// fence fences the server, tells its peers, and returns the new row.
func (f *Fleet) fence(ctx context.Context, s *server, c *Conn, own *survey, newest record, peers []peer, reason string) (schema.Server, error) {
	fn := &fence{reason: reason, by: f.name, survey: own, newest: newest, peers: surveys(peers), above: f.seen(), floor: f.highest(), before: map[string]int64{}}
	s.mu.Lock()
	fn.seen, fn.clock = s.high, s.clock.now()
	s.mu.Unlock()
	for _, p := range peers {
		p.server.mu.Lock()
		fn.latest = max(fn.latest, p.server.clock.now())
		p.server.mu.Unlock()
		sequences, err := p.server.sequences(ctx)
		if err != nil { // it answered a moment ago: without what it knows the fence would fall short
			return own.row, fmt.Errorf("read sequences of %s for a fence: %w", p.server.label, err)
		}
		fn.above = append(fn.above, sequences...)
	}
	if err := fn.run(ctx, c); err != nil {
		return own.row, fmt.Errorf("fence: %w", err)
	}
	row, err := schema.ReadServer(ctx, c.conn)
	if err != nil {
		return own.row, err
	}
	s.mu.Lock()
	s.found = row
	s.forced = ""
	s.counts.fences.count(reason)
	s.mu.Unlock()
	s.log.Warn("ticket server fenced", "server", s.label, "reason", reason, "gen", row.Gen)
	for _, h := range fn.held {
		s.log.Error("ticket server: sequence held back, because it has forgotten too much or another server's row was damaged; `oddeven sequence repair` says what to do",
			"server", s.label, "sequence", h.name, "round", h.own, "others", h.others)
	}
	return row, nil
}

// sequences reads the sequences of a peer for a fence.
func (s *server) sequences(ctx context.Context) ([]sequence, error) {
	c, err := s.dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.close() }() // only read
	var all []sequence
	err = c.Select(ctx, &all, querySequenceRounds)
	return all, err
}

// clientName says who we are, for the people who read the server's row.
func clientName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}
