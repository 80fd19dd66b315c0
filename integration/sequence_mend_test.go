package integration

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
)

func TestDeletedSequenceGoesOnAboveWhatItMayHaveIssued(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	created := create(t, fleet, sequence.Spec{Name: "s", Ceiling: math.MaxInt32})
	reserve(t, servers.Servers[0], "s", 5000)
	_, err := sequence.Delete(bounded(t), fleet, "s")
	require.NoError(t, err)
	deleted := requireInOrder(t, fleet, "s")
	require.True(t, deleted.State.Deleted)
	require.InDelta(t, time.Now().Unix(), deleted.Servers[0].Row.DeletedAt.Unix(), 300)

	plan, err := sequence.Delete(bounded(t), fleet, "s")
	require.NoError(t, err)
	require.True(t, plan.Empty(), "deleted already")
	_, err = sequence.Bump(bounded(t), fleet, "s", 1)
	require.ErrorIs(t, err, sequence.ErrDeleted)

	_, err = sequence.Create(bounded(t), fleet, sequence.Spec{Name: "s", Ceiling: 5000})
	require.ErrorContains(t, err, "was used before and may have issued IDs up to 2")
	create(t, fleet, sequence.Spec{Name: "s", Description: "anew"})
	s := requireInOrder(t, fleet, "s")
	require.GreaterOrEqual(t, s.State.Base, int64(10000), "both servers' rounds and the hour's use")
	require.Equal(t, []int64{s.State.Base, s.State.Base}, rounds(t, servers, "s"))
	require.Greater(t, s.State.Birth, created.Changes[0].To.Birth)
	require.Equal(t, schema.CeilingFor(0), s.State.Ceiling)
	require.Equal(t, "anew", s.State.Description)
}

func TestDeletedRowIsLeaptAndAnOldOneRaised(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 3)
	create(t, fleet, sequence.Spec{Name: "s"})
	one, two, three := servers.Servers[0], servers.Servers[1], servers.Servers[2]
	reserve(t, one, "s", 900)
	reserve(t, two, "s", 70)
	asRoot(t, two, "DELETE FROM sequences")
	asRoot(t, three, "UPDATE sequences SET gen = gen + 1")
	s := readOne(t, fleet, "s")
	require.Equal(t, []sequence.Problem{sequence.Missing}, s.Servers[1].Problems)
	require.Equal(t, []sequence.Problem{sequence.OtherGen}, s.Servers[2].Problems)
	_, err := sequence.Create(bounded(t), fleet, sequence.Spec{Name: "s", Description: "another"})
	require.ErrorIs(t, err, sequence.ErrIncomplete)

	line := schema.ClockLine{Base: 0, Birth: s.State.Birth, Last: schema.CeilingFor(0)/3 - 1}
	plan, err := sequence.PlanRepair(bounded(t), fleet, "s")
	require.NoError(t, err)
	require.False(t, plan.Empty())
	require.Equal(t, []int64{900, 0, 0}, rounds(t, servers, "s"), "only planned")
	plan, err = sequence.Repair(bounded(t), fleet, "s")
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, true}, []bool{plan.Changes[0].Leap, plan.Changes[1].Leap, plan.Changes[2].Leap})
	after := rounds(t, servers, "s")
	require.Equal(t, int64(900), after[0], "was in order")
	require.GreaterOrEqual(t, after[1], line.At(s.State.Birth))
	require.Equal(t, after[1], after[2])
	require.Equal(t, s.State, requireInOrder(t, fleet, "s").State)
	plan, err = sequence.Repair(bounded(t), fleet, "s")
	require.NoError(t, err)
	require.True(t, plan.Empty())
}

// A row that is held back says that others were further. If none is left that says how
// far, an operator has to.
func TestHeldBackRowNeedsAStartIfNobodyKnowsHowFarItWas(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	create(t, fleet, sequence.Spec{Name: "s"})
	reserve(t, one, "s", 900)
	asRoot(t, one, "UPDATE sequences SET gen = 0")
	for _, lost := range []string{"UPDATE sequences SET rounds = 100", "DELETE FROM sequences"} {
		asRoot(t, two, lost)
		_, err := sequence.Repair(bounded(t), fleet, "s")
		require.ErrorIs(t, err, sequence.ErrFarAhead)
		require.ErrorContains(t, err, "bump NAME START")
		_, err = sequence.Delete(bounded(t), fleet, "s")
		require.ErrorIs(t, err, sequence.ErrFarAhead)
	}
	_, err := sequence.Create(bounded(t), fleet, sequence.Spec{Name: "s"})
	require.ErrorIs(t, err, sequence.ErrFarAhead, "an application that creates its sequence decides nothing")
	_, err = segment.Open(bounded(t), fleet, "s", segment.Config{Create: true})
	require.ErrorContains(t, err, "held back")
	require.Zero(t, value(t, one, "SELECT gen FROM sequences"))
	_, err = sequence.Bump(bounded(t), fleet, "s", 1_000_000)
	require.NoError(t, err)
	requireInOrder(t, fleet, "s")
	for _, after := range rounds(t, servers, "s") {
		require.GreaterOrEqual(t, after, int64(500_000))
	}
}

func TestMissedChangesAreMended(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	two := servers.Servers[1]
	for _, tt := range []struct {
		name    string
		old     string // what server 2 is put back to
		problem sequence.Problem
	}{
		{"bump", "UPDATE sequences SET rounds = 10, base = 0, birth = birth - 1000 WHERE name = 'bump'", sequence.Older},
		{"deletion", "UPDATE sequences SET deleted_at = NULL WHERE name = 'deletion'", sequence.NotDeleted},
		{"revival", "UPDATE sequences SET deleted_at = NOW(6), base = 0, birth = birth - 1 WHERE name = 'revival'", sequence.DeletedHere},
		{"ceiling", "UPDATE sequences SET ceiling = ceiling + 1000 WHERE name = 'ceiling'", sequence.OtherCeiling},
		{"description", "UPDATE sequences SET description = '' WHERE name = 'description'", sequence.OtherDescription},
	} {
		create(t, fleet, sequence.Spec{Name: tt.name, Start: 1 << 30, Description: "x", Ceiling: 1 << 50})
		if tt.name == "deletion" {
			_, err := sequence.Delete(bounded(t), fleet, tt.name)
			require.NoError(t, err)
		}
		want := requireInOrder(t, fleet, tt.name)
		before := rounds(t, servers, tt.name)
		asRoot(t, two, tt.old)
		require.Equal(t, []sequence.Problem{tt.problem}, readOne(t, fleet, tt.name).Servers[1].Problems, tt.name)
		_, err := sequence.Repair(bounded(t), fleet, tt.name)
		require.NoError(t, err, tt.name)
		require.Equal(t, want.State, requireInOrder(t, fleet, tt.name).State, tt.name)
		after := rounds(t, servers, tt.name)
		require.Equal(t, before[0], after[0])
		require.GreaterOrEqual(t, after[1], before[1], tt.name)
	}
}

func TestRowThatIsFarAheadIsNotFollowed(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 3)
	create(t, fleet, sequence.Spec{Name: "s"})
	asRoot(t, servers.Servers[1], "UPDATE sequences SET rounds = 1 << 50")
	require.Equal(t, []sequence.Problem{sequence.FarAhead}, readOne(t, fleet, "s").Servers[1].Problems)
	_, err := sequence.Repair(bounded(t), fleet, "s")
	require.ErrorIs(t, err, sequence.ErrFarAhead)
	require.ErrorContains(t, err, servers.Servers[1].Addr())
	_, err = sequence.Bump(bounded(t), fleet, "s", 1000)
	require.ErrorIs(t, err, sequence.ErrFarAhead)
	require.Equal(t, []int64{0, 1 << 50, 0}, rounds(t, servers, "s"))

	_, err = sequence.Bump(bounded(t), fleet, "s", 3<<50+3)
	require.NoError(t, err)
	require.Equal(t, []int64{1 << 50, 1 << 50, 1 << 50}, rounds(t, servers, "s"))
	requireInOrder(t, fleet, "s")

	asRoot(t, servers.Servers[2], "UPDATE sequences SET rounds = 18446744073709551615, base = 18446744073709551614")
	s := readOne(t, fleet, "s")
	require.Greater(t, s.HighestID(), int64(1)<<61, "shown, not wrapped around")
	require.Equal(t, []sequence.Problem{sequence.OtherBase, sequence.FarAhead}, s.Servers[2].Problems)
	_, err = sequence.Repair(bounded(t), fleet, "s")
	require.ErrorIs(t, err, sequence.ErrFarAhead)
}

// A server that is restored from before the sequence existed may have issued
// anything up to the clock line.
func TestServerRestoredFromBeforeTheSequenceIsRepaired(t *testing.T) {
	servers, fleet := sequenced(t, 2)
	one := servers.Servers[0]
	old := one.Snapshot()
	create(t, fleet, sequence.Spec{Name: "s"})
	reserve(t, one, "s", 3000)
	created := readOne(t, fleet, "s")
	one.RestartFrom(old)
	other := clientOf(t, servers.DSNs()...)
	s := readOne(t, other, "s")
	require.Equal(t, []sequence.Problem{sequence.Missing}, s.Servers[0].Problems)
	_, err := sequence.Repair(bounded(t), other, "s")
	require.NoError(t, err)
	s = requireInOrder(t, other, "s")
	require.Greater(t, s.Servers[0].Row.Rounds, int64(3000))
	require.Greater(t, s.Servers[0].Row.Gen, created.Servers[0].Row.Gen)
	require.Equal(t, created.State, s.State)
}
