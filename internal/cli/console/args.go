package console

import (
	"fmt"

	"github.com/spf13/cobra"

	"lathe/internal/say"
)

// NoArgs refuses arguments.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// ExactArgs requires n arguments; what names them.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("expected %s, got %s", what, say.Plural(len(args), "argument"))
		}
		return nil
	}
}

// AtLeastOne requires an argument; what names it.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("name at least one %s", what)
		}
		return nil
	}
}
