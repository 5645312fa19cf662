package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/typo"
)

// typeUsage turns every complaint about arguments, including cobra's own, into
// a usage error that names the command whose help explains them.
func typeUsage(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, runGroup
	} else {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageOf(c, err)
			}
			return nil
		}
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error {
			err := run(c, args)
			if _, ok := errors.AsType[console.UsageError](err); ok {
				return usageOf(c, err)
			}
			return err
		}
	}
	for _, sub := range cmd.Commands() {
		typeUsage(sub)
	}
}

// runGroup runs a command that only holds others: without an argument it shows
// its help, and any argument is an unknown command.
func runGroup(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

// unknownCommand says that a command is unknown, and which one may have been meant.
func unknownCommand(cmd *cobra.Command, name string) error {
	hint := "list them with: " + cmd.CommandPath() + " --help"
	if near := nearestCommand(cmd, name); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return lathe.Errorf(lathe.CodeInvalid, hint, "unknown command %q for %q", name, cmd.CommandPath())
}

// nearestCommand returns the command below another one that a mistyped name most likely
// means, or "".
func nearestCommand(cmd *cobra.Command, name string) string {
	names := map[string]string{}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() && sub.Name() != "help" {
			continue
		}
		for _, n := range append([]string{sub.Name()}, sub.Aliases...) {
			names[n] = sub.Name()
		}
		for _, n := range sub.SuggestFor {
			names[n] = sub.Name()
		}
	}
	return names[typo.Command(name, slices.Collect(maps.Keys(names)))]
}

// usageOf adds to a complaint where the usage is explained. For an unknown flag
// it suggests the one that it resembles.
func usageOf(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
		return err
	}
	hint := "see: " + cmd.CommandPath() + " --help"
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		if near := nearestFlag(cmd, name); near != "" {
			hint = fmt.Sprintf("did you mean --%s? %s", near, hint)
		}
	}
	return lathe.Errorf(lathe.CodeInvalid, hint, "%v", err)
}

// nearestFlag returns the flag whose name is at most two changes away, or "".
func nearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return typo.Nearest(name, names)
}
