package testfleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// sourceEnv forces a source: "servers", "docker" or "process".
const sourceEnv = "ODDEVEN_TEST_SOURCE"

// candidates returns the sources to ask for a server, in order. For a server
// without particular wishes that is the chosen source alone. A particular
// version or environment may come from the other kind, so that a test of a
// mixed fleet runs wherever it can. Caller must hold mu.
func (r *run) candidates(s spec) ([]source, error) {
	if err := r.choose(); err != nil {
		return nil, err
	}
	list := []source{r.chosen}
	if s.version == "" && len(s.env) == 0 || r.chosen.name() == "servers" {
		return list, nil
	}
	for _, name := range []string{"docker", "process"} {
		if name == r.chosen.name() {
			continue
		}
		if src, err := r.source(name); err == nil {
			list = append(list, src)
		}
	}
	return list, nil
}

// choose decides once where servers come from: from where ODDEVEN_TEST_SOURCE
// says, else ODDEVEN_TEST_SERVERS if that is set, else a Docker engine if one
// answers, else server binaries. Caller must hold mu.
func (r *run) choose() (err error) {
	if r.chosen != nil {
		return nil
	}
	if name := os.Getenv(sourceEnv); name != "" {
		if r.chosen, err = r.source(name); err != nil {
			return fmt.Errorf("%s=%s: %w", sourceEnv, name, err)
		}
		return nil
	}
	if os.Getenv(serversEnv) != "" {
		r.chosen, err = r.source("servers")
		return err
	}
	docker, dockerErr := r.source("docker")
	if dockerErr == nil {
		r.chosen = docker
		return nil
	}
	if r.chosen, err = r.source("process"); err != nil {
		return fmt.Errorf("no servers to test on; scripts/test-servers gets some, `make test` runs it: %w", errors.Join(dockerErr, err))
	}
	return nil
}

// source returns the source of that name, opened on its first use. Caller must hold mu.
func (r *run) source(name string) (src source, err error) {
	if src, ok := r.sources[name]; ok {
		return src, nil
	}
	switch name {
	case "servers":
		src, err = newServersSource()
	case "docker":
		src, err = r.openDocker()
	case "process":
		src, err = newProcessSource(r.ctx, r.dir)
	default:
		err = errors.New(`neither "servers", "docker" nor "process"`)
	}
	if err != nil {
		return nil, err
	}
	r.sources[name] = src
	return src, nil
}

// dockerMark is a file in a run's directory that tells the reaper that there
// may be containers.
const dockerMark = "docker"

// openDocker connects to the Docker engine, and removes the containers of runs
// that were killed.
func (r *run) openDocker() (source, error) {
	d, err := newDockerSource(r.ctx, r.owner)
	if err != nil {
		return nil, err
	}
	if n, err := d.removeOwned(r.ctx, owner.dead); err != nil {
		fmt.Fprintf(os.Stderr, "testfleet: cannot remove containers that an earlier run left: %v\n", err)
	} else if n > 0 {
		fmt.Fprintf(os.Stderr, "testfleet: removed %d containers that an earlier run left\n", n)
	}
	if err := os.WriteFile(filepath.Join(r.dir, dockerMark), nil, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("note use of Docker: %w", err), d.close())
	}
	return d, nil
}

// nothingLeft returns an error if a container of this run exists.
func (d *dockerSource) nothingLeft() error {
	ctx, cancel := context.WithTimeout(context.Background(), opLimit)
	defer cancel()
	n, err := d.removeOwned(ctx, func(o owner) bool { return o == d.owner })
	if n > 0 {
		err = errors.Join(err, fmt.Errorf("%d containers were left at the end", n))
	}
	return err
}
