package devfleet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsAreMadeOnceAndFoundAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), secretsFile)
	made, err := loadSecrets(path)
	require.NoError(t, err)
	require.NotEmpty(t, made.Root)
	require.NotEqual(t, made.Root, made.App)
	require.NotEqual(t, made.Migrate, made.App)
	require.NotEqual(t, made.Root, made.Migrate)

	found, err := loadSecrets(path)
	require.NoError(t, err)
	require.Equal(t, made, found)

	other, err := loadSecrets(filepath.Join(t.TempDir(), secretsFile))
	require.NoError(t, err)
	require.NotEqual(t, made, other)
}

func TestSecretsAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := loadSecrets(filepath.Join(dir, secretsFile))
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
	info, err := entries[0].Info()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// account.Create writes a password into SQL as it is.
func TestSecretsNeedNoQuotingInSQL(t *testing.T) {
	t.Parallel()
	s, err := loadSecrets(filepath.Join(t.TempDir(), secretsFile))
	require.NoError(t, err)
	for _, password := range []string{s.Root, s.Migrate, s.App} {
		require.Regexp(t, `^[A-Za-z0-9]{20,}$`, password)
	}
}

func TestBrokenSecretsAreNeverReplaced(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Empty": "", "NotJSON": "hunter2", "OtherJSON": "[1]", "NoPassword": `{"root":"hunter2","migrate":"hunter2"}`, "CutShort": `{"root":"hunter2","migr`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), secretsFile)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := loadSecrets(path)
			require.ErrorContains(t, err, path+" does not hold the passwords of this fleet")
			require.NotContains(t, err.Error(), "hunter2")
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, text, string(kept))
		})
	}
}

func TestSecretsThatCannotBeReadOrWritten(t *testing.T) {
	t.Parallel()
	_, err := loadSecrets(t.TempDir())
	require.ErrorContains(t, err, "read accounts: ")
	_, err = loadSecrets(filepath.Join(t.TempDir(), "missing", secretsFile))
	require.ErrorContains(t, err, "write accounts: ")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestExistingCountsServersFromTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Zero(t, existing(dir))
	for i := range 3 {
		require.NoError(t, os.Mkdir(serverDir(dir, i), 0o700))
	}
	require.Equal(t, 3, existing(dir))
	require.Equal(t, filepath.Join(dir, "server-1"), serverDir(dir, 0))
	require.Zero(t, existing(filepath.Join(dir, "missing")))
}

func TestOpenSaysThatTheBinaryIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	_, err := Open(t.Context(), Config{Dir: dir, Servers: 2, Binary: filepath.Join(t.TempDir(), "no-such-mysqld")})
	require.ErrorContains(t, err, "no-such-mysqld")
	require.NoDirExists(t, dir, "nothing is left behind")
}
