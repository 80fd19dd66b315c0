package localserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Snapshot copies the data directory to dst, which must not exist yet. The
// server must be stopped or paused, else [ErrRunning]; after Kill or Pause the
// copy is what a crash at that moment leaves. dst is complete if it exists
// afterwards; when ctx ends the copy is given up and removed.
func (s *Server) Snapshot(ctx context.Context, dst string) (err error) {
	if err := s.beginChange(ctx); err != nil {
		return fmt.Errorf("snapshot server: %w", err)
	}
	defer s.endChange()
	if s.Running() {
		if !s.isPaused() {
			return ErrRunning
		}
	} else {
		lock, err := acquireLock(ctx, s.home)
		if err != nil {
			return err
		}
		defer lock.release()
		if err := repairData(s.home); err != nil {
			return fmt.Errorf("repair data directory: %w", err)
		}
	}
	if found, err := exists(dst); err != nil {
		return fmt.Errorf("snapshot server: %w", err)
	} else if found {
		return fmt.Errorf("snapshot server: %s: %w", dst, fs.ErrExist)
	}
	tmp := dst + ".tmp"
	if err := replaceTree(ctx, tmp, s.home.path(dataName)); err != nil {
		return fmt.Errorf("snapshot server: %w", err)
	}
	if err := os.Rename(tmp, dst); err != nil {
		return fmt.Errorf("snapshot server: %w", err)
	}
	return nil
}

// RestoreFrom replaces the data directory by a copy of src, which a Snapshot
// of this or another server of the same flavor made. The server must be
// stopped, else [ErrRunning]. The old data is kept until the new is complete:
// when ctx ends, or the program is killed half way, one of the two is there at
// the next start.
func (s *Server) RestoreFrom(ctx context.Context, src string) error {
	if err := s.beginChange(ctx); err != nil {
		return fmt.Errorf("restore server: %w", err)
	}
	defer s.endChange()
	if s.Running() {
		return ErrRunning
	}
	lock, err := acquireLock(ctx, s.home)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := repairData(s.home); err != nil {
		return fmt.Errorf("repair data directory: %w", err)
	}
	if err := replaceTree(ctx, s.home.path(dataTmpName), src); err != nil {
		return fmt.Errorf("restore server: %w", err)
	}
	err = os.Rename(s.home.path(dataName), s.home.path(dataOldName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restore server: %w", err)
	}
	if err := os.Rename(s.home.path(dataTmpName), s.home.path(dataName)); err != nil {
		return fmt.Errorf("restore server: %w", err)
	}
	if err := os.RemoveAll(s.home.path(dataOldName)); err != nil {
		return fmt.Errorf("restore server: remove old data: %w", err)
	}
	return nil
}
