package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// disk is a small file system for one server, which can be filled. It is nil where
// none can be mounted.
type disk interface {
	fill() error
	empty() error
	close() error
}

// diskSize holds the data twice, for restores, and some binary logs.
const diskSize = "1g"

// namespaceEnv says that this process has mounts of its own: see isolate.
const namespaceEnv = "ODDEVEN_TORTURE_MOUNTS"

// newDisk mounts one at dir.
func newDisk(dir string) (disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	if os.Getenv(namespaceEnv) == "" {
		return none{}, nil
	}
	if err := mountMemory(dir); err != nil {
		return none{}, nil //nolint:nilerr // not allowed here: the run says that it has no full disk
	}
	return &tmpfs{dir: dir}, nil
}

// errNoDisk is why a disk can't be filled.
var errNoDisk = errors.New("no file system of its own: mounting one needs root, or user namespaces")

// none is the disk where none can be mounted.
type none struct{}

func (none) fill() error  { return errNoDisk }
func (none) empty() error { return nil }
func (none) close() error { return nil }

// tmpfs is a file system in memory.
type tmpfs struct{ dir string }

func (t *tmpfs) balloon() string { return filepath.Join(t.dir, "balloon") }

// fill takes all the space that is left.
func (t *tmpfs) fill() (err error) {
	file, err := os.Create(t.balloon())
	if err != nil {
		return fmt.Errorf("fill disk: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for size := 1 << 20; size > 0; size /= 16 {
		block := make([]byte, size)
		for err = nil; err == nil; {
			_, err = file.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, io.ErrShortWrite) {
			return fmt.Errorf("fill disk: %w", err)
		}
	}
	return nil
}

func (t *tmpfs) empty() error { return os.RemoveAll(t.balloon()) }

func (t *tmpfs) close() error {
	if err := unmount(t.dir); err != nil {
		return fmt.Errorf("unmount %s: %w", t.dir, err)
	}
	return nil
}
