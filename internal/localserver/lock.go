package localserver

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// How long acquireLock waits for a lock that is held. A holder that is alive
// is waited for only as long as the kernel may need to close the files of a
// process that was just killed. A holder that is dead left a server, or the
// initialisation of one, which the kernel kills or which ends by itself.
const (
	liveHolderWait = 250 * time.Millisecond
	deadHolderWait = 10 * time.Second
	lockPoll       = 10 * time.Millisecond
)

// A dirLock is the right to use a directory. It lasts until the file is
// closed here and in all processes that inherited it. Servers do inherit it,
// so a server whose parent died still protects its data.
type dirLock struct {
	file *os.File
}

// acquireLock takes the lock of the directory; a [*LockedError] says who has it.
func acquireLock(ctx context.Context, h home) (*dirLock, error) {
	file, err := os.OpenFile(h.path(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := waitLock(ctx, file, string(h)); err != nil {
		_ = file.Close()
		return nil, err
	}
	// The process id is for messages only; the lock is what counts.
	pid := strconv.Itoa(os.Getpid()) + "\n"
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(pid), 0)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("write lock file: %w", err)
	}
	return &dirLock{file: file}, nil
}

// waitLock polls for the lock; flock cannot be interrupted, so it never blocks in it.
func waitLock(ctx context.Context, file *os.File, dir string) error {
	began := time.Now()
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		ok, err := tryLock(file)
		if err != nil {
			return fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if ok {
			return nil
		}
		holder := lockHolder(file.Name())
		limit := liveHolderWait
		if holder != 0 && !processAlive(holder) {
			limit = deadHolderWait
		}
		if time.Since(began) >= limit {
			return &LockedError{Dir: dir, PID: holder}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("lock %s: %w", file.Name(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// lockHolder reads the process id in a lock file; 0 if there is none.
func lockHolder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}

// release gives the lock back, unless a process that inherited it still runs.
func (l *dirLock) release() {
	_ = l.file.Close() // nothing to flush, nothing to do about it
}
