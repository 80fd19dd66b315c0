package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBinary builds the command as the integration tests of the project do.
func TestBinary(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "add")
	args := []string{"build", "-o", bin}
	if overlay := os.Getenv("ODDEVEN_BUILD_OVERLAY"); overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "./cmd/add")...)
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != "5 fake!" {
		t.Fatalf("printed %q", got)
	}
}
