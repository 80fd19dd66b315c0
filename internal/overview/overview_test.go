package overview

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// inspections are of a fleet of which the third server is down.
func inspections() []ticket.Inspection {
	up := func(name string, offset int64) ticket.Inspection {
		return ticket.Inspection{
			Server: name, Fleet: "ab", Increment: 3, Offset: offset, Now: noon, Layout: snowflake.Default().String(), Top: 100, Line: 70, Ceiling: schema.Ceiling - 1,
		}
	}
	return []ticket.Inspection{up("a", 1), up("b", 2), {Server: "c", Err: errors.New("refused")}}
}

// row is a sequence on server with offset; usage is of this hour.
func row(server string, offset, rounds, reserved int64) sequence.OnServer {
	return sequence.OnServer{
		Server: server, Class: schema.Class{Offset: offset, Increment: 3}, Gen: 1, Now: noon.Unix() + 1800,
		Row: &sequence.Row{
			State:  sequence.State{Ceiling: 3_000_002},
			Rounds: rounds, Gen: 1, Reserved: reserved, Start: 10, Peak: 7, Refills: 4, RefilledAt: noon.Add(time.Duration(offset)),
			Usage: sequence.Usage{Hour: noon.Unix() / 3600},
		},
	}
}

func of(rows ...sequence.OnServer) sequence.Sequence {
	return sequence.Sequence{Name: "s", State: rows[0].Row.State, Servers: rows}
}

func TestPicture(t *testing.T) {
	t.Parallel()
	leases := []snowflake.Lease{
		{Server: "a", State: snowflake.LeaseFree}, {Server: "a", State: snowflake.LeaseHeld}, {Server: "b", State: snowflake.LeaseParked}, {Server: "a", State: snowflake.LeaseFree},
	}
	p := Of(inspections(), leases, []sequence.Sequence{of(row("a", 1, 1010, 600), row("b", 2, 910, 200))})
	require.Equal(t, noon, p.At)
	require.Equal(t, "ab", p.Fleet)
	require.Equal(t, snowflake.Default().Exhausted(), p.TimeEnds)
	require.Equal(t, 2, p.Up())
	require.Equal(t, &Workers{Leased: 1, Free: 2}, p.Servers[0].Workers)
	require.Equal(t, &Workers{Parked: 1}, p.Servers[1].Workers)
	require.Nil(t, p.Servers[2].Workers)
	require.Equal(t, Workers{Leased: 1, Parked: 1, Free: 2}, p.Workers())
	require.Equal(t, int64(-30), p.Servers[0].ToLine())

	s := p.Sequences[0]
	require.Equal(t, int64(800), s.Reserved)
	require.Equal(t, int64(1010), s.Highest)
	require.Equal(t, int64(999_999-1010), s.Left)
	require.Negative(t, s.Gaps, "not known")
	require.Equal(t, int64(14), s.Peak)
	require.InDelta(t, 800.0/5400, s.Rate, 1e-9, "the sum, over 90 minutes")
	require.True(t, s.Partial)
	require.Len(t, s.On, 3)
	require.InDelta(t, 0.75, s.On[0].Share, 1e-9)
	require.Equal(t, int64(100), s.On[1].Behind)
	require.False(t, s.On[2].Answered)
	require.Equal(t, "b", s.LastRefill().Server)
	thisHour, lastHour := s.Hours()
	require.Equal(t, sequence.Window{Refills: 8, Rounds: 800}, thisHour)
	require.Zero(t, lastHour)
	idle := Of(inspections(), nil, []sequence.Sequence{of(row("a", 1, 1010, 0), row("b", 2, 910, 0))})
	require.Equal(t, PartlyKnown, idle.Sequences[0].Standing(noon))
}

func TestPictureOfAFleetThatIsDown(t *testing.T) {
	t.Parallel()
	p := Of([]ticket.Inspection{{Server: "a", Err: errors.New("refused")}, {Server: "b", Fleet: "other", Verdict: ticket.ErrForeign}}, nil, nil)
	require.Zero(t, p.Up())
	require.Empty(t, p.Fleet, "not that of a foreign server")
	require.WithinDuration(t, time.Now(), p.At, time.Minute)
	require.Empty(t, p.Sequences)
}

func TestForecastAndStanding(t *testing.T) {
	t.Parallel()
	two := inspections()[:2]
	tests := []struct {
		name     string
		change   func(a, b *sequence.OnServer)
		kind     Kind
		standing Standing
	}{
		{"in use", func(_, _ *sequence.OnServer) {}, RunsOut, EndsSoon},
		{"not in use", func(a, b *sequence.OnServer) { a.Row.Reserved, b.Row.Reserved = 0, 0 }, Idle, Fine},
		{"slowly used", func(a, b *sequence.OnServer) {
			for _, o := range []*sequence.OnServer{a, b} {
				o.Row.Reserved, o.Row.Ceiling = 1, schema.Ceiling-1
			}
		}, Never, Fine},
		{"used up", func(a, _ *sequence.OnServer) { a.Row.Rounds = 999_999 }, Exhausted, UsedUp},
		{"past its ceiling", func(a, _ *sequence.OnServer) { a.Row.Rounds = 1 << 61 }, Exhausted, UsedUp},
		{"deleted", func(a, b *sequence.OnServer) { a.Row.Deleted, b.Row.Deleted = true, true }, Deleted, Tombstone},
		{"with a problem", func(a, _ *sequence.OnServer) { a.Problems = []sequence.Problem{sequence.OtherGen} }, RunsOut, ToBeMended},
		{"past its line", func(a, b *sequence.OnServer) {
			for _, o := range []*sequence.OnServer{a, b} {
				o.Row.Reserved, o.Row.Birth, o.Row.Rounds = 0, o.Now, 5000
			}
		}, Idle, PastLine},
	}
	for _, tt := range tests {
		a, b := row("a", 1, 1010, 600), row("b", 2, 910, 200)
		tt.change(&a, &b)
		s := Of(two, nil, []sequence.Sequence{of(a, b)}).Sequences[0]
		require.Equal(t, tt.kind, s.Forecast.Kind, tt.name)
		require.Equal(t, tt.standing, s.Standing(noon), tt.name)
		require.Equal(t, tt.kind == RunsOut, !s.Forecast.At.IsZero(), tt.name)
	}
	s := Of(two, nil, []sequence.Sequence{of(row("a", 1, 1010, 600), row("b", 2, 910, 200))}).Sequences[0]
	seconds := float64(999_999-1010) / (800.0 / 5400)
	require.Equal(t, int64(200), s.Gaps, "1000 rounds since 10, of which 800 were reserved")
	require.WithinDuration(t, noon.Add(time.Duration(seconds*float64(time.Second))), s.Forecast.At, time.Second)
}

func TestRatesBetweenPictures(t *testing.T) {
	t.Parallel()
	picture := func(second int, reserved ...int64) *Picture {
		p := Of(inspections(), nil, []sequence.Sequence{of(row("a", 1, 5000, reserved[0]), row("b", 2, 5000, reserved[1]))})
		p.read = noon.Add(time.Duration(second) * time.Second)
		return p
	}
	first, second := picture(0, 100, 900), picture(10, 400, 200)
	require.Negative(t, second.Sequences[0].Lately)
	second.Since(first)
	s := second.Sequences[0]
	require.InDelta(t, 30, s.On[0].Lately, 1e-9)
	require.Negative(t, s.On[1].Lately, "it has forgotten something")
	require.InDelta(t, 30, s.Lately, 1e-9)
	require.Negative(t, s.On[2].Lately)
	first.Since(first)
	require.Negative(t, first.Sequences[0].Lately, "no time has passed")

	third, fourth := picture(30, 0, 0), picture(39, 0, 0)
	all := Recent([]*Picture{first, second, third, fourth}, 30*time.Second)
	require.Equal(t, []*Picture{second, third, fourth}, all)
	require.Len(t, Recent([]*Picture{first, picture(500, 0, 0)}, 30*time.Second), 2, "one to compare with")
	require.Len(t, Recent([]*Picture{first}, 0), 1)
}

func TestExplain(t *testing.T) {
	t.Parallel()
	p := Of(inspections(), nil, nil)
	bad := &ticket.ServerError{Server: "b", Problem: "read"}
	p.explain([]error{nil, bad, nil}, []error{nil, nil, errors.New("refused")})
	require.NoError(t, p.Servers[0].Problem())
	require.ErrorIs(t, p.Servers[1].Problem(), bad)
	require.EqualError(t, p.Servers[2].Problem(), "refused")
	require.Equal(t, 1, p.Up())
}
