// Package dsn reads data source names without ever repeating one: a DSN
// carries a password, and an error is printed in places nobody foresees.
package dsn

import (
	"errors"
	"maps"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// defaultDialTimeout bounds a connection attempt when the DSN does not.
const defaultDialTimeout = 5 * time.Second

// Form is what a DSN looks like, for messages.
const Form = "user:password@tcp(host:port)/database"

var (
	// ErrUnparsable is returned by Parse. It holds no part of what was given.
	ErrUnparsable = errors.New("not a MySQL DSN; write it as " + Form)
	// ErrSeveral is returned by Parse.
	ErrSeveral = errors.New("looks like several DSNs in one; separate them by blanks, or give each its own --server")
	// ErrNoDatabase is returned by Parse and Prepare.
	ErrNoDatabase = errors.New("names no database; write it as " + Form)
	// ErrNoHost is returned by Parse and Prepare.
	ErrNoHost = errors.New("names no host; write it as " + Form)
)

// several is what a password holds that is really the first of two DSNs and the
// account of the second.
var several = regexp.MustCompile(`@(tcp|unix)\(.*\)/[^@]*:[^@]*@`)

// Parse reads one DSN. The driver's own message is dropped on purpose: it
// quotes the part it stumbled over, which may be the password.
func Parse(s string) (*mysql.Config, error) {
	cfg, err := mysql.ParseDSN(s)
	if err != nil {
		return nil, ErrUnparsable
	}
	if err := check(cfg); err != nil {
		return nil, err
	}
	if several.MatchString(cfg.Passwd + "@") {
		return nil, ErrSeveral
	}
	return cfg, nil
}

func check(cfg *mysql.Config) error {
	if cfg.Net != "" && cfg.Net != "tcp" && cfg.Net != "unix" {
		return ErrUnparsable // the driver found an address inside the password
	}
	if cfg.DBName == "" {
		return ErrNoDatabase
	}
	if cfg.Addr == "" {
		return ErrNoHost
	}
	if host, _, err := net.SplitHostPort(cfg.Addr); err == nil && host == "" && cfg.Net != "unix" {
		return ErrNoHost
	}
	for name := range cfg.Params {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "auto_increment_") || lower == "autocommit" {
			return errors.New("sets " + name + ", which oddeven sets itself on every connection; remove it from the DSN")
		}
	}
	return nil
}

// Label names a server in output, errors and logs: address and database,
// never the account.
func Label(cfg *mysql.Config) string {
	if cfg == nil {
		return "(none)"
	}
	return cfg.Addr + "/" + cfg.DBName
}

// Prepare returns a copy of cfg with what oddeven relies on: one round trip
// per statement, matched rather than changed rows counted, times in UTC, and no
// silent retry by the driver. Other settings, TLS among them, are kept.
func Prepare(cfg *mysql.Config) (*mysql.Config, error) {
	if cfg == nil {
		return nil, errors.New("is nil; make it with mysql.ParseDSN or mysql.NewConfig")
	}
	c := cfg.Clone()
	if c.Addr == "" && c.Net == "" {
		c.Net, c.Addr = "tcp", "127.0.0.1:3306"
	}
	if err := check(c); err != nil {
		return nil, err
	}
	c.Params = maps.Clone(c.Params)
	c.InterpolateParams = true
	c.ClientFoundRows = true
	c.ParseTime = true
	c.Loc = time.UTC
	c.MultiStatements = false
	c.RejectReadOnly = false
	c.CheckConnLiveness = true
	c.Logger = &mysql.NopLogger{}
	if c.Timeout == 0 {
		c.Timeout = defaultDialTimeout
	}
	return c, nil
}
