package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	ids "github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/snowflake"
)

// base is the value of --base.
type base int

func (b *base) String() string { return fmt.Sprint(int(*b)) }
func (b *base) Type() string   { return "base" }
func (b *base) Set(s string) error {
	switch s {
	case "10":
		*b = 10
	case "32":
		*b = 32
	default:
		return errors.New("must be 10 or 32")
	}
	return nil
}

func (a *app) decodeCommand() *cobra.Command {
	var f *format
	var layout string
	numbers := base(10)
	cmd := &cobra.Command{
		Use:   "decode [ID...]",
		Short: "Say what can be read from IDs; changes nothing",
		Long: `Say what can be read from IDs, given as arguments or, without any, one per line
on standard input.

Of a fleet, an ID from 2^53 on is a Snowflake ID and is read by the fleet's
layout: time, worker, sequence, shard. One below is a ticket or an ID of a
sequence: server and shard, no time. Layout, increment and shard bits are read
from the servers. Without servers the layout is "oddeven", and server and shard
of a number below 2^53 can't be told. The shard is in the IDs that applications
get, not in what "oddeven next" prints.

With --layout no server is asked, and every number is read by that layout; only
"oddeven" leaves those below 2^53 to tickets and sequences. "oddeven layouts"
lists the names.

UUIDs of version 1, 6 and 7, with or without dashes, and MongoDB's ObjectIDs are
recognized by their length.

With -o json every ID gives one line, an object. Fields that an ID does not have
are left out:

  id          the ID as a string; a number in base 10 whatever --base is
  plane       segment (tickets and sequences), snowflake, uuid or objectid
  layout      name or specification; uuidv1, uuidv6, uuidv7 or objectid
  time        RFC 3339 with milliseconds, in UTC; none after the year 9999
  unix_ms     the same in milliseconds since 1970
  datacenter, worker, sequence, shard
              the fields of the layout; sequence: also the clock sequence of a
              UUID and the counter of an ObjectID
  node        datacenter and worker together; the node of a UUID (48 bits) and
              the process of an ObjectID (40 bits)
  server      offset of the server, 1 to the increment
  future      true if the time is later than the clock of this host

A text that is no ID, or none of that layout, is reported on standard error with
its line; the others are done, and the exit code is 1.`,
		Example: `  oddeven decode 1234567890123456789 --layout twitter
  oddeven decode --base 32 0D4MZ00000001
  mysql -N -e 'SELECT id FROM orders' | oddeven decode -o json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			scheme, err := a.decodeScheme(cmd.Context(), layout, cmd.Flags().Changed("layout"))
			if err != nil {
				return err
			}
			scheme.Base = int(numbers)
			return a.decode(cmd.Context(), args, scheme, *f)
		},
	}
	f = addFormat(cmd)
	cmd.Flags().Var(&numbers, "base", "`BASE` of numbers: 10, or 32 (Crockford's, 13 characters)")
	cmd.Flags().StringVar(&layout, "layout", "", "layout of Snowflake IDs, a `NAME` or a specification (default: the fleet's)")
	_ = cmd.RegisterFlagCompletionFunc("base", cobra.FixedCompletions([]string{"10", "32"}, cobra.ShellCompDirectiveNoFileComp))
	completeLayout(cmd)
	return cmd
}

// scheme is whose IDs are read.
type scheme struct {
	ids.Config
	assumed bool             // neither --layout nor servers were given
	servers map[int64]string // by offset; nil if no fleet was asked
}

// decodeScheme finds out whose IDs are read: --layout, the fleet's, the default.
func (a *app) decodeScheme(ctx context.Context, layout string, given bool) (scheme, error) {
	if given {
		l, err := snowflake.ParseLayout(layout)
		return scheme{Config: ids.Config{Layout: l, Foreign: l != snowflake.Default()}}, err
	}
	if env, _ := a.lookup(envServers); len(a.servers) == 0 && a.config == "" && strings.TrimSpace(env) == "" {
		return scheme{assumed: true}, nil
	}
	servers, err := a.fleetServers()
	if err != nil {
		return scheme{}, err
	}
	stop := a.progress.start("asking the servers how the fleet is set up")
	report, err := a.askFleet(ctx, servers)
	stop()
	if err != nil {
		return scheme{}, err
	}
	return a.fleetScheme(report)
}

// decodeTimeout is what each server is given; any one of them is enough.
const decodeTimeout = 5 * time.Second

// askFleet asks every server for itself, so that one that hangs holds up nothing
// but itself, and puts together what they say.
func (a *app) askFleet(ctx context.Context, servers []*mysql.Config) (*migrations.Report, error) {
	reports, errs := make([]*migrations.Report, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, decodeTimeout)
			defer cancel()
			reports[i], errs[i] = migrations.Status(ctx, migrations.Config{Servers: []*mysql.Config{server}, Logger: a.logger()})
		})
	}
	wg.Wait()
	fleet := &migrations.Report{}
	for i, r := range reports {
		if r == nil {
			return nil, fmt.Errorf("DSN %d of %d: %w", i+1, len(servers), errs[i])
		}
		fleet.Servers = append(fleet.Servers, r.Servers...)
		switch {
		case r.Fleet == "":
		case fleet.Fleet == "":
			fleet.Fleet, fleet.Increment, fleet.ShardBits, fleet.Layout = r.Fleet, r.Increment, r.ShardBits, r.Layout
		case r.Fleet != fleet.Fleet || r.Increment != fleet.Increment || r.ShardBits != fleet.ShardBits || r.Layout != fleet.Layout:
			return nil, fmt.Errorf("server %s is not of one fleet with those before it, or somebody has changed its row: "+
				"see `oddeven fleet status` and `oddeven migrate status`, or give --layout", r.Servers[0].Server)
		}
	}
	return fleet, nil
}

// fleetScheme is that of a fleet of which at least one server answers. The
// others count as down: every server has all of it.
func (a *app) fleetScheme(r *migrations.Report) (scheme, error) {
	s := scheme{servers: map[int64]string{}}
	var down []error
	for _, server := range r.Servers {
		switch {
		case server.State == migrations.StateUnreachable:
			down = append(down, server.Err)
		case server.Err != nil:
			return s, server.Err
		case server.Offset > 0:
			s.servers[server.Offset] = server.Server
		}
	}
	if len(down) == len(r.Servers) {
		return s, errors.Join(append([]error{errors.New("no server answers, which would know the layout; give it with --layout")}, down...)...)
	}
	if r.Fleet == "" {
		return s, errors.New("the servers belong to no fleet yet: run `oddeven migrate up`, or give --layout")
	}
	for _, err := range down {
		fmt.Fprintf(a.err, "Going on without one: %s\n", told(err))
	}
	l, err := snowflake.ParseLayout(r.Layout)
	if err != nil {
		// Not wrapped: this is no mistake in the command line.
		return s, fmt.Errorf("the layout in the servers' rows can't be read, somebody has changed it: %v", err.Error())
	}
	s.Layout, s.Increment, s.ShardBits = l, r.Increment, r.ShardBits
	return s, nil
}
