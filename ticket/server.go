package ticket

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
)

// State says whether a server takes part.
type State int

// The states of a server. Its keeper, one goroutine, is the only one that
// moves it to StateUp; a failed call moves it away from there.
//
//	            survey and, if needed, fence
//	Checking ────────────────────────────────> Up ─── broke the scheme again, right
//	   │  ^                                    │      after a fence ──> Down
//	   │  └────────────────────────────────────┘ a call failed on it
//	   │
//	   └── survey or fence failed ──> Down ── probed with backoff ──> Up
const (
	StateChecking State = iota // its keeper is finding out; calls wait for the result if no other server is up
	StateUp                    // takes part
	StateDown                  // does not take part; probed in the background
)

// String is "checking", "up" or "down".
func (s State) String() string {
	switch s {
	case StateUp:
		return "up"
	case StateDown:
		return "down"
	default:
		return "checking"
	}
}

// server is one ticket server: its connections, its state, and the numbers
// seen from it.
type server struct {
	label   string
	db      *sqlx.DB
	timeout time.Duration
	log     *slog.Logger
	pool    *pool
	lane    *lane
	wake    chan struct{} // tells the keeper to look at the server now; holds one

	mu       sync.Mutex         // guards all below; never held across I/O
	state    State              //
	since    time.Time          // of the state
	resolved chan struct{}      // closed when the state leaves Checking; a new one is made when it enters it
	again    chan struct{}      // closed when the next check has ended; nil if nobody asked for one
	row      schema.Server      // as verified by the keeper; zero before the first time
	inc      schema.Incarnation // as verified by the keeper
	found    schema.Server      // its row in the last survey, verified or not; zero before the first
	doubts   int64              // reasons to check again that came up since
	forced   string             // reason for a fence that the next check must not skip
	suspect  time.Time          // when forced was last set
	lastErr  *ServerError       // why it is not up
	clock    serverClock        // its latest time that was read
	aloof    bool               // does not follow the others' tickets, and said so
	high     int64              // highest ticket seen
	busy     int                // calls under way
	moved    time.Time          // when one of them last ended, or the first began
	counts   counts
}

// serverClock is a time of the server together with ours when it was read.
type serverClock struct {
	unix int64
	read time.Time // with its monotonic reading
}

// now carries the reading on by monotonic time; 0 if there was none.
func (c serverClock) now() int64 {
	if c.unix == 0 {
		return 0
	}
	return c.unix + int64(time.Since(c.read)/time.Second)
}

func newServer(cfg *mysql.Config, conf Config) (*server, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare connection: %w", err)
	}
	s := &server{
		label: dsn.Label(cfg), db: sqlx.NewDb(sql.OpenDB(connector), "mysql"), timeout: conf.Timeout, log: conf.Logger,
		wake: make(chan struct{}, 1), since: time.Now(), resolved: make(chan struct{}),
	}
	s.db.SetMaxIdleConns(0) // idle connections are kept in our own pool, with session and stubs
	s.pool = newPool(conf.Conns, rand.Int64N(blocks), s.connect)
	s.lane = newLane(s)
	return s, nil
}

// do runs f on a verified connection. A connection that had gone stale is
// replaced once; after that the server counts as down. The error is a
// *ServerError, or ctx's own.
func (s *server) do(ctx context.Context, f func(context.Context, *Conn) error) error {
	s.began()
	defer s.ended()
	attempt, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	stale, err := s.pool.run(attempt, f)
	if stale && broken(err) && attempt.Err() == nil {
		s.pool.drop()
		_, err = s.pool.run(attempt, f)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.failed(err)
}

func (s *server) began() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy == 0 {
		s.moved = time.Now()
	}
	s.busy++
}

func (s *server) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.moved = time.Now()
}

// stalls reports whether calls are under way and none has ended for a part of
// the timeout. The server may be frozen, so others are asked first.
func (s *server) stalls() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy > 0 && time.Since(s.moved) > s.timeout/8
}

// broken reports whether err says that the connection, and not the server, is of no use any more.
func broken(err error) bool { return mysqlerr.IsUnreachable(err) || mysqlerr.IsOutOfRange(err) }

// errChanged is returned for a connection to a server whose generation or
// incarnation is not the one that the keeper has verified.
var errChanged = errors.New("ticket: server changed, checking it")

// connect opens a connection that may be used: the server behind it is as the
// keeper has verified it.
func (s *server) connect(ctx context.Context, stub int64) (*Conn, error) {
	s.mu.Lock()
	verified, incarnation := s.row, s.inc
	s.mu.Unlock()
	c, err := s.dial(ctx, stub)
	if err != nil {
		return nil, err
	}
	row, inc, err := c.identify(ctx)
	switch {
	case err != nil:
	case !sameScheme(row, verified) || inc.ServerUUID != incarnation.ServerUUID || inc.StartedAt != incarnation.StartedAt:
		err = errChanged
	default:
		err = c.setUp(ctx, row)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// dial opens a connection that has proved nothing yet.
func (s *server) dial(ctx context.Context, stub int64) (*Conn, error) {
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, name: s.label, stub: stub}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	s.mu.Lock()
	s.counts.connections++
	s.mu.Unlock()
	return c, nil
}

// failed records an error. If it is the server's fault the server is taken out,
// and its keeper checks it at once.
func (s *server) failed(err error) *ServerError {
	explained := NewServerError(s.label, err)
	if !atFault(err) {
		return explained
	}
	next := StateChecking
	s.mu.Lock()
	s.counts.fail(err)
	s.lastErr = explained
	if errors.Is(err, ErrScheme) {
		s.forced = explained.Problem
		s.doubts++ // a check under way may not have seen it
	}
	changed := s.state == StateUp
	if s.forced != "" && time.Since(s.suspect) < distrust {
		next = StateDown // again so soon: no use to fence it at full speed
	}
	if s.forced != "" {
		s.suspect = time.Now()
	}
	if changed {
		s.enter(next)
	}
	s.mu.Unlock()
	if changed {
		s.log.Warn("ticket server is "+next.String(), "server", s.label, "error", explained)
		s.pool.drop()
		s.alert()
	}
	return explained
}

// alert has the keeper look at the server now.
func (s *server) alert() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// isChange reports whether err says no more than that the server is not as it was
// verified.
func isChange(err error) bool { return errors.Is(err, errChanged) || mysqlerr.IsOutOfRange(err) }

// atFault reports whether err comes from the server or the way to it, and not
// from what was asked of it.
func atFault(err error) bool {
	return mysqlerr.Number(err) != 0 || mysqlerr.IsUnreachable(err) || errors.Is(err, errChanged) || errors.Is(err, ErrScheme)
}

// enter changes the state; the caller holds mu.
func (s *server) enter(next State) {
	if s.state == StateChecking && next != StateChecking {
		close(s.resolved)
	}
	if s.state != StateChecking && next == StateChecking {
		s.resolved = make(chan struct{})
	}
	if next == StateUp {
		answer(s.again)
		s.again = nil
	}
	s.state, s.since = next, time.Now()
}

// answer tells those who asked for a check that it has ended.
func answer(again chan struct{}) {
	if again != nil {
		close(again)
	}
}

// recheck takes the server out until its keeper has looked at it again. A check
// that is under way is done again.
func (s *server) recheck(reason string) {
	s.mu.Lock()
	s.doubts++
	s.mu.Unlock()
	_ = s.failed(&ServerError{Problem: reason, Kind: errChanged})
}

func (s *server) is(state State) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == state
}

// checking returns a channel that is closed when the state is known, or nil if it is.
func (s *server) checking() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != StateChecking {
		return nil
	}
	return s.resolved
}

// lastError is why the server is not up.
func (s *server) lastError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastErr == nil {
		return &ServerError{Server: s.label, Problem: s.state.String()}
	}
	return s.lastErr
}

// close ends every connection. Nothing uses the server any more.
func (s *server) close() error {
	s.pool.drop()
	return s.db.Close()
}
