package segment

import (
	"context"
	"sync"
)

// Memory is a Source in memory, for tests of code that uses an Allocator: no
// server is needed. Its zero value begins with the number 2 and counts by one.
// Several Allocators may share one, as processes share a fleet. Fields must not
// be changed once it is in use. All methods are safe for concurrent use.
type Memory struct {
	// Increment and Offset make it act like the server with that offset in a
	// fleet of that increment. Both default to 1.
	Increment, Offset int64
	// Ceiling is the largest number. Defaults to 2^53 − 1.
	Ceiling int64

	mu     sync.Mutex
	rounds int64 // the last one reserved
	err    error
}

// Fail makes every call fail with err from now on; nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// Floor returns the last round reserved. It does not wait.
func (m *Memory) Floor(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return 0, m.err
	}
	return m.rounds, ctx.Err()
}

// Reserve reserves rounds. It does not wait. It returns ErrExhausted at the ceiling.
func (m *Memory) Reserve(ctx context.Context, floor, count int64) (Range, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return Range{}, m.err
	}
	if err := ctx.Err(); err != nil {
		return Range{}, err
	}
	n, k, ceiling := orDefault(m.Increment, 1), orDefault(m.Offset, 1), orDefault(m.Ceiling, maxID)
	from := max(m.rounds, floor)
	count = min(count, ceiling/n-1-from)
	if count < 1 {
		return Range{}, ErrExhausted
	}
	m.rounds = from + count
	return Range{First: (from+1)*n + k, Stride: n, Count: count, Ceiling: ceiling}, nil
}

func orDefault(n, instead int64) int64 {
	if n == 0 {
		return instead
	}
	return n
}
