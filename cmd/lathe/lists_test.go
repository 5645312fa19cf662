package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lathe/internal/cli"
)

// Whatever a command lists is JSON for who asks for that, with nothing beside it, where there is
// nothing to list, too. What cannot be listed here says why, and prints nothing.
func TestListsAreJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	listed := 0
	var all func(*cobra.Command)
	all = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			all(sub)
		}
		if cmd.Flags().Lookup("format") == nil || cmd.Name() != "list" && !strings.HasPrefix(cmd.Short, "List ") {
			return
		}
		r := w.run(append(strings.Fields(cmd.CommandPath())[1:], "--format", "json")...)
		switch {
		case r.code != 0 && r.stdout == "" && strings.Contains(r.stderr, "lathe: error: "):
		case r.code != 0 || !json.Valid([]byte(r.stdout)):
			t.Errorf("%s: %+v", cmd.CommandPath(), r)
		default:
			listed++
		}
	}
	all(cli.Tree())
	if listed < 8 {
		t.Errorf("only %d lists could be read", listed)
	}
}
