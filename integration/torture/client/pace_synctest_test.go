package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPacerKeepsToARate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(1000)
		start := time.Now()
		for range 500 {
			time.Sleep(p.drew(10))
		}
		require.InDelta(t, 5*time.Second, time.Since(start), float64(2*beat))

		time.Sleep(time.Hour) // frozen, say
		start = time.Now()
		for range 500 {
			time.Sleep(p.drew(10))
		}
		require.InDelta(t, 5*time.Second-most, time.Since(start), float64(2*beat), "it may catch up with so much")
	})
}
