package sequence

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const someNow = 1_800_000_000

// on makes a sequence of rows; nil is a server without.
func on(rows ...*Row) Sequence {
	s := Sequence{Name: "s"}
	for i, row := range rows {
		s.Servers = append(s.Servers, OnServer{Server: string(rune('a' + i)), Class: schema.Class{Offset: int64(i + 1), Increment: int64(len(rows))}, Gen: 1, Now: someNow - int64(i), Row: row})
	}
	s.examine()
	return s
}

// at is a row that is in order, a day old.
func at(rounds int64, change ...func(*Row)) *Row {
	r := &Row{State: State{Birth: someNow - 24*3600, Ceiling: schema.CeilingFor(0)}, Rounds: rounds, Gen: 1}
	for _, c := range change {
		c(r)
	}
	return r
}

func deleted(r *Row) { r.Deleted = true }

// lineNow is the line of rows by at in a fleet of n.
func lineNow(n int64) int64 { return at(0).line(schema.Class{Offset: 1, Increment: n}).At(someNow) }

func planned(t *testing.T, s Sequence, p planner) Plan {
	t.Helper()
	plan, err := p(s, false)
	require.NoError(t, err)
	return plan
}

// afterwards are the rounds that a plan leads to.
func (p Plan) afterwards() []int64 {
	var all []int64
	for _, c := range p.Changes {
		all = append(all, c.To.Rounds)
	}
	return all
}

func TestNewSequenceBeginsAtItsStart(t *testing.T) {
	t.Parallel()
	for start, want := range map[int64]int64{0: 0, 1: 0, 3: 0, 4: 0, 5: 1, 6: 1, 7: 1, 8: 2, 1001: 333, 1002: 333, 1003: 333, 1004: 334} {
		p := planned(t, on(nil, nil, nil), Spec{Start: start}.plan)
		require.Equal(t, []int64{want, want, want}, p.afterwards(), "start %d", start)
		require.Equal(t, State{Base: want, Birth: someNow, Ceiling: schema.CeilingFor(0)}, p.Changes[0].To.State)
		for _, c := range p.Changes {
			require.GreaterOrEqual(t, c.FirstID(), start)
			require.False(t, c.Leap)
		}
		require.Less(t, p.Changes[0].To.Rounds*3-3+1, max(start, 1), "no lower round would do")
	}
}

func TestMissingRowLeapsToTheLine(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500), nil), repair)
	require.Equal(t, []int64{500, lineNow(2)}, p.afterwards())
	require.Equal(t, []bool{false, true}, []bool{p.Changes[0].Changes(), p.Changes[1].Changes()})
	require.Equal(t, p.Changes[0].From.State, p.Changes[1].To.State)
}

func TestRowOfAnotherGenerationLeaps(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500), at(700, func(r *Row) { r.Gen = 2 })), repair)
	require.Equal(t, []int64{500, lineNow(2)}, p.afterwards())
	require.Equal(t, int64(1), p.Changes[1].To.Gen)
}

func TestLeapBeyondTheLineAddsAnHourAndMovesTheBase(t *testing.T) {
	t.Parallel()
	fast := lineNow(2) + 1_000_000
	s := on(at(fast, func(r *Row) { r.Peak = 4000 }), nil)
	p := planned(t, s, repair)
	require.Equal(t, []int64{fast, fast + 4000}, p.afterwards())
	for _, c := range p.Changes {
		require.Equal(t, fast+4000, c.To.Base)
		require.Equal(t, int64(someNow), c.To.Birth)
	}
}

func TestNewBirthIsLaterThanAllBeforeWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	future := func(r *Row) { r.Birth = someNow + 100 }
	p := planned(t, on(at(5, future), at(5, future)), bump(1000))
	require.Equal(t, int64(someNow+101), p.Changes[0].To.Birth)
	s := on(at(5), at(5, func(r *Row) { r.Birth = someNow }))
	require.Equal(t, int64(someNow+1), planned(t, s, bump(1)).Changes[0].To.Birth)
}

func TestBumpTakesEveryServerToTheGreatestRound(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500), at(700)), bump(1203))
	require.Equal(t, []int64{700, 700}, p.afterwards())
	p = planned(t, on(at(500), at(700)), bump(2001))
	require.Equal(t, []int64{999, 999}, p.afterwards())
	require.True(t, planned(t, on(at(500), at(700)), bump(1001)).Empty(), "beyond it already")
	_, err := bump(schema.CeilingFor(0))(on(at(500), at(700)), false)
	var config *ticket.ConfigError
	require.ErrorAs(t, err, &config)
	require.Equal(t, "Start", config.Field)
}

func TestRevivedSequenceIsAboveEveryLine(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500, deleted), at(700, deleted), at(1, deleted)), Spec{Start: 9}.plan)
	require.Equal(t, []int64{lineNow(3), lineNow(3), lineNow(3)}, p.afterwards())
	require.Equal(t, lineNow(3), p.Changes[0].To.Base)
	require.Equal(t, []bool{false, false, false}, []bool{p.Changes[0].To.Deleted, p.Changes[1].To.Deleted, p.Changes[2].To.Deleted})
	start := 10 * lineNow(3)
	p = planned(t, on(at(500, deleted), at(700, deleted), at(1, deleted)), Spec{Start: start}.plan)
	require.GreaterOrEqual(t, p.Changes[0].FirstID(), start)
	_, err := Spec{Ceiling: lineNow(3)}.plan(on(at(500, deleted), at(700, deleted), nil), false)
	require.ErrorContains(t, err, "leaves no room; the sequence was used before")
}

func TestTombstoneIsNewerThanTheLivingRowOfItsBirth(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500), at(700, deleted), nil), repair)
	require.Equal(t, []int64{lineNow(3), 700, lineNow(3)}, p.afterwards())
	for _, c := range p.Changes {
		require.True(t, c.To.Deleted)
		require.False(t, c.To.DeletedAt.IsZero())
	}
	later := func(r *Row) { r.Birth = someNow - 10 }
	p = planned(t, on(at(500, later), at(700, deleted)), repair)
	require.False(t, p.Changes[1].To.Deleted, "created again since")
}

func TestCreationThatWasCutOffIsCompletedByTheSame(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500), nil), Spec{}.plan)
	require.Equal(t, []int64{500, lineNow(2)}, p.afterwards())
	start := 4 * lineNow(2)
	p = planned(t, on(at(500), nil), Spec{Start: start}.plan)
	require.GreaterOrEqual(t, p.Changes[0].FirstID(), start, "the tables have grown meanwhile")
	for _, spec := range []Spec{{Ceiling: 1000}, {Description: "x"}} {
		_, err := spec.plan(on(at(500), nil), false)
		require.ErrorIs(t, err, ErrIncomplete)
	}
	_, err := Spec{}.plan(on(at(500), at(500)), false)
	require.ErrorIs(t, err, ErrExists)
	again, err := Spec{}.plan(on(at(500), at(500)), true)
	require.NoError(t, err, "another client has completed it")
	require.True(t, again.Empty())
	_, err = Spec{Description: "x"}.plan(on(at(500), at(500)), true)
	require.ErrorIs(t, err, ErrExists)
}

func TestDeletionKeepsWhatWasIssued(t *testing.T) {
	t.Parallel()
	p := planned(t, on(at(500), at(700)), remove)
	require.Equal(t, []int64{500, 700}, p.afterwards())
	require.True(t, planned(t, on(at(5, deleted), at(7, deleted)), remove).Empty())
}

func TestRowsFarAheadAreToldFromBumps(t *testing.T) {
	t.Parallel()
	s := on(at(500), at(1<<45))
	require.Equal(t, []Problem{FarAhead}, s.Servers[1].Problems)
	for _, p := range []planner{repair, bump(5000), Spec{}.plan} {
		_, err := p(on(at(500), at(1<<45), nil), false)
		require.ErrorIs(t, err, ErrFarAhead)
	}
	require.Equal(t, []int64{1 << 45, 1 << 45}, planned(t, s, bump(2<<45+2)).afterwards())
	bumped := func(r *Row) { r.Base, r.Birth = 1<<45, someNow-5 }
	s = on(at(500), at(1<<45+9, bumped))
	require.Equal(t, []Problem{Older}, s.Servers[0].Problems, "a bump that was cut off")
	require.Empty(t, s.Servers[1].Problems)
	require.Greater(t, planned(t, s, repair).afterwards()[0], int64(1<<45))
	require.Empty(t, on(at(1 << 45)).Servers[0].Problems, "no other server that could tell")
	require.Equal(t, []Problem{FarAhead}, on(at(5, func(r *Row) { r.Base = 1 << 61 })).Servers[0].Problems)
}

func TestDamagedRowsDoNotWrapAround(t *testing.T) {
	t.Parallel()
	o := OnServer{Class: schema.Class{Offset: 2, Increment: 1000}, Row: at(1 << 61)}
	require.Equal(t, int64(math.MaxInt64), o.HighestID())
	require.Equal(t, int64(2002), OnServer{Class: o.Class, Row: at(2)}.HighestID())
	require.Zero(t, OnServer{Class: o.Class, Row: at(0)}.HighestID())
	require.Zero(t, OnServer{Class: o.Class}.HighestID())
}

func TestSlowLinesAreWarnedOf(t *testing.T) {
	t.Parallel()
	two := schema.Class{Offset: 1, Increment: 2}
	require.Empty(t, outrun(State{Ceiling: schema.CeilingFor(0)}, two))
	require.Empty(t, outrun(State{Ceiling: schema.CeilingFor(10)}, two))
	require.Contains(t, outrun(State{Ceiling: schema.CeilingFor(11)}, two)[0], "by only 696 IDs a second")
	require.Contains(t, outrun(State{Ceiling: math.MaxInt32}, two)[0], "by only 0.34 IDs a second")
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"orders": "orders", "a b": "a b", "é命": "é命", " a": `" a"`, "a ": `"a "`, "": `""`, `"a"`: `"\"a\""`, "a\u202e": `"a\u202e"`, "\u00a0a": `"\u00a0a"`,
	} {
		require.Equal(t, want, Quote(name))
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	cause := &ticket.ServerError{Server: "db1:3306/oddeven", Problem: "connection refused"}
	err := interrupted("a ", cause)
	require.ErrorIs(t, err, ErrInterrupted)
	require.ErrorIs(t, err, cause)
	require.Equal(t, `sequence "a ": the change was begun and may not have reached every server. No ID can be issued twice because of that. `+
		"Run the same command again, or `oddeven sequence repair`, to complete it\nserver db1:3306/oddeven: connection refused", err.Error())
	late := interrupted("a ", &Error{Sequence: "a ", Kind: ErrServers, Remedy: "Nothing was changed", Err: cause})
	require.ErrorIs(t, late, cause)
	require.NotErrorIs(t, late, ErrServers)
	require.NotContains(t, late.Error(), "Nothing was changed")
	require.False(t, strings.Contains((&Error{Sequence: "s", Problem: "p"}).Error(), "\n"))
}
