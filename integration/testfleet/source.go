package testfleet

import (
	"context"
	"errors"
	"strings"
)

// A source is where servers come from: a Docker engine, server binaries on
// this host, or servers that somebody else runs. Methods may be called
// concurrently.
type source interface {
	// name is the value of ODDEVEN_TEST_SOURCE that chooses this source.
	name() string
	// isDefault reports whether a server of no particular version is of that one.
	isDefault(version string) bool
	// create makes a server and starts it. It answers soon, not at once.
	create(ctx context.Context, s spec) (instance, error)
	// close releases what the source itself holds, after its servers are gone.
	close() error
}

// A spec says what server to create.
type spec struct {
	version      string   // see Versions; "" is the source's default
	options      []string // of the server, "--name=value"
	env          []string // "NAME=value"
	files        map[string][]byte
	rootPassword string
}

// filesPlace stands in options for the directory that files are in.
const filesPlace = "{files}"

// placed are options with the directory of the files in its place.
func placed(options []string, dir string) []string {
	all := make([]string, len(options))
	for i, o := range options {
		all[i] = strings.ReplaceAll(o, filesPlace, dir)
	}
	return all
}

// An instance is one server and its data, the server running or not. The
// caller sees to it that operations on one instance do not overlap and that
// they make sense in its state.
type instance interface {
	// addr is host:port. It stays the same from start to start.
	addr() string
	// rootUser is who may do everything on the server, with spec.rootPassword.
	rootUser() (name, password string)
	start(ctx context.Context) error  // a stopped server
	kill(ctx context.Context) error   // SIGKILL; returns when the process is gone
	stop(ctx context.Context) error   // orderly
	pause(ctx context.Context) error  // SIGSTOP
	resume(ctx context.Context) error // SIGCONT
	// save copies the data of a server that is stopped or paused to path,
	// which does not exist.
	save(ctx context.Context, path string) error
	// load replaces the data of a stopped server by what save has written.
	load(ctx context.Context, path string) error
	// clone creates a second server with the data that save has written and
	// this server's options, on a port of its own, and starts it.
	clone(ctx context.Context, path string) (instance, error)
	// alive returns an error with the end of the server's log if its process
	// has ended.
	alive(ctx context.Context) error
	// remove ends the server and deletes its data.
	remove(ctx context.Context) error
}

// errImpossible is wrapped by errors of operations that a source cannot do for
// lack of power over its servers. The test that asks is skipped, loudly.
var errImpossible = errors.New("not possible with this source of servers")

// serverOptions are what every server is started with: small, and as durable
// as production must be. Nothing here concerns auto_increment: clients set that
// for their sessions.
func serverOptions(extra []string) []string {
	return append([]string{
		"--skip-name-resolve",
		"--performance-schema=OFF",
		"--innodb-flush-log-at-trx-commit=1",
		"--sync-binlog=1",
		"--innodb-buffer-pool-size=32M",
		"--loose-innodb-redo-log-capacity=32M", // MySQL
		"--max-connections=500",
	}, extra...)
}
