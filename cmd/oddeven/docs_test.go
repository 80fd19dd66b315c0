package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// pages are all documents for people, by their paths from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "*/README.md", "integration/*/README.md"} {
		paths, err := filepath.Glob("../../" + pattern)
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[strings.TrimPrefix(path, "../../")] = string(text)
		}
	}
	require.Contains(t, all, "README.md")
	return all
}

var (
	inBlock  = regexp.MustCompile(`^\s*(\$ )?(?:[A-Z_]+=\S+ )*(?:bin/)?oddeven ([a-z-].*)$`)
	inText   = regexp.MustCompile("`(?:[A-Z_]+=[^` ]* )*(?:bin/)?oddeven ([^`]+)`")
	flagSpan = regexp.MustCompile("`(--[a-z][^`]*)`")
	endOfOne = regexp.MustCompile(`\s+(?:[|>&;#]|2>).*$`)
	fence    = regexp.MustCompile("^\\s*```")
)

// commandLine is a command line of a document.
type commandLine struct {
	where string
	args  string
	typed bool // is what somebody types, not a mention in running text
}

// commandLines finds the command lines of a page.
func commandLines(page, text string) []commandLine {
	var found []commandLine
	fenced, n := false, 0
	for line := range strings.Lines(text) {
		n++
		where, line := fmt.Sprintf("%s:%d", page, n), strings.TrimRight(line, "\n")
		if fence.MatchString(line) {
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(line, "    ") {
			if m := inBlock.FindStringSubmatch(line); m != nil {
				found = append(found, commandLine{where, endOfOne.ReplaceAllString(m[2], ""), true})
				continue
			}
		}
		for _, m := range inText.FindAllStringSubmatch(line, -1) {
			for _, args := range alternatives(m[1]) {
				found = append(found, commandLine{where, args, false})
			}
		}
	}
	return found
}

// alternatives writes out what a table puts as list\|show, and drops brackets.
func alternatives(args string) []string {
	all := []string{""}
	for word := range strings.FieldsSeq(strings.NewReplacer("[", "", "]", "", "…", "").Replace(args)) {
		var longer []string
		for _, before := range all {
			for one := range strings.SplitSeq(word, `\|`) {
				longer = append(longer, strings.TrimSpace(before+" "+one))
			}
		}
		all = longer
	}
	return all
}

// placeholder is an argument to be filled in, as NAME or N.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z_.]*$`)

func newRoot() *cobra.Command {
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}, lookup: func(string) (string, bool) { return "", false }}
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("bash")
	return root
}

// checkCommandLine holds words to the commands that there are: command, flags,
// their values, and the number of arguments. In running text arguments may be
// left out.
func checkCommandLine(words []string, typed bool) error {
	cmd, rest, err := newRoot().Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	args, err := setFlags(cmd, rest, typed)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	case cmd.HasSubCommands() && len(args) > 0:
		return fmt.Errorf("%s has no command %s", cmd.CommandPath(), args[0])
	case cmd.Flags().Changed("help") || !typed && len(args) == 0:
		return nil
	}
	err = cmd.ValidateArgs(args)
	for more := args; err != nil && !typed && len(more) < 3; {
		if more = append(more, "X"); cmd.ValidateArgs(more) == nil {
			return nil
		}
	}
	return err
}

// setFlags sets the flags among words and returns the other words. The value of
// the last flag may be left out, unless whole.
func setFlags(cmd *cobra.Command, words []string, whole bool) (args []string, err error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddFlagSet(cmd.InheritedFlags())
	flags.AddFlagSet(cmd.Flags())
	for i := 0; i < len(words); i++ {
		name, value, hasValue := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "-") {
			args = append(args, words[i])
			continue
		}
		flag := flags.Lookup(strings.TrimPrefix(name, "--"))
		if !strings.HasPrefix(name, "--") {
			flag = flags.ShorthandLookup(name[1:])
		}
		if flag == nil {
			return nil, fmt.Errorf("there is no flag %s", name)
		}
		if !hasValue && flag.NoOptDefVal != "" {
			value = flag.NoOptDefVal
		} else if !hasValue {
			if i++; i == len(words) && !whole {
				return args, nil
			} else if i == len(words) {
				return nil, fmt.Errorf("flag %s needs a value", name)
			}
			value = words[i]
		}
		if placeholder.MatchString(value) {
			continue
		}
		if err := flags.Set(flag.Name, value); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// Every command line in the documents is one that the program understands.
func TestDocumentedCommandLines(t *testing.T) {
	t.Parallel()
	typed, mentioned := 0, 0
	for page, text := range pages(t) {
		for _, line := range commandLines(page, text) {
			if line.typed {
				typed++
			} else {
				mentioned++
			}
			if err := checkCommandLine(strings.Fields(line.args), line.typed); err != nil {
				t.Errorf("%s: oddeven %s: %v", line.where, line.args, err)
			}
		}
	}
	require.Greater(t, typed, 8)
	require.Greater(t, mentioned, 40)
}

// Flags that the documents mention by themselves belong to some command.
func TestDocumentedFlags(t *testing.T) {
	t.Parallel()
	for page, text := range pages(t) {
		for _, m := range flagSpan.FindAllStringSubmatch(text, -1) {
			known := slices.ContainsFunc(allCommands(newRoot()), func(cmd *cobra.Command) bool {
				cmd.InitDefaultHelpFlag()
				_, err := setFlags(cmd, strings.Fields(m[1]), false)
				return err == nil
			})
			if !known {
				t.Errorf("%s names the flag %s, which no command has", page, m[1])
			}
		}
	}
}

func TestWrongCommandLinesAreFound(t *testing.T) {
	t.Parallel()
	const text = "Say `oddeven nxt`, `oddeven migrate sideways` or `oddeven next --bogus`, `A=b oddeven next -n many`, `oddeven version now`.\n\n" +
		"    $ oddeven migrate to\n    $ oddeven next -n | head\n    oddeven: no command\n\n" +
		"| `oddeven sequence lst\\|shw NAME` |\n"
	found := commandLines("page", text)
	require.Len(t, found, 9)
	for _, line := range found {
		require.Error(t, checkCommandLine(strings.Fields(line.args), line.typed), "%+v", line)
	}
	require.NoError(t, checkCommandLine(strings.Fields("sequence bump NAME N --config fleet.yaml -v --timeout 5s"), true))
}

// allCommands are a command and everything below it.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, below := range cmd.Commands() {
		all = append(all, allCommands(below)...)
	}
	return all
}

// Every command is run for real by a test, and must succeed there.
func TestEveryCommandIsRunByATest(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	for _, pattern := range []string{"testdata/script/*.txtar", "*_test.go", "*/*_test.go"} {
		paths, err := filepath.Glob("../../integration/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			tests.Write(text)
		}
	}
	ran := 0
	for _, cmd := range allCommands(newRoot()) {
		path := strings.Fields(cmd.CommandPath())[1:]
		if cmd.HasSubCommands() || path[0] == "help" || path[0] == "completion" && path[1] != "bash" {
			continue
		}
		ran++
		inScript := `\noddeven ` + strings.Join(path, " ") + `[ \n]`
		inGo := `(?:runProgram|startProgram|\.run)\(.*"` + strings.Join(path, `", "`) + `"[,)]`
		if !regexp.MustCompile(inScript + "|" + inGo).MatchString(tests.String()) {
			t.Errorf("no test in integration/ runs: %s", cmd.CommandPath())
		}
	}
	require.Greater(t, ran, 20)
}
