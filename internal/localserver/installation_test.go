package localserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		out    string
		flavor Flavor
		want   string
	}{
		{"mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n", MariaDB, "10.11.19"},
		{"/usr/sbin/mysqld  Ver 11.8.2-MariaDB for Linux on x86_64 (MariaDB Server)", MariaDB, "11.8.2"},
		{"/tmp/mysqlroot/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", MySQL, "9.7.4"},
		{"mysqld  Ver 8.4.3 for macos14.4 on arm64 (MySQL Community Server - GPL)", MySQL, "8.4.3"},
		{"warning: something\nmysqld  Ver 8.0.36-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))", MySQL, "8.0.36"},
		{"mysqld  Ver 8.0.35-27 for Linux on x86_64 (Percona Server (GPL), Release 27, Revision 2f8eeab)", MySQL, "8.0.35"},
		{"", "", ""},
		{"true (GNU coreutils) 9.1", "", ""},
		{"mysql  Ver 15.1 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)", "", ""},
		{"Ver 8.4 for Linux", "", ""},
	} {
		inst, ok := parseVersion(test.out)
		require.Equal(t, test.want != "", ok, test.out)
		require.Equal(t, Installation{Flavor: test.flavor, Version: test.want}, inst, test.out)
	}
}

// script writes an executable shell script and returns its path.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	// No child may be forked meanwhile: it would hold the file open for
	// writing for a moment, and the script could not be run (golang/go#22315).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

func TestInspect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	t.Run("MySQL", func(t *testing.T) {
		t.Parallel()
		path := script(t, dir, "mysqld", `echo "mysqld  Ver 9.7.4 for Linux on x86_64"`)
		inst, err := Inspect(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, Installation{Flavor: MySQL, Version: "9.7.4", Server: path}, inst)
	})
	t.Run("MariaDBWithInstallScriptBesideIt", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "scripts"), 0o700))
		path := script(t, dir, "bin/mariadbd", `echo "mariadbd  Ver 11.8.2-MariaDB for Linux on x86_64"`)
		install := script(t, dir, "scripts/mariadb-install-db", "")
		inst, err := Inspect(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, Installation{Flavor: MariaDB, Version: "11.8.2", Server: path, Install: install}, inst)
	})
	t.Run("NotAServer", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"exit 3", "echo hello", "echo mysqld Ver 1.2.3 for x; exit 1"} {
			_, err := Inspect(t.Context(), script(t, t.TempDir(), "mysqld", text))
			require.ErrorIs(t, err, ErrNotServer, text)
		}
	})
	t.Run("NoSuchFile", func(t *testing.T) {
		t.Parallel()
		_, err := Inspect(t.Context(), filepath.Join(dir, "nothing"))
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("ContextEnds", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := Inspect(ctx, script(t, t.TempDir(), "mysqld", "exec sleep 60"))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	first, second, broken := t.TempDir(), t.TempDir(), t.TempDir()
	one := script(t, first, "mysqld", `echo "mysqld  Ver 9.7.4 for Linux on x86_64"`)
	two := script(t, second, "mysqld", `echo "mysqld  Ver 8.4.1 for Linux on x86_64"`)
	require.NoError(t, os.Symlink(one, filepath.Join(second, "mariadbd")))
	script(t, broken, "mysqld", "exit 127")

	found, err := find(t.Context(), []string{"", ".", broken, first, second, first})
	require.NoError(t, err)
	require.Equal(t, []Installation{
		{Flavor: MySQL, Version: "9.7.4", Server: one},
		{Flavor: MySQL, Version: "8.4.1", Server: two},
	}, found, "each binary once, in the order of the directories")

	_, err = find(t.Context(), []string{"/no/such/dir", broken})
	missing, ok := errors.AsType[*NotFoundError](err)
	require.True(t, ok)
	require.Equal(t, []string{"/no/such/dir", broken}, missing.Searched)
	require.ErrorIs(t, err, ErrNotServer, "what does not work is in the error")
	require.ErrorContains(t, err, "/no/such/dir")
	require.ErrorContains(t, err, "apt-get install -y --no-install-recommends mariadb-server")
}
