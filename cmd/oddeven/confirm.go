package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// addYes adds the flag that answers the question of a command.
func addYes(cmd *cobra.Command, yes *bool, usage string) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, usage)
}

// confirm asks before something that can't be undone. It is nil if the answer
// is yes, or --yes was given. Otherwise the error begins with what was not
// done. Only a person at a terminal is asked: what a script happens to have on
// standard input is no answer, and one that waits for a person hangs.
func (a *app) confirm(ctx context.Context, yes bool, question, otherwise string) error {
	if yes {
		return nil
	}
	if !a.answers {
		return fmt.Errorf("%s: it needs the answer to a question, and standard input is no terminal. "+
			"Run it in a terminal, or give --yes if your answer is yes. The question is: %s", otherwise, question)
	}
	fmt.Fprintf(a.err, "%s\nType yes to go on: ", wrap(question, reportWidth, "", ""))
	line, err := bufio.NewReader(&interruptible{ctx: ctx, in: a.in}).ReadString('\n')
	if err != nil {
		fmt.Fprintln(a.err) // nobody has ended the line
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", otherwise, ctx.Err())
	}
	if strings.TrimSpace(line) != "yes" {
		return fmt.Errorf("%s: the answer was not yes", otherwise)
	}
	return nil
}
