package oddeven

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	c, err := Config{
		DSNs: []string{"app:secret@tcp(db1:3306)/oddeven"}, Failovers: map[string]Failover{"users": {After: time.Second}, "posts": {Outage: Fail}},
	}.withDefaults()
	require.NoError(t, err)
	require.Len(t, c.Servers, 1)
	standard := Failover{Outage: FallBack, After: 50 * time.Millisecond, Return: ByItself}
	require.Equal(t, standard, c.of("orders"))
	require.Equal(t, Failover{FallBack, time.Second, ByItself}, c.of("users"))
	require.Equal(t, Failover{Fail, 50 * time.Millisecond, ByItself}, c.of("posts"))
	require.True(t, c.needsWorker())
	require.True(t, c.segments(c.of("orders")).FailFast)
	require.False(t, c.segments(Failover{Outage: Wait}).FailFast)
	c, err = Config{Failover: Failover{Outage: Wait}}.withDefaults()
	require.NoError(t, err)
	require.False(t, c.needsWorker())
	c, err = Config{Failover: Failover{Outage: Wait}, Failovers: map[string]Failover{"users": {Outage: FallBack}}}.withDefaults()
	require.NoError(t, err)
	require.True(t, c.needsWorker())
}

func TestConfigErrorsNameFieldValueAndRemedy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{DSNs: []string{"secret"}}, "DSNs[0]: not a MySQL DSN"},
		{Config{Failover: Failover{Outage: 4}}, "Failover.Outage = 4: must be FallBack"},
		{Config{Failover: Failover{Return: -1}}, "Failover.Return = -1: must be ByItself"},
		{Config{Failovers: map[string]Failover{"users": {After: time.Microsecond}}}, `Failovers["users"].After = 1µs: must be at least 1ms`},
		{Config{Segment: segment.Config{FailFast: true}}, "Segment: has FailFast"},
		{Config{Segment: segment.Config{WaitAtMost: 1}}, "Segment: has FailFast or WaitAtMost"},
		{Config{Segment: segment.Config{Logger: slog.Default()}}, "Segment.Logger: must be nil"},
		{Config{Segment: segment.Config{MinStep: -1}}, "Segment.MinStep = -1"},
		{Config{Worker: snowflake.Config{Ceiling: -1}}, "Worker.Ceiling = -1: must be 0"},
		{Config{Worker: snowflake.Config{Logger: slog.Default()}}, "Worker.Logger: must be nil"},
		{Config{Worker: snowflake.Config{Lease: -1}}, "Worker.Lease = -1ns"},
		{Config{Worker: snowflake.Config{MaxAhead: 1}}, "Worker.MaxAhead = 1ns"},
		{Config{DSNs: []string{"user@tcp(127.0.0.1:1)/db"}, Servers: []*mysql.Config{nil}}, "Servers[0]: "},
		{Config{}, "Servers: is empty"},
	} {
		_, err := Open(t.Context(), tt.cfg)
		var e *ticket.ConfigError
		require.ErrorAs(t, err, &e, tt.want)
		require.ErrorContains(t, err, tt.want)
		require.NotContains(t, err.Error(), "secret")
	}
	redis, err := snowflake.Preset("redis")
	require.NoError(t, err)
	_, err = Open(t.Context(), Config{Worker: snowflake.Config{Layout: redis}})
	require.ErrorContains(t, err, "no worker field")
}

func TestNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "default FallBack Wait Fail unknown 4", fmt.Sprint(Outage(0), FallBack, Wait, Fail, Outage(4)))
	require.Equal(t, "default ByItself WhenTold unknown -1", fmt.Sprint(Return(0), ByItself, WhenTold, Return(-1)))
}

func TestErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	two := errors.Join(ticket.ErrUnavailable, &ticket.ServerError{Server: "a:1/b", Problem: "connection refused"})
	for _, err := range []error{
		&UnavailableError{Sequence: "orders", Servers: two, Worker: two},
		&UnavailableError{},
		&NotReadyError{Missing: []error{two, two}},
	} {
		require.NotContains(t, err.Error(), "\n")
	}
	require.EqualError(t, &UnavailableError{Sequence: "orders", Servers: ErrPlane},
		`oddeven: no IDs available of sequence "orders": oddeven: outside the plane`)
}
