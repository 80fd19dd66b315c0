package doctor

import "fmt"

// Who else sets the increment and the offset. oddeven sets both itself for each
// session, and every ticket statement checks them, so that the global values do
// not matter: Group Replication sets these alone. Galera goes further, as long as
// wsrep_auto_increment_control is on: before every statement it puts its own values
// into the session (tried on MariaDB 10.11 and 11.8), so that no ticket can be drawn.
// What also matters is that such a cluster is several servers with one row: two
// of them writing at once are two copies of one ticket server.

func judgeIncrement(f *facts) finding {
	increment, offset := f.variable("auto_increment_increment"), f.variable("auto_increment_offset")
	if increment == "" || offset == "" {
		return cannotTell("Check that it is a MySQL or MariaDB server.", "the server does not know auto_increment_increment")
	}
	who := ""
	switch {
	case f.galera() && f.isOn("wsrep_auto_increment_control"):
		return bad(galeraControlOff, "Galera puts its own values, %s and %s, into every session before each statement: no ticket can be drawn", increment, offset)
	case f.grouped():
		who = fmt.Sprintf(", which Group Replication sets (its increment: %s)", f.variable("group_replication_auto_increment_increment"))
	}
	return ok("the global values are %s and %s%s; oddeven sets its own for each session", increment, offset, who)
}

// grouped reports whether Group Replication is set up. Without its plugin the
// server does not know the variable.
func (f *facts) grouped() bool { return f.variable("group_replication_group_name") != "" }

func judgeGroupReplication(f *facts) finding {
	if !f.grouped() {
		return ok("not in use")
	}
	what := fmt.Sprintf("Group Replication or InnoDB Cluster: this member is %s, %d in the group", f.group.state, f.group.size)
	switch {
	case f.group.err != nil:
		what = "Group Replication or InnoDB Cluster is set up; cannot tell whether it runs, the account may not read performance_schema.replication_group_members"
	case f.group.state == "" || f.group.state == "OFFLINE":
		return ok("Group Replication is set up but does not run")
	}
	switch {
	case !f.isOn("group_replication_single_primary_mode"):
		return bad("Run SELECT group_replication_switch_to_single_primary_mode() on a member.",
			"%s. It is in multi-primary mode: clients on two members would draw from one counter that the members do not lock for one another", what)
	case f.row != nil && f.row.SingleWriter:
		return ok("%s. Single-primary mode, and the fleet counts on it: after a failover the new primary is fenced and goes on by itself", what)
	}
	return warning("After a failover make sure that the old primary cannot be written to, then run `oddeven fleet accept` for this server; or, if a majority guarantees it, run `oddeven fleet single-writer on` once.",
		"%s. The group as a whole is one ticket server. A new primary stays out until it is accepted, because the fleet is not marked as having a guaranteed single writer; "+
			"a group forced to go on without its majority may have two", what)
}

const galeraControlOff = "SET GLOBAL wsrep_auto_increment_control = OFF on every node, and the same in their configuration files."

// galera reports whether the server is a node of a Galera cluster.
func (f *facts) galera() bool { return f.isOn("wsrep_on") }

func judgeGalera(f *facts) finding {
	if !f.galera() {
		return ok("not in use")
	}
	return warning("Let every client reach the cluster through one and the same node at a time, and give the fleet another server that is no part of it.",
		"this is a node of a Galera cluster (size %s). The cluster as a whole is one ticket server: its nodes do not lock rows for one another, so clients that draw on two nodes "+
			"could get one number twice", orElse(f.status["wsrep_cluster_size"], "unknown"))
}
