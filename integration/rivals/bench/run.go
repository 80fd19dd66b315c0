package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flavors are what Options says, or "" for what the tests run on anyway.
func (o Options) flavors() []string {
	if len(o.Flavors) == 0 {
		return []string{""}
	}
	return o.Flavors
}

// run measures everything. A flavour that is not there is skipped, and named.
func (o Options) run(t *testing.T) *report {
	r := &report{date: time.Now()}
	flavors := o.flavors()
	part := func(name string, measure func(t *testing.T) *group) {
		var g *group
		t.Run(name, func(t *testing.T) { g = measure(t) })
		if g == nil {
			r.missing = append(r.missing, name)
			return
		}
		r.table.groups = append(r.table.groups, g)
	}
	part("memory", func(t *testing.T) *group { return o.process(t, direct(t, newFleet(t, 2, flavors[0])...)) })
	for _, flavor := range flavors {
		name := flavor
		if name == "" {
			name = "servers"
		}
		part(name, func(t *testing.T) *group { return o.servers(t, flavor) })
	}
	part("Redis", func(t *testing.T) *group { return o.redis(t) })
	t.Run("failover", func(t *testing.T) { r.failover = o.failover(t, flavors[0]) })
	if t.Failed() {
		return nil
	}
	r.took = time.Since(r.date)
	r.machine = machine()
	for _, g := range r.table.groups[1:] {
		r.machine = append(r.machine, g.title)
	}
	versions, err := modules("../go.mod")
	require.NoError(t, err)
	r.machine = append(r.machine, strings.Join(versions, ", "))
	return r
}
