// Package alerts tests the alert rules of package metrics with the parser and the
// query engine of Prometheus. It is a module of its own, because these are heavy.
//
// The rule file is of another module, so a cached result does not notice that it
// has changed: go test -count=1.
package alerts
