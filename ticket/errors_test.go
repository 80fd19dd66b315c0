package ticket

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

func TestServerErrorIsOneLine(t *testing.T) {
	t.Parallel()
	cause := errors.New("Error 1045 (28000): no")
	tests := []struct {
		name string
		err  ServerError
		want string
	}{
		{"Whole", ServerError{Server: "db1:3306/x", Problem: "access denied", Remedy: "Check the user name.", Err: cause}, "server db1:3306/x: access denied: Error 1045 (28000): no. Check the user name."},
		{"NoCause", ServerError{Server: "db1:3306/x", Problem: "read-only", Remedy: "Turn it off."}, "server db1:3306/x: read-only. Turn it off."},
		{"CauseOnly", ServerError{Server: "db1:3306/x", Err: cause}, "server db1:3306/x: Error 1045 (28000): no"},
		{"CauseSaysTheSame", ServerError{Server: "db1:3306/x", Problem: cause.Error(), Err: cause}, "server db1:3306/x: Error 1045 (28000): no"},
		{"KindIsNotPrinted", ServerError{Server: "db1:3306/x", Problem: "offset taken", Kind: ErrForeign}, "server db1:3306/x: offset taken"},
		{"ServerOnly", ServerError{Server: "db1:3306/x"}, "server db1:3306/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.EqualError(t, &tt.err, tt.want)
		})
	}
}

func TestServerErrorUnwrapsToKindAndCause(t *testing.T) {
	t.Parallel()
	cause := &mysql.MySQLError{Number: 1045}
	err := fmt.Errorf("open: %w", &ServerError{Server: "a", Kind: ErrForeign, Err: cause})
	require.ErrorIs(t, err, ErrForeign)
	require.NotErrorIs(t, err, ErrScheme)
	var got *mysql.MySQLError
	require.ErrorAs(t, err, &got)
	require.Same(t, cause, got)
	require.Empty(t, (&ServerError{}).Unwrap())
}

func TestNewServerErrorExplains(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("connect: %w", &mysql.MySQLError{Number: 1045, Message: "no"})
	e := NewServerError("db1:3306/x", cause)
	require.Equal(t, "db1:3306/x", e.Server)
	require.Equal(t, "access denied", e.Problem)
	require.NotEmpty(t, e.Remedy)
	require.Equal(t, cause, e.Err)

	unknown := NewServerError("db1:3306/x", errors.New("something new"))
	require.EqualError(t, unknown, "server db1:3306/x: something new")
}

func TestNewServerErrorKeepsOneThatIsThere(t *testing.T) {
	t.Parallel()
	have := &ServerError{Server: "db1:3306/x", Problem: "locked"}
	require.Same(t, have, NewServerError("db2:3306/x", fmt.Errorf("survey: %w", have)))

	nameless := &ServerError{Problem: "locked", Kind: ErrForeign}
	named := NewServerError("db2:3306/x", nameless)
	require.Equal(t, "db2:3306/x", named.Server)
	require.Equal(t, "locked", named.Problem)
	require.ErrorIs(t, named, ErrForeign)
	require.Empty(t, nameless.Server, "the one given is left alone")
}

func TestConfigErrorNamesFieldValueAndRemedy(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &ConfigError{Field: "Conns", Value: 0, Remedy: "must be 1 to 3"}, "Conns = 0: must be 1 to 3")
	require.EqualError(t, &ConfigError{Field: "Servers", Remedy: "is empty"}, "Servers: is empty")
	var bad *ConfigError
	require.ErrorAs(t, fmt.Errorf("open: %w", &ConfigError{Field: "Conns"}), &bad)
	require.Equal(t, "Conns", bad.Field)
}

func TestErrorTextsNameThePackage(t *testing.T) {
	t.Parallel()
	for _, err := range []error{ErrClosed, ErrUnavailable, ErrNotAccepted, ErrScheme, ErrForeign, ErrExhausted} {
		require.Regexp(t, `^ticket: [a-z ]+$`, err.Error())
	}
}
