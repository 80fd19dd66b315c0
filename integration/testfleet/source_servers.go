package testfleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// serversEnv lists servers that run already: DSNs of accounts that may do
// everything, separated by white space.
const serversEnv = "ODDEVEN_TEST_SERVERS"

// serversSource hands out servers that somebody else runs. It can start, stop
// and copy nothing.
type serversSource struct {
	mu   sync.Mutex
	free []*mysql.Config
}

// newServersSource reads the DSNs.
func newServersSource() (*serversSource, error) {
	s := &serversSource{}
	for i, dsn := range strings.Fields(os.Getenv(serversEnv)) {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			// The text of err is left out: it could show a part of the password.
			return nil, fmt.Errorf("%s: number %d is not a DSN of the form root:password@tcp(host:port)/", serversEnv, i+1)
		}
		if cfg.Net != "tcp" {
			return nil, fmt.Errorf("%s: number %d does not use tcp", serversEnv, i+1)
		}
		s.free = append(s.free, cfg)
	}
	if len(s.free) == 0 {
		return nil, errors.New(serversEnv + " is empty")
	}
	return s, nil
}

func (s *serversSource) name() string { return "servers" }
func (s *serversSource) close() error { return nil }

// isDefault reports false for every version: they are what they are.
func (s *serversSource) isDefault(version string) bool { return version == "" }

func (s *serversSource) create(_ context.Context, want spec) (instance, error) {
	if want.version != "" || len(want.options) > 0 || len(want.env) > 0 {
		return nil, fmt.Errorf("%w: %s gives servers as they are, without choice of version or options", errImpossible, serversEnv)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		return nil, fmt.Errorf("%w: %s names fewer servers than this test needs", errImpossible, serversEnv)
	}
	cfg := s.free[0]
	s.free = s.free[1:]
	return externalInstance{cfg: cfg}, nil
}

// externalInstance is a server that runs whatever we do.
type externalInstance struct {
	cfg *mysql.Config
}

func (i externalInstance) addr() string                      { return i.cfg.Addr }
func (i externalInstance) rootUser() (name, password string) { return i.cfg.User, i.cfg.Passwd }
func (i externalInstance) alive(context.Context) error       { return nil }
func (i externalInstance) remove(context.Context) error      { return nil }

func (i externalInstance) start(context.Context) error  { return i.impossible("start") }
func (i externalInstance) kill(context.Context) error   { return i.impossible("kill") }
func (i externalInstance) stop(context.Context) error   { return i.impossible("stop") }
func (i externalInstance) pause(context.Context) error  { return i.impossible("pause") }
func (i externalInstance) resume(context.Context) error { return i.impossible("resume") }
func (i externalInstance) save(context.Context, string) error {
	return i.impossible("copy the data of")
}
func (i externalInstance) load(context.Context, string) error { return i.impossible("rewind") }
func (i externalInstance) clone(context.Context, string) (instance, error) {
	return nil, i.impossible("copy")
}

func (i externalInstance) impossible(what string) error {
	return fmt.Errorf("%w: cannot %s a server of %s", errImpossible, what, serversEnv)
}
