package doctor

import "strings"

// What a crash of the server can make it forget (I3).
//
// A server that forgets its last commits is not wrong by itself: the next client
// sees a later start, fences it, and the fence leaps to the clock line, an hour
// ahead of everything that could have been issued. Peers remember the
// generation, so a fence that was forgotten is repeated above it; worker numbers
// are parked for the longest lease. So weak durability is a warning. What it
// takes away is the second line of defence: after the loss uniqueness rests on
// the server's clock not being set back, and on the tickets being below their
// clock line. Beyond the line the leap is only the busiest hour on record and
// what peers remember, and the record itself may be what was lost. That is bad.

// weak is the finding for a setting that lets a crash undo commits.
func weak(f *facts, setting, remedy string) finding {
	if f.pastLine() {
		return bad(remedy, "%s, and numbers here are past their clock line (see clock-line): the fence after the restart is sure to leap only by "+
			"the busiest hour on record, so numbers could be handed out twice", setting)
	}
	return warning(remedy, "%s. The fence after the restart leaps over them to the clock line, so none is handed out twice "+
		"as long as the server's clock is not set back in between", setting)
}

func judgeFlushLog(f *facts) finding {
	const remedy = "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in its configuration file."
	if v, known := f.status["innodb_redo_log_enabled"]; known && v == "OFF" {
		return bad("Run ALTER INSTANCE ENABLE INNODB REDO_LOG.", "the redo log is off: a crash of the server destroys its data")
	}
	switch value := f.variable("innodb_flush_log_at_trx_commit"); {
	case value == "1", value == "3" && f.mariaDB():
		return ok("%s: a ticket is on disk before it is handed out", value)
	case value == "0":
		return weak(f, "0: a crash of the server or its host loses the last second of commits, numbers that were handed out among them", remedy)
	case value == "2":
		return weak(f, "2: a crash of the host loses the last second of commits, numbers that were handed out among them", remedy)
	default:
		return cannotTell("Check that the server runs InnoDB.", "innodb_flush_log_at_trx_commit is %q", value)
	}
}

// With a binary log a commit is decided by the log: after a crash InnoDB undoes
// prepared transactions that are not in it, whatever it has flushed itself.
func judgeSyncBinlog(f *facts) finding {
	value := f.variable("sync_binlog")
	switch {
	case !f.binlog():
		return ok("no binary log is written, so sync_binlog does not matter")
	case value == "1":
		return ok("1: the binary log is on disk before a commit is confirmed")
	}
	return weak(f, value+", not 1: after a crash of the host commits that are not in the binary log on disk are undone, numbers that were handed out among them",
		"SET GLOBAL sync_binlog = 1, and the same in its configuration file.")
}

func judgeDoublewrite(f *facts) finding {
	value := strings.ToUpper(f.variable("innodb_doublewrite"))
	const remedy = "Set innodb_doublewrite = ON in its configuration file and restart it, unless its file system writes pages atomically (ZFS)."
	switch value {
	case "":
		return cannotTell("Check that the server runs InnoDB.", "the server does not know innodb_doublewrite")
	case "OFF", "0", "DETECT_ONLY":
		return warning(remedy, "%s: a page half written when the power fails cannot be repaired; the server would not start again, or only from a backup", value)
	}
	return ok("%s", value)
}
