package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func config(seed uint64) Config {
	return Config{Seed: seed, Duration: 5 * time.Minute, Servers: 2 + int(seed%3), Clients: 8 + int(seed%5)}
}

func TestSameSeedPlansTheSame(t *testing.T) {
	t.Parallel()
	hashes := map[string]bool{}
	for seed := range uint64(50) {
		first, again := New(config(seed)), New(config(seed))
		require.Equal(t, first, again)
		hashes[Hash(first)] = true
	}
	require.Len(t, hashes, 50, "different seeds plan differently")
}

// A plan that was recorded: nothing but a new version of this package may change it.
func TestPlanDependsOnTheSeedAlone(t *testing.T) {
	t.Parallel()
	require.Equal(t, "f675586a29868be8", Hash(New(Config{Seed: 1, Duration: time.Minute, Servers: 2, Clients: 8})))
}

func TestEveryKindComesUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		for _, cluster := range []bool{false, true} {
			cfg := config(seed)
			cfg.Cluster = cluster
			n := Count(New(cfg))
			for _, kind := range Kinds() {
				if kind.Default() && (kind != ClusterKill || cluster) {
					require.GreaterOrEqual(t, n[kind], 2, "seed %d: %s", seed, kind)
				}
			}
			require.Equal(t, cluster, n[ClusterKill] > 0)
		}
	}
}

func TestStepsKeepAwayFromEachOther(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		cfg := config(seed)
		steps := New(cfg)
		combined := 0
		for i, a := range steps {
			require.GreaterOrEqual(t, a.At, begin)
			require.LessOrEqual(t, a.At+a.For, cfg.Duration-end)
			for _, b := range steps[i+1:] {
				if b.At < a.At+a.For {
					combined++
				}
				switch {
				case b.At < a.At:
					t.Fatalf("out of order: %s, %s", a, b)
				case b.At >= a.At+a.For+rest: // and so may those be that follow, or not: short ones come first
				case a.Kind.Forgets() && b.Kind.Forgets():
					t.Fatalf("two servers forget at a time: %s, %s", a, b)
				case a.sharesTarget(b):
					t.Fatalf("one target has two faults at a time: %s, %s", a, b)
				}
			}
		}
		require.Positive(t, combined)
	}
}

// sharesTarget reports whether two faults have the same target in the same way.
func (s Step) sharesTarget(o Step) bool {
	if s.Kind.OnClient() != o.Kind.OnClient() || s.Kind.OnNetwork() != o.Kind.OnNetwork() {
		return false
	}
	return s.Target == o.Target || s.Target == All || o.Target == All
}

func TestOnlyKindsAskedFor(t *testing.T) {
	t.Parallel()
	cfg := config(3)
	cfg.Kinds = []Kind{ServerRewind, ClientKill}
	n := Count(New(cfg))
	require.Len(t, n, 2)
	require.Zero(t, Count(New(config(3)))[ServerRewindAlone], "has to be asked for")
	require.Positive(t, n[ServerRewind])
	require.Positive(t, n[ClientKill])
}

func TestClusterGetsWhatAClusterCanHave(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		cfg := config(seed)
		cfg.Cluster = true
		for _, s := range New(cfg) {
			if !s.Kind.OnClient() && s.Target == cfg.Servers-1 {
				spec, _ := lookup(s.Kind)
				require.True(t, spec.cluster, "%s", s)
			} else if !s.Kind.OnClient() {
				require.NotEqual(t, ClusterKill, s.Kind)
			}
		}
	}
}

func TestShortRunsHaveFaultsOfAllKinds(t *testing.T) {
	t.Parallel()
	n := Count(New(Config{Seed: 1, Duration: 45 * time.Second, Servers: 2, Clients: 8}))
	for _, kind := range Kinds() {
		if kind.Default() && kind != ClusterKill {
			require.Positive(t, n[kind], "%s: the short edition has a fixed seed", kind)
		}
	}
}
