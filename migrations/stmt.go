package migrations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// stmt is a statement with its arguments, so that a dry run can print what
// otherwise would be run.
type stmt struct {
	query string
	args  []any
}

// String is the statement with its arguments written in, for people.
func (s stmt) String() string {
	var b strings.Builder
	args := s.args
	for _, r := range s.query {
		if r == '?' && len(args) > 0 {
			b.WriteString(literal(args[0]))
			args = args[1:]
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	case string:
		return "'" + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(v) + "'"
	case time.Time:
		return "'" + v.UTC().Format("2006-01-02 15:04:05") + "'"
	case bool:
		if v {
			return "1"
		}
		return "0"
	default:
		return fmt.Sprint(v)
	}
}

// withoutSemicolon cuts a statement of a migration file to the form of the others.
func withoutSemicolon(query string) string { return strings.TrimSuffix(query, ";") }

// runAll executes the statements in one transaction, the server's row locked
// first if there is one.
func (m *member) runAll(ctx context.Context, statements []stmt) error {
	if len(statements) == 0 {
		return nil
	}
	return m.transact(ctx, func(tx *sqlx.Tx) error {
		if m.row != nil {
			var gen int64
			if err := tx.GetContext(ctx, &gen, queryLockServer); err != nil {
				return fmt.Errorf("lock server row: %w", err)
			}
			if gen != m.row.Gen {
				return fmt.Errorf("server was fenced meanwhile (generation %d, was %d); run the command again", gen, m.row.Gen)
			}
		}
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s.query, s.args...); err != nil {
				return fmt.Errorf("%s: %w", firstWords(s.query), err)
			}
		}
		return nil
	})
}

// firstWords names a statement in an error: "INSERT INTO `workers`".
func firstWords(query string) string {
	words := strings.Fields(query)
	return strings.Join(words[:min(3, len(words))], " ")
}
