package localserver

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers branch on.
var (
	// ErrNotServer is wrapped by the error of [Inspect] and [Open] for a
	// program that is not a MySQL or MariaDB server.
	ErrNotServer = errors.New("localserver: not a MySQL or MariaDB server")
	// ErrRunning is returned by [Server.Start], [Server.Snapshot] and
	// [Server.RestoreFrom] when the server runs.
	ErrRunning = errors.New("localserver: server is running")
	// ErrNotRunning is returned by [Server.Pause] and [Server.Resume] when
	// the server does not run.
	ErrNotRunning = errors.New("localserver: server is not running")
)

// NotFoundError is the error of [Find] when no server binary is installed.
type NotFoundError struct {
	Searched []string // directories, possibly with wildcards
	Problems []error  // binaries that were found but do not work
}

// Error names what was searched, what did not work and what to install.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "localserver: no working mysqld or mariadbd in %s", strings.Join(e.Searched, ", "))
	for _, problem := range e.Problems {
		fmt.Fprintf(&b, "; %v", problem)
	}
	fmt.Fprintf(&b, "; on Debian or Ubuntu this helps: %s", aptCommand)
	return b.String()
}

// Unwrap returns why the binaries that were found do not work.
func (e *NotFoundError) Unwrap() []error { return e.Problems }

// LockedError says that another process, or another Server of this process,
// uses a directory.
type LockedError struct {
	Dir string
	PID int // the process that took the lock; 0 if unknown
}

// Error names the directory and the process.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("localserver: directory %s is in use", e.Dir)
	}
	return fmt.Sprintf("localserver: directory %s is in use by process %d or a server it left behind", e.Dir, e.PID)
}

// FlavorError says that a directory was made by the other flavor of server.
type FlavorError struct {
	Dir        string
	Have, Want Flavor // what the directory holds, what was to be started
}

// Error names the directory and both flavors.
func (e *FlavorError) Error() string {
	return fmt.Sprintf("localserver: directory %s holds data of %s, not of %s; use another directory or delete it", e.Dir, e.Have, e.Want)
}

// PortInUseError says that the port a server has to use is taken.
type PortInUseError struct {
	Port int
}

// Error names the port.
func (e *PortInUseError) Error() string {
	return fmt.Sprintf("localserver: port %d on 127.0.0.1 is in use by another program", e.Port)
}

// StartError says that a process did not become a working server. The
// process has ended when this error is returned.
type StartError struct {
	Dir string
	Err error  // why; wraps the context's error if that ended the wait
	Log string // the last lines the server printed, without passwords
}

// Error gives the reason and the end of the server's log.
func (e *StartError) Error() string {
	return fmt.Sprintf("localserver: start server in %s: %v\n--- end of %s ---\n%s", e.Dir, e.Err, logName, e.Log)
}

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }
