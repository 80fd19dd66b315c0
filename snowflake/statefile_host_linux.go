package snowflake

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// hostFacts are the files that tell one machine, and one start of it, from every
// other.
type hostFacts struct{ boot, machine, uptime string }

// thisHost is where Linux has them.
func thisHost() hostFacts {
	return hostFacts{boot: "/proc/sys/kernel/random/boot_id", machine: "/etc/machine-id", uptime: "/proc/uptime"}
}

// identify is where a file is.
func identify(file *os.File, host hostFacts) (place, error) {
	var p place
	for _, fact := range []struct {
		path string
		into *string
	}{{host.boot, &p.Boot}, {host.machine, &p.Machine}} {
		text, err := os.ReadFile(fact.path)
		if err != nil {
			return p, err
		}
		if *fact.into = string(bytes.TrimSpace(text)); *fact.into == "" || len(*fact.into) > 64 {
			return p, fmt.Errorf("%s does not say which it is", fact.path)
		}
	}
	info, err := file.Stat()
	if err != nil {
		return p, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return p, errors.New("the file has no inode")
	}
	p.Device, p.Inode = uint64(stat.Dev), stat.Ino // 32 bits on some platforms
	return p, nil
}

// uptimeMilli is how long the host has been up, in milliseconds. Time during
// which it was suspended counts.
func (h hostFacts) uptimeMilli() (int64, error) {
	text, err := os.ReadFile(h.uptime)
	if err != nil {
		return 0, err
	}
	var seconds float64
	if _, err := fmt.Sscan(string(text), &seconds); err != nil {
		return 0, fmt.Errorf("read %s: %w", h.uptime, err)
	}
	return int64(seconds * 1000), nil
}

// lockFile takes the file's lock or fails at once. The lock goes when the process
// does.
func lockFile(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
