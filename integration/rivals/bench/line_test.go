package bench

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindCountsEveryNumberThatCameTwice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		firsts       []int64
		each, stride int64
		want         findings
	}{
		{"nothing", nil, 1, 1, findings{}},
		{"all different", []int64{3, 1, 2}, 1, 1, findings{3, 0, 3}},
		{"a gap", []int64{1, 5}, 1, 1, findings{2, 0, 5}},
		{"one twice", []int64{1, 2, 2}, 1, 1, findings{3, 1, 2}},
		{"one three times", []int64{2, 2, 2}, 1, 1, findings{3, 2, 1}},
		{"odd and even", []int64{1, 3, 5, 2, 4, 10}, 1, 2, findings{6, 0, 8}},
		{"segments", []int64{1, 1001, 2001}, 1000, 1, findings{3000, 0, 3000}},
		{"segments that overlap", []int64{1, 501, 2001}, 1000, 1, findings{3000, 500, 3000}},
		{"a segment twice", []int64{1, 1}, 1000, 1, findings{2000, 1000, 1000}},
	} {
		require.Equal(t, tt.want, find(slices.Clone(tt.firsts), tt.each, tt.stride), tt.name)
	}
}

func TestFiguresAreReadable(t *testing.T) {
	t.Parallel()
	for cost, want := range map[float64]string{0: "–", 5.31e-9: "5.31 ns", 2.44e-7: "244 ns", 1e-5: "100,000/s", 1.0 / 1234567: "810 ns", 0.5: "2/s"} {
		require.Equal(t, want, figure(cost))
	}
	for ratio, want := range map[float64]string{math.NaN(): "–", 1: "1", 0.0312: "0.031", 12.345: "12.3", 1234.5: "1,235"} {
		require.Equal(t, want, times(ratio))
	}
	require.Equal(t, "-1,000", thousands(-1000))
	require.Equal(t, "999", thousands(999))
	require.Equal(t, "20 M", short(20_000_000))
}

func TestRatiosAreMediansOfTheRounds(t *testing.T) {
	t.Parallel()
	g, far := &group{title: "here", callers: []int{1}}, &group{title: "there", callers: []int{1}}
	base, l, other := newLine("base", "", "", 1), newLine("l", "base", "", 1), newLine("other", "base", "", 1)
	g.lines, far.lines = []*line{base, l}, []*line{other}
	for round, costs := range [][3]float64{{9, 9, 9}, {1, 2, 8}, {10, 50, 4}, {2, 6, 1}} {
		for i, l := range []*line{base, l, other} {
			l.note(round, 1, costs[i])
		}
	}
	table := &table{groups: []*group{g, far}}
	require.Equal(t, 3.0, table.ratio(g, l, 1), "of 2, 5 and 3; the first round does not count")
	require.Equal(t, 2.0, table.ratio(far, other, 1), "of the medians, as the rounds were not the same")
	require.True(t, math.IsNaN(table.ratio(g, base, 1)))
	require.True(t, math.IsNaN(table.ratio(g, l, 2)))
}
