package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand is cobra's, but what it does not know is a mistake.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		Long:  "Help provides help for any command in the application.\nType oddeven help [path to command] for full details.",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if of, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range of.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return offer(typed, names)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no help for %q: no such command%s", strings.Join(args, " "), didYouMean("", suggestions(of, rest)))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// suggestions are commands like the first word that is none.
func suggestions(of *cobra.Command, rest []string) []string {
	if of == nil || len(rest) == 0 {
		return nil
	}
	return of.SuggestionsFor(rest[0])
}

// strictCompletion makes mistakes around cobra's own commands ours: it prints
// help where a word is wrong, and its errors are not of the command line.
func strictCompletion(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		parent(c)
		for _, shell := range c.Commands() {
			shell.Args = noArgs
		}
	}
}
