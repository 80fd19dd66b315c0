package account_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/account"
)

func TestCreateMayBeRepeated(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"CREATE USER IF NOT EXISTS 'app'@'%' IDENTIFIED BY 'secret'",
		"ALTER USER 'app'@'%' IDENTIFIED BY 'secret'",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON `odd\\_even`.* TO 'app'@'%'",
	}, account.Create("app", "secret", account.AppPrivileges, `odd\_even`))
}

func TestApplicationsMayNotChangeTheSchema(t *testing.T) {
	t.Parallel()
	for _, privilege := range []string{"CREATE", "ALTER", "DROP", "INDEX"} {
		require.NotContains(t, account.AppPrivileges, privilege)
		require.Contains(t, account.MigratePrivileges, privilege)
	}
	require.Contains(t, account.MigratePrivileges, account.AppPrivileges)
}
