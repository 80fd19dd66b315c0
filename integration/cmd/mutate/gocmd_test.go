package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnviron(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", overlayVar + "=left over", patienceVar + "=1h", "ODDEVEN_TEST_SERVERS=x"}
	require.Equal(t, []string{"A=1", "ODDEVEN_TEST_SERVERS=x"}, environ(env, ""))
	require.Equal(t, []string{"A=1", "ODDEVEN_TEST_SERVERS=x", overlayVar + "=new", patienceVar + "=20s"}, environ(env, "new"))
}
