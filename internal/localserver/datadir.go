package localserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// The data directory is there as a whole or not at all. data.tmp is being
// made and worth nothing; data.old is the one being replaced by RestoreFrom,
// and good as long as there is no data.

// prepareData repairs what an earlier run left half done, and makes the data
// directory if there is none. Caller must hold the lock.
func prepareData(ctx context.Context, c Config, h home, lock *dirLock) error {
	if err := repairData(h); err != nil {
		return fmt.Errorf("repair data directory: %w", err)
	}
	exists, err := exists(h.path(dataName))
	if err != nil {
		return fmt.Errorf("find data directory: %w", err)
	}
	if exists {
		return checkFlavor(c, h)
	}
	return initialise(ctx, c, h, lock)
}

// repairData finishes or undoes a step that was interrupted.
func repairData(h home) error {
	if err := os.RemoveAll(h.path(dataTmpName)); err != nil {
		return err
	}
	exists, err := exists(h.path(dataName))
	if err != nil {
		return err
	}
	if exists {
		return os.RemoveAll(h.path(dataOldName))
	}
	err = os.Rename(h.path(dataOldName), h.path(dataName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there never was any data
	}
	return err
}

// initialise makes a data directory with root@localhost and nothing else.
func initialise(ctx context.Context, c Config, h home, lock *dirLock) error {
	log, err := openLog(h)
	if err != nil {
		return err
	}
	defer log.file.Close() //nolint:errcheck // the child writes it, not we

	path, args := installCommand(c.Installation, h.path(dataTmpName))
	cmd := exec.Command(path, args...) //nolint:noctx // runCommand also ends the children
	cmd.Dir = string(h)
	cmd.Env = append(environment(h), installEnv(c.Installation)...)
	cmd.Stdout, cmd.Stderr = log.file, log.file
	cmd.ExtraFiles = []*os.File{lock.file}
	if err := runCommand(ctx, cmd); err != nil {
		return &StartError{
			Dir: string(h),
			Err: fmt.Errorf("initialise data directory: %w", err),
			Log: lastLines(log.text(), installLogLines),
		}
	}
	if err := writeFile(h.path(flavorName), string(c.Installation.Flavor)+"\n"); err != nil {
		return fmt.Errorf("write flavor: %w", err)
	}
	if err := os.Rename(h.path(dataTmpName), h.path(dataName)); err != nil {
		return fmt.Errorf("finish data directory: %w", err)
	}
	return nil
}

// checkFlavor refuses data of the other flavor before a server touches it.
func checkFlavor(c Config, h home) error {
	text, err := os.ReadFile(h.path(flavorName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // data came from elsewhere; the server itself will judge
	}
	if err != nil {
		return fmt.Errorf("read flavor: %w", err)
	}
	if have := Flavor(strings.TrimSpace(string(text))); have != c.Installation.Flavor {
		return &FlavorError{Dir: string(h), Have: have, Want: c.Installation.Flavor}
	}
	return nil
}

// exists reports whether something is at path.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
