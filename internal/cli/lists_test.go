package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// everyCommand calls f for each command of the program.
func everyCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		everyCommand(sub, f)
	}
}

// TestEveryListIsJSONToo holds that whatever a command lists, a program can read.
func TestEveryListIsJSONToo(t *testing.T) {
	everyCommand(Tree(), func(cmd *cobra.Command) {
		lists := cmd.Name() == "list" || strings.HasPrefix(cmd.Short, "List ") || strings.HasPrefix(cmd.Short, "Show ")
		if !lists || cmd.HasSubCommands() && !strings.HasSuffix(cmd.CommandPath(), "permissions") || cmd.Name() == "trust" {
			return
		}
		if cmd.Flags().Lookup("format") == nil {
			t.Errorf("%s has no --format json", cmd.CommandPath())
		}
	})
}
