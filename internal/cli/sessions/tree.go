package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

func newSessionTree(env *console.Env) *cobra.Command {
	var format string
	cmd := onLastUsed(env, &cobra.Command{
		Use: "tree [id]", Short: "Show a session and the subagents that work for it",
		Long: "Tree shows a session (the one used last here, unless its id is given) with the subagents below it: what each\n" +
			"does, what it has cost, and the branch of those that have a worktree of their own. To stop them all, stop the\n" +
			"session (esc in the screen, ctrl-C in lathe run); one alone is stopped in its own view in the screen.",
	}, func(ctx context.Context, f *face.Face, sess lathe.Session) error {
		if format != "table" && format != "json" {
			return console.Usagef("--format %q is neither table nor json", format)
		}
		tree, err := f.Tree(ctx, sess.ID)
		if err != nil {
			return err
		}
		if format == "json" {
			return console.PrintJSON(env, tree)
		}
		printTree(env, tree, 0)
		return nil
	})
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	return cmd
}

func printTree(env *console.Env, h api.Helper, depth int) {
	notes := []string{h.State}
	if h.Background {
		notes = append(notes, "background")
	}
	if h.Branch != "" {
		notes = append(notes, "branch "+console.Clean(h.Branch))
	}
	took := time.UnixMilli(h.Updated).Sub(time.UnixMilli(h.Created)).Round(time.Second)
	fmt.Fprintf(env.Stdout, "%s%s  %s  %s, %s, %s  (%s)\n", strings.Repeat("  ", depth), h.ID, console.OneLine(h.Title, 60), h.Cost, say.Plural(h.Tokens, "token"), took, strings.Join(notes, ", "))
	for _, below := range h.Helpers {
		printTree(env, below, depth+1)
	}
}
