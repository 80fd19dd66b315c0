package ticket

import (
	"context"
	"errors"
	"fmt"
)

// DoOn runs fn with a verified connection to the server that has the offset,
// for what belongs to one server's residue class; it waits while that server is
// being checked. One that is down is checked once more, at once, because no other
// can take its place. What Do says about fn holds here as well. Errors: ErrClosed,
// ctx's own, or ErrUnavailable with the *ServerError that says why that server
// could not.
func (f *Fleet) DoOn(ctx context.Context, offset int64, fn func(context.Context, *Conn) error) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.calls.Done()
	var err error
	looked := false
	for range maxRaces { // a connection may tell that the server has to be checked
		s := f.at(ctx, offset)
		if s == nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			return errors.Join(ErrUnavailable, &ServerError{
				Server: fmt.Sprintf("with offset %d", offset), Problem: "is not known", Remedy: "Name all servers of the fleet; it must have been reached once.",
			})
		}
		if err = f.wait(ctx, s); err == nil {
			err = s.do(ctx, fn)
		}
		if err == nil || errors.Is(err, ErrClosed) || ctx.Err() != nil {
			return err
		}
		if s.is(StateDown) {
			if looked || !f.lookAgain(ctx, s) {
				break
			}
			looked = true
		} else if s.is(StateUp) && !errors.Is(err, errChanged) {
			break
		}
	}
	return errors.Join(ErrUnavailable, err)
}

// lookAgain has a server that is down checked at once, and waits for a check that
// has begun since. It reports false if there was none: the server is one that is
// left alone on purpose, or ctx or the fleet has ended.
func (f *Fleet) lookAgain(ctx context.Context, s *server) bool {
	s.mu.Lock()
	if down := s.state == StateDown; !down || s.forced != "" {
		s.mu.Unlock()
		return !down
	}
	if s.again == nil {
		s.again = make(chan struct{})
	}
	again := s.again
	s.mu.Unlock()
	s.alert()
	select {
	case <-again:
		return true
	case <-ctx.Done():
	case <-f.ctx.Done():
	}
	return false
}

// at is the server with an offset, nil if none is known. It waits for servers
// that have never been reached and are being checked.
func (f *Fleet) at(ctx context.Context, offset int64) *server {
	for _, first := range []bool{true, false} {
		for _, s := range f.servers {
			if !first && f.wait(ctx, s) != nil && ctx.Err() != nil {
				return nil
			}
			if s.offset() == offset {
				return s
			}
		}
	}
	return nil
}

// offset is the server's offset when it was last verified, 0 if it never was.
func (s *server) offset() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.Offset
}
