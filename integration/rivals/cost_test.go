package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/rivals/products"
)

func TestErrorsOfAProductEndTheRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	p := products.Product{Name: "broken", Next: func(context.Context) (products.Key, error) { return products.Key{}, broken }}
	_, err := cost(t.Context(), t.Output(), p, p.Next)
	require.ErrorIs(t, err, broken)
}
