package testfleet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// SetReadOnly sets the global variable read_only, which binds the product's
// accounts but not root. It is restored at cleanup.
func (s *Server) SetReadOnly(on bool) {
	s.fleet.t.Helper()
	s.SetGlobal("read_only", on)
}

// SetGlobal sets a global variable to a string, a number or a bool. It is
// restored at cleanup. Sessions that exist keep their own value.
func (s *Server) SetGlobal(name string, value any) {
	s.fleet.t.Helper()
	ctx, cancel := opContext()
	defer cancel()
	what := "set global variable " + name + " of"
	s.check(what, s.node.claim(s.fleet.t.Name()))
	old, err := s.node.global(ctx, name)
	s.check(what, err)
	s.globals = append(s.globals, global{name, old})
	s.check(what, s.node.setGlobal(ctx, name, literal(value)))
}

// A global is a variable and its value as an SQL literal.
type global struct{ name, value string }

// restoreGlobals undoes SetGlobal, the last one first.
func (s *Server) restoreGlobals(ctx context.Context) error {
	for _, g := range slices.Backward(s.globals) {
		if err := s.node.setGlobal(ctx, g.name, g.value); err != nil {
			return err
		}
	}
	return nil
}

// variableName is what may stand unquoted in SET GLOBAL.
var variableName = regexp.MustCompile(`^[A-Za-z0-9_.]+$`)

// global returns the value of a variable as an SQL literal.
func (n *node) global(ctx context.Context, name string) (string, error) {
	if !variableName.MatchString(name) {
		return "", errors.New("this is not the name of a variable")
	}
	var value *string
	if err := n.root.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&value); err != nil {
		return "", fmt.Errorf("read @@GLOBAL.%s: %w", name, err)
	}
	if value == nil {
		return "NULL", nil
	}
	if _, err := strconv.ParseFloat(*value, 64); err == nil {
		return *value, nil // variables that are numbers refuse strings
	}
	return quote(*value), nil
}

// setGlobal sets a variable to an SQL literal.
func (n *node) setGlobal(ctx context.Context, name, value string) error {
	if _, err := n.root.ExecContext(ctx, "SET GLOBAL "+name+" = "+value); err != nil {
		return fmt.Errorf("set @@GLOBAL.%s: %w", name, err)
	}
	return nil
}

// literal returns value as SQL.
func literal(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case bool:
		if v {
			return "ON"
		}
		return "OFF"
	default:
		return fmt.Sprint(v)
	}
}
