package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// rightArguments are arguments and flags that a command needs.
var rightArguments = map[string][]string{
	"migrate to": {"3"}, "migrate adopt": {"old"}, "fleet accept": {"db1:3306/oddeven"}, "fleet single-writer": {"off"},
	"sequence show": {"orders"}, "sequence create": {"orders"}, "sequence bump": {"orders", "5"}, "sequence repair": {"orders"},
	"sequence delete": {"orders"}, "worker release": {"5"}, "decode": {"7"},
	"import": {"--from", "leaf", "--source", "reader@tcp(db9:3306)/leaf"},
}

// wrongNames name no sequence.
var wrongNames = []string{"", "a\nb", "a\x00b", "a\tb", "\xff", "a\u2028b", strings.Repeat("x", 129)}

// wrongArguments are those that a command refuses without asking a server.
var wrongArguments = map[string][][]string{
	"next":                words(wrongNames...),
	"stats":               append(words(wrongNames...), []string{"orders", ""}),
	"migrate to":          words("", "x", "1.5", "3\n", "--", "9999", "99999999999999999999", "\xff"),
	"migrate adopt":       words("", "a b", "a\x00", "a.b.c", "a\nb", "\xff", "`a`"),
	"fleet single-writer": words("", "maybe", "ON", "on\n"),
	"sequence show":       words(wrongNames...), "sequence create": words(wrongNames...),
	"sequence repair": words(wrongNames...), "sequence delete": words(wrongNames...),
	"sequence bump": append([][]string{{"", "5"}, {"a\x00b", "5"}}, [][]string{
		{"orders", ""}, {"orders", "0"}, {"orders", "x"}, {"orders", "1e6"}, {"orders", "9223372036854775808"}, {"orders", "5\n"}, {"orders", "\xff"},
	}...),
	"worker release": words("", "x", "1.5", "9223372036854775808", "5\x00"),
}

func words(all ...string) [][]string {
	lists := make([][]string, len(all))
	for i, w := range all {
		lists[i] = []string{w}
	}
	return lists
}

// wrongValues are those that no flag of a type takes.
func wrongValues(f *pflag.Flag) []string {
	const huge = "99999999999999999999"
	switch f.Value.Type() {
	case "int", "int64":
		return []string{"", "x", "1.5", "1,5", " 5", "5\n", "5\x00", "\xff", huge, "-" + huge}
	case "intSlice", "int64Slice":
		return []string{"", "x", "1,x", "1,", "1 2", huge, "1," + huge, "\xff"}
	case "duration":
		return []string{"", "x", "5", "5 s", "1y", "5s\n", "\xff", huge + "h"}
	case "bool":
		return []string{"", "maybe"}
	case "string":
		if f.Annotations[mayBeEmpty] != nil {
			return nil
		}
		return []string{""}
	case "stringArray":
		return nil // repeated; each value is looked at by the command
	}
	return []string{"", "x", "JSON", "1\n", "\xff"}
}

// mistaken runs a command line that is wrong and checks what every message keeps to.
func mistaken(t *testing.T, env map[string]string, args ...string) string {
	t.Helper()
	r := command(t, env, args...)
	require.Equal(t, exitUsage, r.code, "%q: %s", args, r.err)
	require.Empty(t, r.out, "%q: results only", args)
	require.True(t, strings.HasPrefix(r.err, "oddeven: "), "%q: %s", args, r.err)
	require.Regexp(t, `\nTry: oddeven.* --help\n$`, r.err, "%q", args)
	for _, programmers := range []string{"strconv", "invalid syntax", "parsing", "time: ", "pflag", "%!", "int64", "<nil>", "context deadline"} {
		require.NotContains(t, r.err, programmers, "%q", args)
	}
	require.True(t, utf8.ValidString(r.err), "%q: %q", args, r.err)
	require.NotContains(t, strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' {
			return '\x00'
		}
		return c
	}, r.err), "\x00", "%q: %q", args, r.err)
	return r.err
}

// forEveryCommand runs a test for each command, with its path as it is typed.
func forEveryCommand(t *testing.T, test func(t *testing.T, cmd *cobra.Command, path []string)) {
	t.Helper()
	everyBelow((&app{}).root(), func(cmd *cobra.Command) {
		path := pathOf(cmd)
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			t.Parallel()
			own, _, err := (&app{}).root().Find(path) // asking one for its flags writes to those of its parents
			require.NoError(t, err)
			test(t, own, path)
		})
	})
}

// withArguments is a command line that is right so far.
func withArguments(path []string) []string {
	return slices.Concat(path, rightArguments[strings.Join(path, " ")])
}

func TestFlagMistakesOfEveryCommand(t *testing.T) {
	t.Parallel()
	forEveryCommand(t, func(t *testing.T, cmd *cobra.Command, path []string) {
		line := withArguments(path)
		require.Contains(t, mistaken(t, nil, append(line, "--bogus")...), "oddeven: unknown flag --bogus\n")
		require.Contains(t, mistaken(t, nil, append(line, "--bogus=\xff\n")...), "unknown flag --bogus")
		require.Contains(t, mistaken(t, nil, append(line, "--b\n\xffs")...), `unknown flag "--b\n\xffs"`)
		require.Contains(t, mistaken(t, nil, append(line, "-X")...), "unknown flag -X\n")
		require.Contains(t, mistaken(t, nil, append(line, "-vX")...), "unknown flag -X\n")
		require.Contains(t, mistaken(t, nil, append(line, "-5")...), "write -- before an argument that begins with a dash")
		require.Contains(t, mistaken(t, nil, append(line, "---x")...), `"---x" is no flag`)
		require.Contains(t, mistaken(t, nil, append(line, "--=x")...), `"--=x" is no flag`)
		require.Regexp(t, `unknown flag --confg; did you mean (--\w+ or )*--config( or --\w+)*\?`, mistaken(t, nil, append(line, "--confg", "x")...))
		check := func(f *pflag.Flag) {
			for _, value := range wrongValues(f) {
				says := mistaken(t, nil, append(line, "--"+f.Name+"="+value)...)
				require.Contains(t, says, "--"+f.Name+" ", "%q", value)
				require.Contains(t, says, shown(`"` + value + `"`)[:1], "%q", value)
			}
			if f.NoOptDefVal == "" {
				require.Contains(t, mistaken(t, nil, append(line, "--"+f.Name)...), "--"+f.Name+" needs a value: --"+f.Name+" ")
			}
		}
		cmd.LocalFlags().VisitAll(check)
		cmd.InheritedFlags().VisitAll(check)
	})
}

// Numbers and times that are negative or zero are refused before a server is asked.
func TestNumbersOutOfRangeOfEveryCommand(t *testing.T) {
	t.Parallel()
	mayBeZero := []string{"lock-timeout", "shard-bits", "margin"}
	forEveryCommand(t, func(t *testing.T, cmd *cobra.Command, path []string) {
		line := append(withArguments(path), "--server", nobody(t))
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			var values []string
			switch f.Value.Type() {
			case "int", "int64", "intSlice", "int64Slice":
				values = []string{"-1", "-9223372036854775808", "0"}
			case "duration":
				values = []string{"-1s", "-1ns", "0s"}
			}
			for _, value := range values {
				if strings.HasPrefix(value, "0") && slices.Contains(mayBeZero, f.Name) {
					continue
				}
				says := mistaken(t, nil, append(line, "--"+f.Name+"="+value)...)
				require.True(t, strings.Contains(says, "--"+f.Name) || strings.Contains(says, "-"+f.Shorthand+" "), says)
				require.Contains(t, says, value)
			}
		})
	})
}

func TestArgumentMistakesOfEveryCommand(t *testing.T) {
	t.Parallel()
	forEveryCommand(t, func(t *testing.T, cmd *cobra.Command, path []string) {
		name := strings.Join(path, " ")
		if cmd.HasAvailableSubCommands() {
			require.Contains(t, mistaken(t, nil, append(path, "bogus")...), `no command "bogus"`)
			require.Contains(t, mistaken(t, nil, append(path, "")...), `no command ""`)
			require.Contains(t, mistaken(t, nil, append(path, "\xff\x00")...), `no command "\xff\x00"`)
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() && len(c.Name()) > 2 {
					require.Regexp(t, `did you mean .*\b`+c.Name()+`\b.*\?`, mistaken(t, nil, append(path, c.Name()[:len(c.Name())-1]+"x")...))
				}
			}
			return
		}
		server := []string{"--server", nobody(t)}
		if name != "decode" && name != "stats" { // take any number
			mistaken(t, nil, slices.Concat(withArguments(path), []string{"more", "than", "it takes"}, server)...)
		}
		if len(rightArguments[name]) > 0 && name != "decode" {
			mistaken(t, nil, append(path, server...)...)
		}
		for _, args := range wrongArguments[name] {
			mistaken(t, nil, slices.Concat(path, server, []string{"--"}, args)...)
		}
	})
}

// Servers that are named wrongly, in each of the three ways.
func TestServerMistakesOfEveryCommand(t *testing.T) {
	t.Parallel()
	noFleet := []string{"version", "layouts", "dev", "demo", "decode", "help"}
	broken := map[string]string{
		"empty": "", "no YAML": "{" + secret, "a list": "- " + secret, "other fields": "server: " + secret,
		"bad DSN": "servers:\n  - dsn: " + secret, "unset": "servers:\n  - dsn_env: NOT_SET\n",
	}
	forEveryCommand(t, func(t *testing.T, cmd *cobra.Command, path []string) {
		if cmd.HasAvailableSubCommands() || path[0] == "completion" || slices.Contains(noFleet, path[0]) {
			return
		}
		line := withArguments(path)
		require.Contains(t, mistaken(t, nil, line...), "no servers: give --server")
		good := "app:" + secret + "@tcp(db1:3306)/oddeven"
		for _, bad := range []string{"", secret, "app:" + secret + "@db1", "app:" + secret + "@tcp(db1:3306)/", "app:" + secret + "@tcp(:3306)/oddeven", good + "," + good, "\xff" + secret, "a\nb", "x\x00"} {
			require.Contains(t, mistaken(t, nil, append(line, "--server", good, "--server", bad)...), "--server, DSN 2 of 2: ", "%q", bad)
			if strings.TrimSpace(bad) != "" {
				require.Contains(t, mistaken(t, map[string]string{envServers: good + " " + bad}, line...), envServers+", DSN 2 of ", "%q", bad)
			}
		}
		require.Contains(t, mistaken(t, nil, append(line, "--server", good, "--config", "x.yaml")...), "--server and --config exclude each other")
		require.Contains(t, mistaken(t, nil, append(line, "--config", "none.yaml")...), "read --config none.yaml: no such file or directory")
		require.Contains(t, mistaken(t, nil, append(line, "--config", "a\nb\x00")...), `read --config "a\nb\x00": `)
		require.Contains(t, mistaken(t, nil, append(line, "--config", t.TempDir())...), "is a directory")
		for name, text := range broken {
			path := inFile(t, "fleet.yaml", text)
			require.Contains(t, mistaken(t, nil, append(line, "--config", path)...), path, name)
		}
	})
}

func TestHelpForWhatIsNoCommand(t *testing.T) {
	t.Parallel()
	require.Contains(t, mistaken(t, nil, "help", "nxt"), `there is no help for "nxt": no such command; did you mean next?`)
	require.Contains(t, mistaken(t, nil, "help", "migrate", "upp"), `there is no help for "migrate upp": no such command; did you mean up?`)
	r := command(t, nil, "help", "migrate", "up")
	require.Equal(t, exitOK, r.code)
	require.Contains(t, r.out, "Usage:\n  oddeven migrate up")
}

func TestLike(t *testing.T) {
	t.Parallel()
	names := []string{"orders", "users", "order items", "a", "Orders2", "ключи"}
	tests := []struct {
		typed string
		want  []string
	}{
		{"ordrs", []string{"orders", "Orders2"}},
		{"order", []string{"orders", "Orders2", "order items"}},
		{"ORDERS", []string{"Orders2", "orders"}},
		{"suers", []string{"users"}},
		{"ключ", []string{"ключи"}},
		{"orders", []string{"Orders2"}},
		{"b", nil},
		{"", nil},
		{"something else", nil},
	}
	for _, tt := range tests {
		got := like(tt.typed, names)
		require.ElementsMatch(t, tt.want, got, tt.typed)
	}
	require.Equal(t, 3, distance("kitten", "sitting"))
	require.Equal(t, 4, distance("", "äöüß"))
}
