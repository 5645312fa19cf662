package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
)

// A call that makes only the command it names makes the one that the whole tree has, and
// every command is made by its name.
func TestOneCommandIsThatOfTheWholeTree(t *testing.T) {
	env := func(args ...string) *console.Env {
		return &console.Env{Args: args, Getenv: func(string) string { return "" }, Now: time.Now}
	}
	whole := newRoot(env())
	if got := len(commands()); got != len(whole.Commands()) {
		t.Errorf("%d commands are made, the tree has %d", got, len(whole.Commands()))
	}
	for _, c := range whole.Commands() {
		alone := rootFor(env(c.Name(), "x")).Commands()
		if len(alone) != 1 || alone[0].Name() != c.Name() {
			t.Fatalf("%s: %d commands are made", c.Name(), len(alone))
		}
		if diff := cmp.Diff(paths(c), paths(alone[0])); diff != "" {
			t.Errorf("%s (-whole +alone):\n%s", c.Name(), diff)
		}
	}
	for _, args := range [][]string{{}, {"help"}, {"--help"}, {"--log-level", "run", "models"}, {"no such"}, {"-v", "run"}, {"__complete", "run"}} {
		if got := len(rootFor(env(args...)).Commands()); got != len(whole.Commands()) {
			t.Errorf("%q: %d commands are made, not all", args, got)
		}
	}
}

// paths lists a command and those below it, each with its usage.
func paths(c *cobra.Command) (out []string) {
	out = append(out, c.CommandPath()+": "+c.Use)
	for _, below := range c.Commands() {
		out = append(out, paths(below)...)
	}
	slices.Sort(out)
	return out
}
