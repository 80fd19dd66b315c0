package oddeven

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/segment"
)

// What the facade adds to batches.
func BenchmarkNextN(b *testing.B) {
	ctx := context.Background()
	g := newTestGenerator(b, newTestClient(b, Config{}, 0), &segment.Memory{}, "orders", 100_000_000)
	ids := make([]ID, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.NextN(ctx, ids); err != nil {
			b.Fatal(err)
		}
	}
}

// What the facade adds to an Allocator; integration/ratios holds it to a bound.
func BenchmarkNext(b *testing.B) {
	ctx := context.Background()
	b.Run("Allocator", func(b *testing.B) {
		a, err := segment.New(ctx, &segment.Memory{}, segment.Config{MinStep: 100_000_000, MaxStep: 1 << 40})
		require.NoError(b, err)
		for b.Loop() {
			if _, err := a.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, a.Close())
	})
	for name, bits := range map[string]int{"Generator": 0, "Sharded": 4} {
		b.Run(name, func(b *testing.B) {
			g := newTestGenerator(b, newTestClient(b, Config{}, bits), &segment.Memory{}, "orders", 100_000_000)
			next := g.Next
			if bits > 0 {
				next = func(ctx context.Context) (ID, error) { return g.NextFor(ctx, 3) }
			}
			for b.Loop() {
				if _, err := next(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("GeneratorDirect", func(b *testing.B) {
		g := newTestGenerator(b, newTestClient(b, Config{}, 0), &segment.Memory{}, "orders", 100_000_000)
		for b.Loop() {
			if _, err := g.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}
