package localserver

import (
	"os"
	"path/filepath"
	"strconv"
)

// commonOptions are the options that running a server and initialising its
// data share. --no-defaults has to be the first option of all.
func commonOptions(flavor Flavor, dataDir string) []string {
	options := []string{
		"--no-defaults",
		"--datadir=" + dataDir,
		"--innodb-buffer-pool-size=64M",
		"--performance-schema=OFF",
	}
	// A small redo log makes a fresh directory, and every copy of it, small.
	if flavor == MariaDB {
		options = append(options, "--innodb-log-file-size=16M")
	} else {
		options = append(options, "--innodb-redo-log-capacity=32M", "--mysqlx=OFF", "--secure-file-priv=NULL")
	}
	if os.Geteuid() == 0 {
		// Short for --user=root, which servers demand from root. The long form
		// makes mariadb-install-db chown files, some of them the system's.
		options = append(options, "-uroot")
	}
	return options
}

// serverOptions are all options of a server process. No password is in them:
// command lines are public.
func serverOptions(c Config, h home, port int) []string {
	options := append(commonOptions(c.Installation.Flavor, h.path(dataName)),
		"--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(port),
		"--socket="+h.socket(),
		"--pid-file="+h.path(pidName),
		"--init-file="+h.path(initName),
		"--skip-name-resolve",
	)
	return append(options, c.Options...)
}

// installCommand returns the program and arguments that make a data directory.
func installCommand(inst Installation, dataDir string) (path string, args []string) {
	args = commonOptions(inst.Flavor, dataDir)
	if inst.Flavor == MySQL {
		return inst.Server, append(args, "--initialize-insecure")
	}
	return inst.Install, append(args,
		"--auth-root-authentication-method=normal",
		"--skip-test-db",
		"--force", // do not look up the host's name
	)
}

// environment returns the environment of this process with a directory for
// temporary files that is the server's own. MariaDB deletes at its start
// whatever looks like a temporary table there, be it another server's.
func environment(h home) []string {
	return append(os.Environ(), "TMPDIR="+h.path(tmpName))
}

// installEnv makes mariadb-install-db run the installation's own server, and
// not the one at its compiled-in path.
func installEnv(inst Installation) []string {
	return []string{"MYSQLD_BOOTSTRAP=" + filepath.Clean(inst.Server)}
}
