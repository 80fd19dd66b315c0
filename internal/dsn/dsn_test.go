package dsn_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/dsn"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text                  string
		user, password, addr, label string
	}{
		{"Plain", "app:secret@tcp(db1:3307)/oddeven", "app", "secret", "db1:3307", "db1:3307/oddeven"},
		{"PortIsAdded", "app:secret@tcp(db1)/oddeven", "app", "secret", "db1:3306", "db1:3306/oddeven"},
		{"NoPassword", "app@tcp(db1:3306)/oddeven", "app", "", "db1:3306", "db1:3306/oddeven"},
		{"NoAddress", "app:secret@/oddeven", "app", "secret", "127.0.0.1:3306", "127.0.0.1:3306/oddeven"},
		{"IPv6", "app:secret@tcp([::1]:3306)/oddeven", "app", "secret", "[::1]:3306", "[::1]:3306/oddeven"},
		{"Socket", "app:secret@unix(/run/mysqld.sock)/oddeven", "app", "secret", "/run/mysqld.sock", "/run/mysqld.sock/oddeven"},
		{"SlashInPassword", "app:pa/ss@tcp(db1:3306)/oddeven", "app", "pa/ss", "db1:3306", "db1:3306/oddeven"},
		{"AllSortsInPassword", "app:p@ss:w/%#?(x)&@tcp(db1:3306)/oddeven", "app", "p@ss:w/%#?(x)&", "db1:3306", "db1:3306/oddeven"},
		{"Parameters", "app:secret@tcp(db1:3306)/oddeven?timeout=1s&charset=utf8mb4", "app", "secret", "db1:3306", "db1:3306/oddeven"},
		{"EscapedDatabase", "app:secret@tcp(db1:3306)/odd%2Feven", "app", "secret", "db1:3306", "db1:3306/odd/even"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := dsn.Parse(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.user, cfg.User)
			require.Equal(t, tt.password, cfg.Passwd)
			require.Equal(t, tt.addr, cfg.Addr)
			require.Equal(t, tt.label, dsn.Label(cfg))
		})
	}
}

func TestParseErrorsHoldNoPartOfTheDSN(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       error
	}{
		{"Empty", "", dsn.ErrNoDatabase},
		{"JustThePassword", "hunter2", dsn.ErrUnparsable},
		{"URL", "mysql://app:hunter2@db1:3306/oddeven", dsn.ErrUnparsable},
		{"NoDatabase", "app:hunter2@tcp(db1:3306)/", dsn.ErrNoDatabase},
		{"NoSlash", "app:hunter2@tcp(db1:3306)", dsn.ErrUnparsable},
		{"SlashInPasswordOnly", "app:hun/ter2@tcp(db1:3306)", dsn.ErrUnparsable},
		{"PercentInPasswordOnly", "app:hun/%ter2@tcp(db1:3306)", dsn.ErrUnparsable},
		{"AllSortsInPasswordAndNoDatabase", "app:hunter2@ss:w/%#", dsn.ErrUnparsable},
		{"UnknownNetwork", "app:hunter2@hunter2/oddeven", dsn.ErrUnparsable},
		{"BracketNotClosed", "app:hunter2@tcp(db1:3306/oddeven", dsn.ErrUnparsable},
		{"BracketsTwice", "app:hunter2@tcp(db1)(hunter2/oddeven", dsn.ErrUnparsable},
		{"NoHost", "app:hunter2@tcp(:3306)/oddeven", dsn.ErrNoHost},
		{"BadDatabase", "app:x@tcp(db1:3306)/hunter2%zz", dsn.ErrUnparsable},
		{"BadBool", "app:x@tcp(db1:3306)/oddeven?parseTime=hunter2", dsn.ErrUnparsable},
		{"BadTime", "app:x@tcp(db1:3306)/oddeven?timeout=hunter2", dsn.ErrUnparsable},
		{"UnknownTLS", "app:x@tcp(db1:3306)/oddeven?tls=hunter2", dsn.ErrUnparsable},
		{"UnknownKey", "app:x@tcp(db1:3306)/oddeven?serverPubKey=hunter2", dsn.ErrUnparsable},
		{"BadParameter", "app:x@tcp(db1:3306)/oddeven?x=%hunter2", dsn.ErrUnparsable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := dsn.Parse(tt.text)
			require.ErrorIs(t, err, tt.want)
			require.Nil(t, cfg)
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, err.Error(), "ter2")
			require.EqualError(t, err, tt.want.Error(), "nothing is added")
			require.Contains(t, err.Error(), dsn.Form)
		})
	}
}

func TestEveryPasswordIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		password := rapid.OneOf(rapid.String(), rapid.StringMatching(`[:@/()%?&#a-c]{0,20}`)).Draw(t, "password")
		cfg, err := dsn.Parse("app:" + password + "@tcp(db1:3306)/oddeven")
		if err != nil {
			t.Fatal(err)
		}
		if cfg.User != "app" || cfg.Passwd != password || dsn.Label(cfg) != "db1:3306/oddeven" {
			t.Fatalf("read as user %q, password %q, %s", cfg.User, cfg.Passwd, dsn.Label(cfg))
		}
	})
}

func TestLabel(t *testing.T) {
	t.Parallel()
	require.Equal(t, "(none)", dsn.Label(nil))
	require.Equal(t, "db1:3306/x", dsn.Label(&mysql.Config{User: "app", Passwd: "hunter2", Addr: "db1:3306", DBName: "x"}))
}

func TestPrepareSetsWhatWeRelyOn(t *testing.T) {
	t.Parallel()
	given, err := mysql.ParseDSN("app:secret@tcp(db1:3306)/oddeven?clientFoundRows=false&multiStatements=true&rejectReadOnly=true&checkConnLiveness=false&loc=Local&tls=skip-verify&readTimeout=7s")
	require.NoError(t, err)
	before := given.FormatDSN()
	c, err := dsn.Prepare(given)
	require.NoError(t, err)
	require.True(t, c.InterpolateParams, "one round trip for each statement")
	require.True(t, c.ClientFoundRows, "matched rows are counted")
	require.True(t, c.ParseTime)
	require.Equal(t, time.UTC, c.Loc)
	require.False(t, c.MultiStatements)
	require.False(t, c.RejectReadOnly, "no silent retry")
	require.True(t, c.CheckConnLiveness)
	require.Equal(t, 5*time.Second, c.Timeout)
	require.Equal(t, 7*time.Second, c.ReadTimeout, "kept")
	require.NotNil(t, c.TLS, "kept")
	require.Equal(t, before, given.FormatDSN(), "the caller's own is left alone")
}

func TestPrepareCopies(t *testing.T) {
	t.Parallel()
	given := mysql.NewConfig()
	given.Addr, given.Net, given.DBName, given.Timeout = "db1:3306", "tcp", "oddeven", time.Minute
	given.Params = map[string]string{"max_statement_time": "3"}
	given.TLS = &tls.Config{ServerName: "db1", MinVersion: tls.VersionTLS12}
	c, err := dsn.Prepare(given)
	require.NoError(t, err)
	require.Equal(t, time.Minute, c.Timeout)
	c.Params["max_statement_time"] = "4"
	c.TLS.ServerName = "other"
	require.Equal(t, "3", given.Params["max_statement_time"])
	require.Equal(t, "db1", given.TLS.ServerName)
}

func TestPrepareDefaultsTheAddressLikeTheDriver(t *testing.T) {
	t.Parallel()
	c, err := dsn.Prepare(&mysql.Config{DBName: "oddeven"})
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:3306/oddeven", dsn.Label(c))
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  *mysql.Config
		says string
	}{
		{"Nil", nil, "is nil"},
		{"NoDatabase", &mysql.Config{Net: "tcp", Addr: "db1:3306", Passwd: "hunter2"}, "names no database"},
		{"NoHost", &mysql.Config{Net: "tcp", Addr: ":3306", DBName: "x", Passwd: "hunter2"}, "names no host"},
		{"NoAddress", &mysql.Config{Net: "tcp", DBName: "x", Passwd: "hunter2"}, "names no host"},
		{
			"Increment", &mysql.Config{Net: "tcp", Addr: "db1:3306", DBName: "x", Passwd: "hunter2", Params: map[string]string{"auto_increment_increment": "2"}},
			"sets auto_increment_increment, which oddeven sets itself",
		},
		{
			"OffsetInCapitals", &mysql.Config{Net: "tcp", Addr: "db1:3306", DBName: "x", Params: map[string]string{"AUTO_INCREMENT_OFFSET": "2"}},
			"sets AUTO_INCREMENT_OFFSET",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := dsn.Prepare(tt.cfg)
			require.ErrorContains(t, err, tt.says)
			require.NotContains(t, err.Error(), "hunter2")
			require.Nil(t, c)
		})
	}
}

// FuzzParse reads anything as a DSN, and anything as the password of one.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "/", "@/", "app:secret@tcp(db1:3306)/oddeven", "pa/ss", "p@ss:w/%#", "a(b)/c@tcp(d)", "tcp(x)/y?z=%", "x?tls=y", ")(", "%zz/%2F?&=",
	} {
		f.Add(s)
	}
	known := map[string]bool{dsn.ErrUnparsable.Error(): true, dsn.ErrNoDatabase.Error(): true, dsn.ErrNoHost.Error(): true}
	f.Fuzz(func(t *testing.T, s string) {
		for _, text := range []string{s, "app:" + s + "@tcp(db1:3306)", "app:" + s + "@tcp(db1:3306)/", "app:" + s + "@tcp(:3306)/oddeven"} {
			cfg, err := dsn.Parse(text)
			// The texts are fixed, so none of them can hold a password.
			require.True(t, err == nil || known[err.Error()], "%v", err)
			require.Equal(t, err == nil, cfg != nil)
			_ = dsn.Label(cfg)
			if cfg != nil {
				prepared, err := dsn.Prepare(cfg)
				require.Equal(t, err == nil, prepared != nil)
			}
		}
		cfg, err := dsn.Parse("app:" + s + "@tcp(db1:3306)/oddeven")
		require.NoError(t, err)
		require.Equal(t, s, cfg.Passwd)
		require.Equal(t, "db1:3306/oddeven", dsn.Label(cfg))
	})
}
