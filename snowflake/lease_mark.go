package snowflake

import (
	"errors"
	"time"
)

// markOn writes the state file, now and then and after every renewal, until the
// lease is closed or has no file any more. When the worker has stopped for good it
// removes the file: nobody may take such a lease up.
func (l *lease) markOn() {
	for {
		timer := time.NewTimer(markEvery)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-l.ctx.Done():
		}
		timer.Stop()
		if l.ctx.Err() != nil {
			return
		}
		if l.stopped() != nil {
			l.discard()
			return
		}
		if !l.advance() {
			l.pass()
			return
		}
	}
}

// advance writes the lease into the state file, with a mark that is ahead of
// everything the generator may use before it is called again, and then gives the
// generator its ticks up to the mark. If that is not possible it removes the file,
// because that would let another process use what this one is going to use, and
// reports false; if that is not possible either, the worker stops.
func (l *lease) advance() bool {
	l.mu.Lock()
	h, file, now := l.held, l.file, time.Now()
	ms := l.nowLocked(now)
	l.mu.Unlock()
	mark, err := file.writeMark(h, serverTime{ms: ms, read: now}, l.g.lastTick(), l.cfg.MaxAhead)
	if err == nil {
		l.g.grant(rectangle{from: h.rect.from, until: mark}, h.time)
		return true
	}
	gone := l.dropFile(file)
	if gone == nil {
		l.cfg.Logger.Warn("snowflake: state file removed, because it can't be written", "file", file.path, "error", err)
		return false
	}
	stop := &StateFileError{Path: file.path, Problem: "it can neither be written nor removed, so the worker has stopped", Err: errors.Join(err, gone),
		Remedy: "Make the file system writable, or leave StateFile out; then open another worker."}
	l.mu.Lock()
	l.stopLocked(stop)
	l.mu.Unlock()
	l.cfg.Logger.Error("snowflake: state file is stuck", "error", stop)
	return false
}

// discard removes the file of a lease that is lost or over.
func (l *lease) discard() {
	l.mu.Lock()
	file := l.file
	l.mu.Unlock()
	if err := l.dropFile(file); err != nil { // close tries again
		l.cfg.Logger.Error("snowflake: the state file of a lease that has ended can't be removed; remove it, or another process may take the lease up",
			"file", file.path, "error", err)
	}
}

// dropFile removes the file, and goes on without one.
func (l *lease) dropFile(file *stateFile) error {
	if err := file.drop(); err != nil {
		return err
	}
	_ = file.keep() // only locks are left to give up
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file = nil
	return nil
}

// nowLocked is the server's time in milliseconds, as far as we know.
func (l *lease) nowLocked(now time.Time) int64 {
	return l.held.time.ms + now.Sub(l.held.time.read).Milliseconds()
}
