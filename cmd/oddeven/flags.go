package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says in our own words what is wrong with a flag: the library quotes
// what the parser of the value says, which is for programmers.
func flagError(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usagef("%s %q: %s", flagName(bad.GetFlag()), bad.GetValue(), wantedValue(bad))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		what, _ := pflag.UnquoteUsage(bare.GetFlag())
		return usagef("%s needs a value: %s %s", flagName(bare.GetFlag()), "--"+bare.GetFlag().Name, what)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return usagef("%q is no flag: write --name or --name=value, and -- before an argument that begins with a dash", wrong.GetSpecifiedFlag())
	}
	return &usageError{err}
}

// flagName is what a flag is called in messages.
func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + ", --" + f.Name
	}
	return "--" + f.Name
}

// wantedValue says what a flag takes.
func wantedValue(bad *pflag.InvalidValueError) string {
	huge := errors.Is(bad, strconv.ErrRange)
	switch kind := bad.GetFlag().Value.Type(); kind {
	case "int", "int64", "intSlice", "int64Slice":
		switch {
		case huge || hugeNumber(bad.GetValue()):
			return "is too large a number"
		case kind == "intSlice" || kind == "int64Slice":
			return "must be a whole number, or several with commas between them"
		}
		return "must be a whole number"
	case "duration":
		return `must be a time with its unit, like 500ms, 30s, 5m or 1h30m`
	case "bool":
		return "must be true or false, or left out, which is true"
	}
	return bad.Unwrap().Error() // our own
}

// hugeNumber reports whether a text is a number that is too large: the parser of
// lists does not say.
func hugeNumber(text string) bool {
	for item := range strings.SplitSeq(text, ",") {
		if _, err := strconv.ParseInt(strings.TrimSpace(item), 10, 64); errors.Is(err, strconv.ErrRange) {
			return true
		}
	}
	return false
}

// unknownFlag names those like it. A single dash before a digit is rather a
// negative number.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	if group := unknown.GetSpecifiedShortnames(); group != "" {
		if group[0] >= '0' && group[0] <= '9' {
			return usagef("unknown flag %s; write -- before an argument that begins with a dash", shown("-"+group))
		}
		_, size := utf8.DecodeRuneInString(group)
		return usagef("unknown flag %s", shown("-"+group[:size]))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return usagef("unknown flag %s%s", shown("--"+unknown.GetSpecifiedName()), didYouMean("--", like(unknown.GetSpecifiedName(), names)))
}

// shown is a text as it is, or quoted if it has characters that do not show.
func shown(text string) string {
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

// checkFlags refuses an empty value. It is what "$VARIABLE" gives when the
// variable is not set, and would silently count as left out.
func checkFlags(cmd *cobra.Command, _ []string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() != "string" || f.Value.String() != "" || f.Annotations[mayBeEmpty] != nil || err != nil {
			return
		}
		what, _ := pflag.UnquoteUsage(f)
		err = usagef(`--%s "": is empty; give a %s, or leave the flag out`, f.Name, what)
	})
	return err
}

// mayBeEmpty marks a flag whose empty value has a meaning.
const mayBeEmpty = "oddeven_may_be_empty"

// parent makes a command that only has others below it: alone it prints its
// help, and with a word that is none of them an error that names those like it.
func parent(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.SuggestionsMinimumDistance = 2 // letters; cobra's own default is for its own message
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		where := ""
		if cmd.HasParent() {
			where = " under " + cmd.Name()
		}
		return usagef("no command %q%s%s", args[0], where, didYouMean("", cmd.SuggestionsFor(args[0])))
	}
	cmd.AddCommand(children...)
	return cmd
}

// didYouMean ends a message with names, if there are any.
func didYouMean(before string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + before + strings.Join(names, " or "+before) + "?"
}

// like picks the names that a mistyped one may stand for, at most three: few
// letters differ, or it is the beginning.
func like(name string, names []string) []string {
	var near []string
	for _, n := range names {
		begins := len(name) >= 2 && strings.HasPrefix(strings.ToLower(n), strings.ToLower(name))
		if n != name && (begins || distance(strings.ToLower(name), strings.ToLower(n)) <= min(2, utf8.RuneCountInString(n)/2)) {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return distance(name, a) - distance(name, b) })
	return near[:min(len(near), 3)]
}

// distance is how many letters have to be put in, left out or changed to get
// from one text to the other (Levenshtein).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			change := diagonal
			if r != s {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
