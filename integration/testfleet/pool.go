package testfleet

import (
	"errors"
	"fmt"
	"slices"
)

// impossible reports whether err says that the source lacks the power.
func impossible(err error) bool { return errors.Is(err, errImpossible) }

// acquire returns n servers for a test; the caller releases them. Shared ones
// are started on their first use and kept until the end of the run.
func (r *run) acquire(n int, o options) ([]*node, error) {
	versions, err := r.canonical(o.versions)
	if err != nil {
		return nil, err
	}
	if o.private {
		specs := make([]spec, n)
		for i := range specs {
			specs[i] = spec{version: versions[i%len(versions)], options: o.server, env: o.env, files: o.files}
		}
		return r.open(specs)
	}
	slots := make([]slot, n)
	used := make(map[string]int)
	for i := range slots {
		version := versions[i%len(versions)]
		slots[i] = slot{version, used[version]}
		used[version]++
	}
	if len(r.missing(slots)) > 0 {
		if err := r.fill(slots); err != nil {
			return nil, err
		}
	}
	return r.take(slots)
}

// canonical returns the versions to cycle through. One that the default server
// has anyway is "", so that there is no second kind of shared servers for it.
func (r *run) canonical(versions []string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.prepare(), r.choose()); err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return []string{""}, nil
	}
	canonical := make([]string, len(versions))
	for i, v := range versions {
		if !r.chosen.isDefault(v) {
			canonical[i] = v
		}
	}
	return canonical, nil
}

// A slot is the place of a shared server: the k-th of a version.
type slot struct {
	version string
	k       int
}

// usual is how many servers of the default version are started at once when the
// first is needed: nearly every package needs two.
const usual = 2

// fill starts the shared servers that are missing.
func (r *run) fill(slots []slot) error {
	r.filling.Lock()
	defer r.filling.Unlock()
	missing := r.missing(slots)
	if len(missing) == 0 {
		return nil
	}
	nodes, err := r.open(missing)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range nodes {
		n.leave() // it belongs to nobody yet
		version := missing[i].version
		r.shared[version] = append(r.shared[version], n)
	}
	return nil
}

// missing returns what to create for slots that have no server.
func (r *run) missing(slots []slot) []spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := (slot{"", 0}); r.chosen.name() != "servers" && len(r.shared[""]) == 0 && slices.Contains(slots, first) {
		for k := range usual {
			if more := (slot{"", k}); !slices.Contains(slots, more) {
				slots = append(slots, more)
			}
		}
	}
	var specs []spec
	for _, s := range slots {
		if s.k >= len(r.shared[s.version]) {
			specs = append(specs, spec{version: s.version})
		}
	}
	return specs
}

// take counts the test among the users of each server.
func (r *run) take(slots []slot) ([]*node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := make([]*node, 0, len(slots))
	for _, s := range slots {
		n, err := r.enter(s)
		if err != nil {
			for _, n := range taken {
				n.leave()
			}
			return nil, err
		}
		taken = append(taken, n)
	}
	return taken, nil
}

// enter counts the test among the users of one server. Caller must hold mu.
func (r *run) enter(s slot) (*node, error) {
	list := r.shared[s.version]
	if s.k >= len(list) {
		return nil, errors.New("the run is over, or a server just failed")
	}
	n := list[s.k]
	if test := n.enter(); test != "" {
		return nil, fmt.Errorf("%s is being broken by %s, which must not call t.Parallel, or use Private()", n.name, test)
	}
	return n, nil
}

// enter adds a user, unless a test is breaking the server; then it names that.
func (n *node) enter() (breaker string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.broken == "" {
		n.users++
	}
	return n.broken
}

// leave takes the user away.
func (n *node) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.users--
}

// claim notes that a test changes the state of the server. It is refused if
// another test uses the server at the moment.
func (n *node) claim(test string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.users > 1 {
		return fmt.Errorf("%s is in use by another test or fleet; do not call t.Parallel, or use Private()", n.name)
	}
	n.broken = test
	return nil
}
