package leasemodel_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/leasemodel"
)

func TestNoTickBelongsToTwoLeases(t *testing.T) {
	t.Parallel()
	began := time.Now()
	states, way := leasemodel.Explore(leasemodel.Rules{}, 4)
	t.Logf("%d states in %s", states, time.Since(began))
	require.Empty(t, way)
	require.Greater(t, states, 10_000)
}

func TestRandomWalks(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		require.Empty(t, leasemodel.Walk(leasemodel.Rules{}, 50_000, random), "seed %d", seed)
	}
	t.Logf("%s", time.Since(began))
}

func TestEveryRuleIsNeeded(t *testing.T) {
	t.Parallel()
	missing := map[string]leasemodel.Rules{
		"NoPark": {NoPark: true}, "ParkBriefly": {ParkBriefly: true}, "RenewLate": {RenewLate: true}, "RenewAdds": {RenewAdds: true},
		"GrantEarly": {GrantEarly: true}, "ReleaseParked": {ReleaseParked: true}, "ReleaseAnybody": {ReleaseAnybody: true},
		"ReleaseAllUsed": {ReleaseAllUsed: true}, "SameNonce": {SameNonce: true}, "LostReplyCounts": {LostReplyCounts: true},
		"ClockMayGoBack": {ClockMayGoBack: true},
	}
	for name, rules := range missing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states, way := leasemodel.Explore(rules, 6)
			require.NotEmpty(t, way, "%d states without a duplicate", states)
			t.Logf("%d steps, %d states", len(way), states)
		})
	}
}
