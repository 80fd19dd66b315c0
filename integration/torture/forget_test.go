package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatAServerMayForget(t *testing.T) {
	t.Parallel()
	below := place{name: "orders", round: 100, line: 100}
	above := place{name: "users", round: 150, line: 100}
	require.Equal(t, []place{above}, aboveLine([]place{below, above}))
	for name, tt := range map[string]struct {
		known   []place
		covered bool
	}{
		"NobodyKnows":       {nil, false},
		"OnlyOfOthers":      {[]place{{name: "orders", round: 200, line: 100}}, false},
		"NotToldYet":        {[]place{{name: "users", round: 90, line: 100, margin: 1000}}, false},
		"Told":              {[]place{{name: "users", round: 150, line: 100}}, true},
		"AlmostTold":        {[]place{{name: "users", round: 140, line: 100, margin: 9}}, false},
		"WithinTheMargin":   {[]place{{name: "users", round: 140, line: 100, margin: 10}}, true},
		"ItsLineIsFurther":  {[]place{{name: "users", round: 90, line: 150}}, true},
		"NotBeyondThatLine": {[]place{{name: "users", round: 140, line: 145, margin: 10}}, false},
	} {
		require.Equal(t, tt.covered, covered([]place{above}, tt.known), name)
	}
}

func TestTryAll(t *testing.T) {
	t.Parallel()
	one, two := make(chan struct{}, 1), make(chan struct{}, 1)
	two <- struct{}{}
	require.False(t, tryAll(one, two))
	require.Empty(t, one)
	<-two
	require.True(t, tryAll(one, two))
	require.Len(t, one, 1)
	require.Len(t, two, 1)
}
