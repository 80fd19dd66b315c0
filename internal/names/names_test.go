package names

import (
	"cmp"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

func TestEveryNameOnce(t *testing.T) {
	t.Parallel()
	found := once([]Sequence{{"b", "first"}, {"a", ""}, {"b", "second"}}, func(a, b Sequence) int { return cmp.Compare(a.Name, b.Name) })
	require.Equal(t, []Sequence{{"a", ""}, {"b", "first"}}, found)
}

// Where nobody answers there are no names.
func TestServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	cfg, err := mysql.ParseDSN("me:hunter2@tcp(127.0.0.1:1)/db")
	require.NoError(t, err)
	none, err := Sequences(t.Context(), []*mysql.Config{cfg, cfg})
	require.Empty(t, none)
	server, ok := errors.AsType[*ticket.ServerError](err)
	require.True(t, ok)
	require.Equal(t, "127.0.0.1:1/db", server.Server)
	workers, err := Workers(t.Context(), []*mysql.Config{cfg})
	require.Empty(t, workers)
	require.ErrorAs(t, err, &server)
}
