package testfleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/oddeven/oddeven/internal/localserver"
)

// processSource runs server binaries of this host as child processes.
type processSource struct {
	dir   string // of this run
	found []localserver.Installation
	count atomic.Int64
}

// binaryEnv names the server binary to use.
const binaryEnv = "ODDEVEN_TEST_SERVER_BINARY"

// newProcessSource finds the server binaries: the one of ODDEVEN_TEST_SERVER_BINARY
// if that is set, else all that are installed.
func newProcessSource(ctx context.Context, dir string) (*processSource, error) {
	if path := os.Getenv(binaryEnv); path != "" {
		inst, err := localserver.Inspect(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", binaryEnv, err)
		}
		return &processSource{dir: dir, found: []localserver.Installation{inst}}, nil
	}
	found, err := localserver.Find(ctx)
	if err != nil {
		return nil, err
	}
	return &processSource{dir: dir, found: found}, nil
}

func (p *processSource) name() string { return "process" }
func (p *processSource) close() error { return nil }

// installation returns the first binary of that version.
func (p *processSource) installation(version string) (localserver.Installation, error) {
	if version == "" {
		return p.found[0], nil
	}
	flavor, number, _ := strings.Cut(version, ":")
	for _, inst := range p.found {
		if string(inst.Flavor) == flavor && (number == "" || strings.HasPrefix(inst.Version+".", number+".")) {
			return inst, nil
		}
	}
	return localserver.Installation{}, fmt.Errorf("%w: no server binary of %s is installed", errImpossible, version)
}

func (p *processSource) isDefault(version string) bool {
	inst, err := p.installation(version)
	return err == nil && inst == p.found[0]
}

// newDir returns the path of a directory for one server.
func (p *processSource) newDir() string {
	return filepath.Join(p.dir, fmt.Sprintf("server-%d", p.count.Add(1)))
}

func (p *processSource) create(ctx context.Context, s spec) (instance, error) {
	inst, err := p.installation(s.version)
	if err != nil {
		return nil, err
	}
	dir := p.newDir()
	files := dir + "-files" // removed with the run
	if err := writeFiles(files, s.files); err != nil {
		return nil, err
	}
	return p.open(ctx, localserver.Config{
		Installation: inst,
		Dir:          dir,
		RootPassword: s.rootPassword,
		Options:      serverOptions(placed(s.options, files)),
		Env:          s.env,
	})
}

// writeFiles makes a directory with files, if there are any.
func writeFiles(dir string, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make directory for files: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
	}
	return nil
}

func (p *processSource) open(ctx context.Context, cfg localserver.Config) (instance, error) {
	server, err := localserver.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &processInstance{source: p, cfg: cfg, server: server}, nil
}

// processInstance is a server process.
type processInstance struct {
	source *processSource
	cfg    localserver.Config
	server *localserver.Server
}

func (i *processInstance) addr() string                             { return i.server.Addr() }
func (i *processInstance) rootUser() (name, password string)        { return "root", i.cfg.RootPassword }
func (i *processInstance) start(ctx context.Context) error          { return i.server.Start(ctx) }
func (i *processInstance) kill(context.Context) error               { return i.server.Kill() }
func (i *processInstance) stop(ctx context.Context) error           { return i.server.Stop(ctx) }
func (i *processInstance) pause(context.Context) error              { return i.server.Pause() }
func (i *processInstance) resume(context.Context) error             { return i.server.Resume() }
func (i *processInstance) save(ctx context.Context, p string) error { return i.server.Snapshot(ctx, p) }
func (i *processInstance) load(ctx context.Context, p string) error {
	return i.server.RestoreFrom(ctx, p)
}

func (i *processInstance) clone(ctx context.Context, path string) (instance, error) {
	cfg := i.cfg
	cfg.Dir, cfg.Port = i.source.newDir(), 0
	if err := os.CopyFS(filepath.Join(cfg.Dir, "data"), os.DirFS(path)); err != nil {
		return nil, fmt.Errorf("copy data directory: %w", err)
	}
	return i.source.open(ctx, cfg)
}

func (i *processInstance) alive(context.Context) error {
	if i.server.Running() {
		return nil
	}
	return fmt.Errorf("the server in %s does not run; end of its log:\n%s", i.server.Dir(), i.server.LogTail(20))
}

func (i *processInstance) remove(context.Context) error {
	if err := i.server.Kill(); err != nil {
		return err
	}
	return os.RemoveAll(i.server.Dir())
}
