package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// offered are the lines that a shell gets, without the last one, which says how to use them.
func offered(t *testing.T, args ...string) (lines []string, directive string) {
	t.Helper()
	r := command(t, nil, append([]string{"__complete"}, args...)...)
	require.Equal(t, exitOK, r.code)
	require.NotContains(t, r.err, "oddeven:")
	lines = strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// Cobra reads the flags twice; a server is still one.
func TestServersAreCompletedOnce(t *testing.T) {
	t.Parallel()
	lines, _ := offered(t, "fleet", "accept", "--server", "a:"+secret+"@tcp(127.0.0.1:1)/db", "--server", "a:"+secret+"@tcp(127.0.0.1:2)/db", "")
	require.Equal(t, []string{"127.0.0.1:1/db\tunreachable", "127.0.0.1:2/db\tunreachable"}, lines)
	lines, _ = offered(t, "fleet", "accept", "--server", "a:"+secret+"@tcp(127.0.0.1:1)/db", "--server", secret, "")
	require.Empty(t, lines)
}

// Files are offered only where a file is meant.
func TestFilesAreOfferedOnlyWhereAFileIsMeant(t *testing.T) {
	t.Parallel()
	const files, directories = ":0", ":16"
	forEveryCommand(t, func(t *testing.T, cmd *cobra.Command, path []string) {
		if path == nil {
			path = []string{}
		}
		_, directive := offered(t, append(path, "")...)
		require.NotEqual(t, files, directive)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			_, directive := offered(t, append(path, "--"+f.Name, "")...)
			switch f.Name {
			case "config", "binary":
				require.Equal(t, files, directive, f.Name)
			case "dir":
				require.Equal(t, directories, directive, f.Name)
			default:
				require.NotEqual(t, files, directive, f.Name)
			}
		})
	})
}
