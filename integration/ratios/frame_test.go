package ratios

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ok", result{ratio: 0.0399, bound: 0.04}.verdict())
	require.Equal(t, "ok", result{ratio: 0.04, bound: 0.04}.verdict(), "the bound is a maximum")
	require.Equal(t, "over", result{ratio: 0.0401, bound: 0.04}.verdict())
	require.Equal(t, "over", result{ratio: math.NaN(), bound: 0.04}.verdict())
	require.Equal(t, "ok", result{ratio: 7}.verdict(), "without bound")
}

// script returns costs one after the other and notes who was asked.
func script(name string, asked *[]string, costs ...float64) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) {
		*asked = append(*asked, name)
		cost := costs[0]
		costs = costs[1:]
		return cost, nil
	}
}

func TestRunTakesTurnsAndReturnsTheMedianOfTheRatios(t *testing.T) {
	t.Parallel()
	var asked []string
	res, err := run(t.Context(), io.Discard, claim{
		name: "x", bound: 1, rounds: 3,
		measure:  script("A", &asked, 1000, 1, 20, 3),
		baseline: script("B", &asked, 1, 2, 10, 10),
	})
	require.NoError(t, err)
	require.Equal(t, result{name: "x", ratio: 0.5, bound: 1}, res, "of 0.5, 2 and 0.3; the first round does not count")
	require.Equal(t, "ABBAABBA", strings.Join(asked, ""))
}

func TestRunMeasuresBothAtOnce(t *testing.T) {
	t.Parallel()
	n := 0.0
	res, err := run(t.Context(), io.Discard, claim{name: "x", both: func(context.Context) (float64, float64, error) {
		n++
		return n, 10, nil
	}})
	require.NoError(t, err)
	require.InDelta(t, 0.9, res.ratio, 1e-9, "of 0.2 to 1.6")
}

func TestRunTakesWhatWasFoundOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	res, err := run(t.Context(), io.Discard, claim{name: "x", bound: 1.04, once: func(context.Context) (float64, error) {
		asked++
		return 1.01, nil
	}})
	require.NoError(t, err)
	require.Equal(t, result{name: "x", ratio: 1.01, bound: 1.04}, res)
	require.Equal(t, 1, asked)
}

func TestRunFailsWhenEitherSideDoes(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	bad := func(context.Context) (float64, error) { return 0, broken }
	good := func(context.Context) (float64, error) { return 1, nil }
	_, err := run(t.Context(), io.Discard, claim{name: "x", measure: bad, baseline: good})
	require.ErrorIs(t, err, broken)
	_, err = run(t.Context(), io.Discard, claim{name: "x", measure: good, baseline: bad})
	require.ErrorIs(t, err, broken)
	_, err = run(t.Context(), io.Discard, claim{name: "x", once: bad})
	require.ErrorIs(t, err, broken)
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := report{results: []result{
		{name: "short", ratio: 0.03126, bound: 0.04},
		{name: "rather longer", ratio: 1.34, bound: 1.3},
		{name: "without", ratio: 12.5},
	}}
	var out strings.Builder
	require.NoError(t, r.print(&out))
	require.Equal(t, ""+
		"short            0.0313   0.04  ok\n"+
		"rather longer    1.3400    1.3  over\n"+
		"without         12.5000      -  ok\n", out.String())
	require.False(t, r.ok())

	r.results = r.results[:1]
	require.True(t, r.ok())
	r.missing = []string{"mariadb:10.11"}
	out.Reset()
	require.NoError(t, r.print(&out))
	require.Equal(t, "short    0.0313   0.04  ok\nnot measured: mariadb:10.11\n", out.String())
	require.False(t, r.ok(), "what was not measured is not ok")
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	require.Equal(t, "4.80 ns (208333333/s)", describe(4.8e-9))
	require.Equal(t, "31.2 µs (32051/s)", describe(31.2e-6))
}
