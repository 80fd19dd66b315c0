package ratios

import (
	"runtime"
	"testing"

	"github.com/oddeven/oddeven/ticket"
)

// callers is how many goroutines draw at the same time.
const callers = 64

// BenchmarkTickets has the absolute figures, on one server of each flavour:
//
//	go test -run - -bench Tickets -count 6 ./ratios | benchstat -
func BenchmarkTickets(b *testing.B) {
	for _, flavor := range flavors() {
		b.Run(flavor, func(b *testing.B) {
			fleet := openTickets(b, newFleet(b, 1, flavor).Servers...)
			draw := next(fleet)
			b.Run("Next/alone", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := draw(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("Next/64", func(b *testing.B) {
				together(b, fleet, func(pb *testing.PB) error {
					for pb.Next() {
						if err := draw(b.Context()); err != nil {
							return err
						}
					}
					return nil
				})
			})
			b.Run("NextN64/64", func(b *testing.B) {
				together(b, fleet, func(pb *testing.PB) error {
					ids := make([]int64, 64)
					for pb.Next() {
						if err := fleet.NextN(b.Context(), ids); err != nil {
							return err
						}
					}
					return nil
				})
			})
		})
	}
}

// together lets 64 callers, or a few more where processors do not divide 64,
// share the iterations of a benchmark.
func together(b *testing.B, fleet *ticket.Fleet, caller func(*testing.PB) error) {
	before := fleet.Stats().Servers[0]
	procs := runtime.GOMAXPROCS(0)
	b.SetParallelism((callers + procs - 1) / procs)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		if err := caller(pb); err != nil {
			b.Error(err)
		}
	})
	after := fleet.Stats().Servers[0]
	b.ReportMetric(float64(after.Issued-before.Issued)/float64(after.Statements-before.Statements), "rows/statement")
}
