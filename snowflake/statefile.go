package snowflake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// markAhead is how far the mark in the state file is ahead of time: how much a
	// process that was killed loses, and how long it may take to write. It is
	// advanced every markEvery.
	markAhead = 2 * time.Second
	markEvery = markAhead / 4
)

// stateFile is the file from which a restarted process takes up its lease.
//
// Its record is overwritten in place, so that the file keeps the device and the
// inode that are in it, and a copy does not have them. It is not synced: what
// counts is that it outlives the process, and it is of no use after the system was
// started anew. A flock is held on PATH.lock, which is never renamed or removed,
// and on the file itself, for as long as the process lives. A second record in
// PATH.lock shows when an old one is put back into the file.
//
// The generator is given no tick that is not before the mark, and the mark is
// written before that.
type stateFile struct {
	path string
	host hostFacts
	lock *os.File
	file *os.File // nil if there is none
	rec  record   // as last written
}

// openStateFile takes the lock, and returns the record if it is valid: nil, and
// why not, if it isn't.
func openStateFile(path string, host hostFacts) (f *stateFile, found *record, why, err error) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, nil, &StateFileError{Path: path, Problem: "its lock can't be opened", Err: err,
			Remedy: "Let the process write into the directory, or leave StateFile out."}
	}
	f = &stateFile{path: path, host: host, lock: lock}
	if err := lockFile(lock); err != nil {
		return nil, nil, nil, errors.Join(errInUse(path, err), lock.Close())
	}
	found, why = f.load()
	if found != nil {
		return f, found, nil, nil
	}
	if f.file != nil {
		if err := lockFile(f.file); err != nil {
			return nil, nil, nil, errors.Join(errInUse(path, err), f.file.Close(), lock.Close())
		}
	}
	return f, nil, why, nil
}

func errInUse(path string, err error) error {
	return &StateFileError{Path: path, Problem: "its lock can't be taken", Err: err,
		Remedy: "If another process has it, give each a file of its own."}
}

// load reads the record that a process before us has left.
func (f *stateFile) load() (*record, error) {
	file, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it is not there")
	}
	if err != nil {
		return nil, err
	}
	f.file = file
	rec, err := readRecord(file)
	if err != nil {
		return nil, err
	}
	second, err := readRecord(f.lock)
	if err != nil {
		return nil, fmt.Errorf("read second record: %w", err)
	}
	here, err := identify(file, f.host)
	switch {
	case err != nil:
		return nil, err
	case rec.place != here:
		return nil, fmt.Errorf("it was written as %s, and this is %s", rec.place, here)
	case second.Nonce != rec.Nonce || second.Mark > rec.Mark:
		return nil, errors.New("it is older than what was written last")
	}
	if err := lockFile(file); err != nil {
		return nil, err
	}
	f.rec = rec
	return &rec, nil
}

// create puts a new file for a lease in the place of whatever is there. Its
// first record is written before the first tick is used.
func (f *stateFile) create(h hold) error {
	if err := f.drop(); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.file = file
	if err := lockFile(file); err != nil {
		return err
	}
	at, err := identify(file, f.host)
	f.rec = recordOf(h, at, h.rect.from, 0)
	return err
}

// write writes the record, the second one first: what is in the file is never
// ahead of it.
func (f *stateFile) write(rec record) error {
	text, err := rec.encode()
	if err != nil {
		return err
	}
	for _, file := range []*os.File{f.lock, f.file} {
		if _, err := file.WriteAt(text, 0); err != nil {
			return err
		}
	}
	f.rec = rec
	return nil
}

// writeMark writes what is held, with a mark ahead of now and of the tick used
// last, and returns the mark. The time is a hint for who takes the lease up.
func (f *stateFile) writeMark(h hold, now serverTime, lastTick int64, maxAhead time.Duration) (int64, error) {
	uptime, err := f.host.uptimeMilli()
	if err != nil {
		return 0, err
	}
	h.time = now
	ahead := (markAhead+maxAhead).Milliseconds()/h.terms.layout.unit + 1
	mark := max(h.terms.tick(now.ms), h.rect.from, lastTick) + ahead
	mark = min(max(mark, f.rec.Mark), h.rect.until)
	return mark, f.write(recordOf(h, f.rec.place, mark, uptime))
}

// drop removes the file; that it is not there is no error.
func (f *stateFile) drop() error {
	if f.file != nil {
		_ = f.file.Close() // what matters is that it goes
		f.file = nil
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove removes the file and gives the lock up.
func (f *stateFile) remove() error {
	if err := f.drop(); err != nil {
		return errors.Join(&StateFileError{Path: f.path, Problem: "it can't be removed, so its worker number is not released", Err: err,
			Remedy: "Remove it yourself; the number is free when its lease has run out."}, f.keep())
	}
	return f.keep()
}

// keep gives the locks up and leaves the file to the next process.
func (f *stateFile) keep() error {
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	return errors.Join(err, f.lock.Close())
}
