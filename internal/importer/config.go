package importer

import (
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// Kind is what the numbers come from.
type Kind string

const (
	// Leaf is a table of Leaf's segment mode: one row for each tag.
	Leaf Kind = "leaf"
	// AutoIncrement is tables of the application with an AUTO_INCREMENT column.
	AutoIncrement Kind = "auto-increment"
)

// LeafTable is what Leaf calls its table.
const LeafTable = "leaf_alloc"

// Config says what is imported.
type Config struct {
	// Kind is Leaf or AutoIncrement. It must be given.
	Kind Kind
	// Sources are the databases with the old tables; at least one. Every one must
	// have all tables, unless Scattered is set. An account that may SELECT is enough.
	Sources []*mysql.Config
	// Scattered says that a table, of AutoIncrement, is in one of the sources at
	// least. What an account may not see then looks like what is not there.
	Scattered bool
	// Tables are the old tables, each as TABLE or DATABASE.TABLE. Leaf: one at most,
	// LeafTable if there is none. AutoIncrement: at least one.
	Tables []string
	// Column is the column whose values count, for AutoIncrement. Empty means the
	// AUTO_INCREMENT column of each table.
	Column string
	// Tags are the tags to import, for Leaf. None means all.
	Tags []string
	// As are names of sequences by tag or table, where they are not to be called
	// the same. A table is named as in Tables or without its database. What gets
	// the same name becomes one sequence, above the largest number of all.
	As map[string]string
	// Margin is how many numbers the old system may still use. Zero means that it
	// has been stopped.
	Margin int64
	// Ceiling is the last ID of the sequences, without shard bits. Zero means what
	// the column holds, but never more than an ID of the fleet can be.
	Ceiling int64
}

// Check returns a *ticket.ConfigError if Prepare and Run would refuse the
// configuration whatever the old tables hold. It asks no server.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults checks a configuration and fills in what was left out.
func (c Config) withDefaults() (Config, error) {
	if len(c.Sources) == 0 {
		return c, &ticket.ConfigError{Field: "Sources", Remedy: "name the database with the old table"}
	}
	for i, s := range c.Sources {
		if s == nil {
			return c, &ticket.ConfigError{Field: fmt.Sprintf("Sources[%d]", i), Remedy: "is nil; make it with mysql.ParseDSN"}
		}
	}
	if err := c.checkNumbers(); err != nil {
		return c, err
	}
	switch c.Kind {
	case Leaf:
		if err := c.checkLeaf(); err != nil {
			return c, err
		}
		if len(c.Tables) == 0 {
			c.Tables = []string{LeafTable}
		}
	case AutoIncrement:
		if err := c.checkAutoIncrement(); err != nil {
			return c, err
		}
	default:
		return c, &ticket.ConfigError{Field: "Kind", Value: string(c.Kind), Remedy: fmt.Sprintf("must be %s or %s", Leaf, AutoIncrement)}
	}
	for _, text := range c.Tables {
		if _, err := parseTable(text); err != nil {
			return c, err
		}
	}
	for old, name := range c.As {
		if err := sequence.CheckName(name); err != nil {
			return c, &ticket.ConfigError{Field: "As", Value: old + "=" + name, Remedy: "not the name of a sequence: " + err.Error()}
		}
	}
	return c, nil
}

func (c Config) checkNumbers() error {
	if c.Margin < 0 || c.Margin >= schema.Ceiling {
		return &ticket.ConfigError{Field: "Margin", Value: c.Margin, Remedy: "must be 0 or more, and below 2^53"}
	}
	if c.Ceiling < 0 {
		return &ticket.ConfigError{Field: "Ceiling", Value: c.Ceiling, Remedy: "must be more than 0"}
	}
	return nil
}

func (c Config) checkLeaf() error {
	switch {
	case len(c.Tables) > 1:
		return &ticket.ConfigError{Field: "Tables", Value: strings.Join(c.Tables, ", "), Remedy: "Leaf has one table; name the tags instead"}
	case c.Column != "":
		return &ticket.ConfigError{Field: "Column", Value: c.Column, Remedy: "is for " + string(AutoIncrement) + "; of Leaf's table max_id is read"}
	case c.Scattered:
		return &ticket.ConfigError{Field: "Scattered", Value: true, Remedy: "is for " + string(AutoIncrement) + "; every source must have Leaf's table"}
	}
	return nil
}

func (c Config) checkAutoIncrement() error {
	switch {
	case len(c.Tables) == 0:
		return &ticket.ConfigError{Field: "Tables", Remedy: "name the tables, each as TABLE or DATABASE.TABLE"}
	case len(c.Tags) > 0:
		return &ticket.ConfigError{Field: "Tags", Value: strings.Join(c.Tags, ", "), Remedy: "is for " + string(Leaf) + "; name tables"}
	}
	return nil
}

// table is a table; without a database it is in that of the source.
type table struct{ database, name string }

func parseTable(text string) (table, error) {
	t := table{name: text}
	if database, name, both := strings.Cut(text, "."); both {
		t = table{database: database, name: name}
		if database == "" {
			name = ""
		}
		t.name = name
	}
	if t.name == "" || strings.ContainsAny(t.name, ".`\x00") || strings.ContainsAny(t.database, "`\x00") {
		return t, &ticket.ConfigError{Field: "Tables", Value: text, Remedy: "write it as TABLE or DATABASE.TABLE, without quotes"}
	}
	return t, nil
}

// quoted is the table in a statement.
func (t table) quoted() string { return quote(t.database) + "." + quote(t.name) }

// quote quotes an identifier.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
