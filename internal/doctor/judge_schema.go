package doctor

import (
	"fmt"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
)

// Whether the tables are there, ours, and what this build expects.

const migrateUp = "Run `oddeven migrate up` on the whole fleet."

func judgeSchema(f *facts, fleet []*facts) finding {
	if f.rowErr != nil {
		problem, remedy := explain(f.rowErr)
		return bad(remedy, "%s", problem)
	}
	if f.schema < schema.Required {
		return bad(migrateUp, "version %d is older than the %d this build needs", f.schema, schema.Required)
	}
	if f.row.MinClient > schema.Client {
		return bad("Update oddeven here and in every application.", "version %d asks for client protocol %d, this build speaks %d", f.schema, f.row.MinClient, schema.Client)
	}
	if c := f.row.Class(); c.Increment < 1 || c.Offset < 1 || c.Offset > c.Increment {
		return bad("Somebody changed the row by hand; restore it.", "its row says offset %d of increment %d", c.Offset, c.Increment)
	}
	for _, other := range fleet {
		if other.err == nil && other.rowErr == nil && other.schema > f.schema {
			return warning(migrateUp, "version %d; %s has %d", f.schema, other.label, other.schema)
		}
	}
	return ok("version %d, client protocol %d or later", f.schema, f.row.MinClient)
}

func judgeTables(f *facts) finding {
	if f.tablesErr != nil {
		return unread(f.tablesErr)
	}
	var missing, unseen, foreign []string
	for _, name := range schema.Tables() {
		t, found := f.tables[name]
		switch {
		case found && !strings.HasPrefix(t.Comment, schema.CommentPrefix):
			foreign = append(foreign, name)
		case !found && len(f.privileges.lacking[name]) > 0:
			unseen = append(unseen, name)
		case !found:
			missing = append(missing, name)
		}
	}
	switch {
	case len(foreign) > 0:
		return bad("Move it away, or give oddeven a database of its own; then run `oddeven migrate up`. If the table is oddeven's and only its comment was changed, put it back: it begins with \""+schema.CommentPrefix+"\".",
			"%s, without the comment of oddeven, %s to somebody else", list("table", foreign), verb(foreign, "belongs", "belong"))
	case len(missing) > 0:
		return bad("Keep clients away from the server, restore its database from a backup, and restart the server process before clients use it again: then it is fenced.",
			"%s %s missing", list("table", missing), verb(missing, "is", "are"))
	case len(unseen) > 0:
		return cannotTell("Grant the account what the privileges check lists.", "the account may not see %s", list("table", unseen))
	}
	return ok("all %d are there and oddeven's", len(schema.Tables()))
}

func judgeEngine(f *facts) finding {
	if f.tablesErr != nil {
		return unread(f.tablesErr)
	}
	var wrong, alter []string
	for _, name := range schema.Tables() {
		t, found := f.tables[name]
		if found && !strings.EqualFold(t.Engine, "InnoDB") {
			wrong = append(wrong, fmt.Sprintf("%s is %s", name, orElse(t.Engine, "a view")))
			alter = append(alter, "ALTER TABLE `"+name+"` ENGINE=InnoDB")
		}
	}
	switch {
	case len(wrong) > 0:
		return bad("Stop every client, then run with the migrating account: "+strings.Join(alter, "; ")+".",
			"%s, not InnoDB: fences and tickets do not wait for one another, and a crash can lose any of it", strings.Join(wrong, ", "))
	case len(f.tables) == 0:
		return cannotTell("Mend what the tables check reports.", "the account sees none of the tables")
	}
	return ok("InnoDB")
}

func judgeWorkers(f *facts) finding {
	w := f.workers
	const remedy = "Run `oddeven migrate up`: it adds those that are missing, parked for one longest lease."
	switch {
	case f.row == nil:
		return unread(f.rowErr)
	case f.workersErr != nil:
		return unread(f.workersErr)
	case w.Rows > w.Own:
		return bad("Find out who inserted them; delete the rows of `workers` whose number is not congruent to the server's offset.",
			"%d worker numbers belong to other servers, which may grant them too", w.Rows-w.Own)
	case w.Own == 0 && w.want > 0:
		return bad(remedy, "none of the %d worker numbers is there: no Snowflake worker can start here", w.want)
	case w.Own < w.want:
		return warning(remedy, "%d of the %d worker numbers are missing", w.want-w.Own, w.want)
	}
	return ok("all %d numbers are there", w.want)
}

// list names things: "table a", "tables a, b".
func list(noun string, names []string) string {
	return verb(names, noun, noun+"s") + " " + strings.Join(names, ", ")
}

// verb is the form that goes with the number of names.
func verb(names []string, one, many string) string {
	if len(names) == 1 {
		return one
	}
	return many
}
