package localserver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
)

// Names inside a server's directory.
const (
	dataName    = "data"
	dataTmpName = "data.tmp" // being made; worthless unless renamed
	dataOldName = "data.old" // being replaced; good until data is there
	logName     = "server.log"
	socketName  = "server.sock"
	pidName     = "server.pid"
	initName    = "init.sql" // there only during a start
	generalName = "general.log"
	tmpName     = "tmp" // emptied at every start
	portName    = "port"
	flavorName  = "flavor"
	lockName    = "lock"
)

// maxSocketPath is how long, in bytes, the path of a unix socket may be: 107
// on Linux, 103 on macOS and the BSDs.
const maxSocketPath = 103

// home is a server's directory: an absolute path without symbolic links.
type home string

// path returns the path of a name inside the directory.
func (h home) path(name string) string { return filepath.Join(string(h), name) }

// socket returns the path of the unix socket: inside the directory if it is
// short enough, else in the temporary directory under a name that depends on
// the directory only, so that all starts use the same one.
func (h home) socket() string {
	if path := h.path(socketName); len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(h))
	name := "oddeven-" + hex.EncodeToString(sum[:8]) + ".sock"
	if path := filepath.Join(os.TempDir(), name); len(path) <= maxSocketPath {
		return path
	}
	return filepath.Join("/tmp", name)
}

// removeSocket deletes the socket of a killed server. It matters for MySQL,
// which refuses to start if the process id in the socket's lock file is in use,
// even by an unrelated process. Caller must hold the lock.
func (h home) removeSocket() error {
	return errors.Join(os.RemoveAll(h.socket()), os.RemoveAll(h.socket()+".lock"))
}

// removeStale deletes what a killed server leaves, and makes an empty directory
// for temporary files. Caller must hold the lock.
func (h home) removeStale() error {
	err := errors.Join(h.removeSocket(), os.RemoveAll(h.path(pidName)), os.RemoveAll(h.path(tmpName)))
	if err != nil {
		return err
	}
	return os.Mkdir(h.path(tmpName), 0o700)
}

// writeFile replaces a small file as a whole: after a kill it is the old one or
// the new one.
func writeFile(path, text string) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
