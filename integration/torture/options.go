package main

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/oddeven/oddeven/integration/torture/schedule"
	"github.com/oddeven/oddeven/snowflake"
)

// options are what a run is made of.
type options struct {
	duration  time.Duration
	seed      uint64
	servers   int
	clients   int
	rate      int // IDs per second of all clients, about
	shardBits int
	workers   int // bits of a worker number
	cluster   bool
	kinds     []schedule.Kind // empty means the usual ones
	kindsText string          // as given
	mutant    string          // its file; empty means the product as it is
	mutants   *regexp.Regexp  // run with each of these, instead of once
	dir       string          // for everything, and kept; empty means one that is removed: see clean
	plan      bool            // only print the plan
}

// The bounds of what a machine is asked for.
const (
	leastServers, mostServers = 2, 4
	leastClients, mostClients = 8, 64
	leastDuration             = 20 * time.Second
	defaultWorkers            = 6
)

// parse reads the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var kinds, mutants string
	f := flag.NewFlagSet("torture", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&o.duration, "duration", time.Minute, "how long faults are made; starting and checking come on top")
	f.Uint64Var(&o.seed, "seed", 1, "which plan of faults")
	f.IntVar(&o.servers, "servers", leastServers, "how many servers, 2 to 4")
	f.IntVar(&o.clients, "clients", leastClients, "how many client processes, 8 to 64")
	f.IntVar(&o.rate, "rate", 200_000, "IDs per second of all clients together, about")
	f.IntVar(&o.shardBits, "shard-bits", 0, "of the fleet")
	f.IntVar(&o.workers, "worker-bits", defaultWorkers, "bits of a worker number, 3 to 10: the fewer, the sooner a number is leased again")
	f.BoolVar(&o.cluster, "cluster", false, "the last server is a Galera cluster of three nodes")
	f.StringVar(&kinds, "kinds", "", "regexp for the kinds of faults; nearly all by default")
	f.StringVar(&o.mutant, "mutant", "", "the file of a mutant to build into the clients")
	f.StringVar(&mutants, "mutants", "", "regexp: run a short edition with each of these mutants, and see that it is found")
	f.StringVar(&o.dir, "dir", "", "where to keep everything; by default only ledgers and logs are, if something was found")
	f.BoolVar(&o.plan, "plan", false, "print the plan and do nothing")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("argument %q: there are flags only", f.Arg(0))
	}
	match, err := regexp.Compile(kinds)
	if err != nil {
		return o, fmt.Errorf("-kinds: %w", err)
	}
	if mutants != "" {
		if o.mutants, err = regexp.Compile(mutants); err != nil {
			return o, fmt.Errorf("-mutants: %w", err)
		}
	}
	if kinds != "" {
		o.kindsText = kinds
		o.kinds = slices.DeleteFunc(schedule.Kinds(), func(k schedule.Kind) bool { return !match.MatchString(string(k)) })
	}
	return o, o.check(kinds)
}

func (o options) check(kinds string) error {
	switch {
	case o.duration < leastDuration:
		return fmt.Errorf("-duration %s: at least %s, or there is no time for faults", o.duration, leastDuration)
	case o.servers < leastServers || o.servers > mostServers:
		return fmt.Errorf("-servers %d: must be %d to %d", o.servers, leastServers, mostServers)
	case o.clients < leastClients || o.clients > mostClients:
		return fmt.Errorf("-clients %d: must be %d to %d", o.clients, leastClients, mostClients)
	case o.shardBits < 0 || o.shardBits > 10:
		return fmt.Errorf("-shard-bits %d: must be 0 to 10", o.shardBits)
	case o.workers < 3 || o.workers > 10:
		return fmt.Errorf("-worker-bits %d: must be 3 to 10", o.workers)
	case kinds != "" && len(o.kinds) == 0:
		return fmt.Errorf("-kinds %q: matches none of %q", kinds, schedule.Kinds())
	case o.rate < 1000 || float64(o.rate) > o.line():
		return fmt.Errorf("-rate %d: must be 1000 to %.0f, half of what the clock line allows with %d servers and %d shard bits", o.rate, o.line(), o.servers, o.shardBits)
	}
	return nil
}

// layout is that of the fleet: the default one with fewer worker numbers, so that
// they go from hand to hand.
func (o options) layout() (snowflake.Layout, error) {
	l, err := snowflake.ParseLayout(fmt.Sprintf("time:41,worker:%d,sequence:%d;unit=1ms;epoch=2026-01-01T00:00:00Z", o.workers, 22-o.workers))
	if err != nil {
		return l, err
	}
	return l.WithShardBits(o.shardBits)
}

// line is half of how fast the clock line of a sequence rises, in IDs per second:
// a fleet that issues faster than the line is not protected by it.
func (o options) line() float64 {
	const century = 100 * 365.25 * 24 * 3600
	return float64(int64(1)<<(53-o.shardBits)) / float64(o.servers) / century / 2
}

// planned is the plan of the run.
func (o options) planned() []schedule.Step {
	return schedule.New(schedule.Config{
		Seed: o.seed, Duration: o.duration, Servers: o.servers, Clients: o.clients, Kinds: o.kinds, Cluster: o.cluster})
}

// command is what repeats the run.
func (o options) command() string {
	s := fmt.Sprintf("make torture DURATION=%s SEED=%d SERVERS=%d CLIENTS=%d RATE=%d SHARD_BITS=%d", o.duration, o.seed, o.servers, o.clients, o.rate, o.shardBits)
	if o.workers != defaultWorkers {
		s += fmt.Sprintf(" WORKER_BITS=%d", o.workers)
	}
	if o.kindsText != "" {
		s += fmt.Sprintf(" KINDS='%s'", o.kindsText)
	}
	if o.cluster {
		s += " CLUSTER=1"
	}
	return s
}
