// Package metrics shows Prometheus what a client of oddeven does: a
// [prometheus.Collector] over the Stats of an oddeven.Client ([New]), or of a
// ticket.Fleet, segment.Allocators and a snowflake.Worker ([NewParts]).
//
// It is a module of its own, so that only programs that import it depend on
// Prometheus. README.md in its directory lists every metric with type, labels and
// meaning; alerts.yml has alert rules for what matters.
//
// Names and labels follow https://prometheus.io/docs/practices/naming/: base
// units, seconds and Unix times, counters that end in _total. The values of labels
// are the servers and sequences of the client, and lists that do not grow. Counts
// are of the one client, since it was opened.
package metrics
