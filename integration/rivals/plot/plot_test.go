package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestChartIsWellFormedAndNamesEverything(t *testing.T) {
	t.Parallel()
	c := Chart{
		Title: "a < b & c", Note: "note", Length: 10 * time.Second,
		Spans: []Span{{Row: "server 1", From: time.Second, To: 3 * time.Second}},
		Panels: []Panel{
			{Title: "first", Series: []Series{{Name: "one", Color: "#111111", Points: []Point{{time.Second, 80}, {2 * time.Second, 2 * time.Second}}}}},
			{Title: "empty", Series: []Series{{Name: "none", Color: "#222222"}}},
		},
	}
	var out strings.Builder
	require.NoError(t, c.Write(&out))
	for _, want := range []string{"a &lt; b &amp; c", "note", "server 1", "first", "one", "#111111", "empty", "none", "10 s", "10 ns", "seconds"} {
		require.Contains(t, out.String(), want)
	}
	require.NotContains(t, out.String(), "NaN")
	require.NotContains(t, out.String(), "Inf")
	decoder := xml.NewDecoder(strings.NewReader(out.String()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
}

func TestDecadesEncloseThePoints(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration][2]int{
		0: {-9, -8}, 80: {-8, -7}, time.Microsecond: {-6, -5}, 3 * time.Millisecond: {-3, -2}, 2 * time.Second: {0, 1},
	} {
		low, high := Panel{Series: []Series{{Points: []Point{{Took: took}}}}}.decades()
		require.Equal(t, want, [2]int{low, high}, took.String())
	}
	low, high := Panel{}.decades()
	require.Less(t, low, high)
}
