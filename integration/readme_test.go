package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/account"
)

// The README, the product and the tests name the same privileges.
func TestReadmeGrantsAreTheAccountsOfTheTests(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	grants := map[string]string{}
	for _, found := range regexp.MustCompile("(?m)^GRANT (.*) ON `oddeven`\\.\\* TO '(\\w+)'@'%';$").FindAllStringSubmatch(string(readme), -1) {
		grants[found[2]] = found[1]
	}
	require.Equal(t, map[string]string{
		testfleet.MigrateUser: account.MigratePrivileges,
		testfleet.AppUser:     account.AppPrivileges,
	}, grants)
}

// The programs of the README compile as they stand there.
func TestReadmeProgramsCompile(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	programs := regexp.MustCompile("(?ms)^```go\n(// Command (\\w+) .*?)^```$").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, programs, 2)
	for _, p := range programs {
		t.Run(p[2], func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "main.go")
			require.NoError(t, os.WriteFile(path, []byte(p[1]), 0o600))
			out, err := exec.CommandContext(t.Context(), "go", "vet", path).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}
