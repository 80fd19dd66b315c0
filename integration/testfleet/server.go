package testfleet

import (
	"database/sql"

	"github.com/go-sql-driver/mysql"
)

// A Server is one server as one fleet has it: behind proxies that this fleet
// alone uses.
type Server struct {
	Name string // for messages: "server 1 of 2"

	fleet   *Fleet
	node    *node
	chain   *chain
	cut     bool // by Cut
	db      *sql.DB
	globals []global // to be restored
}

// newServer puts proxies in front of a node.
func (f *Fleet) newServer(name string, n *node) *Server {
	f.t.Helper()
	c, err := newChain(n.inst.addr())
	f.check("open proxies for "+n.name, err)
	return &Server{Name: name, fleet: f, node: n, chain: c}
}

// DSN returns the DSN of the application's account, through the proxies.
func (s *Server) DSN() string { return s.config(s.node.accounts.app()).FormatDSN() }

// MigrateDSN returns the DSN of the migrating account, through the proxies.
func (s *Server) MigrateDSN() string { return s.config(s.node.accounts.migrate()).FormatDSN() }

// RootDSN returns the DSN of root, through the proxies.
func (s *Server) RootDSN() string { return s.config(s.node.inst.rootUser()).FormatDSN() }

// DirectDSN returns the DSN of the application's account around the proxies:
// no fault of the network reaches it and no log shows it.
func (s *Server) DirectDSN() string {
	cfg := s.config(s.node.accounts.app())
	cfg.Addr = s.node.inst.addr()
	return cfg.FormatDSN()
}

// Config returns what DSN says, for callers that don't want it as text.
func (s *Server) Config() *mysql.Config { return s.config(s.node.accounts.app()) }

func (s *Server) config(user, password string) *mysql.Config {
	return config(s.chain.tap.addr, user, password, s.fleet.Database)
}

// Addr returns host:port of the proxies, where DSN leads.
func (s *Server) Addr() string { return s.chain.tap.addr }

// Flavor returns MySQL or MariaDB.
func (s *Server) Flavor() Flavor { return s.node.flavor }

// Version returns the server's own words: "9.7.4-2", "10.11.19-MariaDB-0+deb12u1".
func (s *Server) Version() string { return s.node.version }

// DB returns a pool of root in the fleet's database, around the proxies. It is
// closed at cleanup.
func (s *Server) DB() *sql.DB {
	s.fleet.t.Helper()
	if s.db == nil {
		user, password := s.node.inst.rootUser()
		db, err := openDB(s.node.inst.addr(), user, password, s.fleet.Database)
		s.check("open pool", err)
		s.db = db
	}
	return s.db
}

func (s *Server) closeDB() {
	if s.db != nil {
		_ = s.db.Close() // complains of connections that the test has broken
	}
}

// check ends the test if err is not nil.
func (s *Server) check(what string, err error) {
	s.fleet.t.Helper()
	s.fleet.check(what+" "+s.Name, err)
}

func (a accounts) app() (user, password string)     { return a.appUser, a.appPassword }
func (a accounts) migrate() (user, password string) { return a.migrateUser, a.migratePassword }
