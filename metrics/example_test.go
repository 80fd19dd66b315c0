package metrics_test

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/metrics"
	"github.com/oddeven/oddeven/segment"
)

func ExampleNew() {
	client, err := oddeven.Open(context.Background(), oddeven.Config{DSNs: strings.Fields(os.Getenv("ODDEVEN_SERVERS"))})
	if err != nil {
		panic(err)
	}
	defer func() { _ = client.Close() }() // the program ends
	prometheus.MustRegister(metrics.New(client))
	http.Handle("/metrics", promhttp.Handler())
	_ = http.ListenAndServe(":8080", nil)
}

func ExampleNewParts() {
	ctx := context.Background()
	orders, err := segment.New(ctx, &segment.Memory{}, segment.Config{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = orders.Close() }() // returns nil
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.NewParts(metrics.Parts{
		Sequences: map[string]metrics.Source[segment.Stats]{"orders": orders},
	}))
}
