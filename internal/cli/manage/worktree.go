package manage

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// NewWorktree is lathe worktree.
func NewWorktree(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "worktree", Short: "List, merge and remove the worktrees that lathe works in",
		Long: `Worktree works with the git worktrees that lathe made for this repository: those of
lathe run --worktree and --models, and those of subagents. Each has a branch lathe/NAME.`,
	}
	cmd.AddCommand(newWorktreeList(env), newWorktreeMerge(env), newWorktreeKeep(env), newWorktreeRemove(env))
	return cmd
}

func newWorktreeList(env *console.Env) *cobra.Command {
	var format console.ListFormat
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the worktrees and what was changed in each", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				all, err := f.Worktrees(cmd.Context())
				if err != nil {
					return err
				}
				if format.JSON {
					return console.PrintList(env, all)
				}
				printWorktrees(env, all)
				return nil
			})
		},
	}
	format.Flag(cmd.Flags())
	return cmd
}

func printWorktrees(env *console.Env, all []api.Worktree) {
	if len(all) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: there is no worktree here that lathe made; make one with: lathe run --worktree")
		return
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, t := range all {
		added, removed := t.Total()
		fmt.Fprintf(w, "%s\t%s\t+%d -%d\t%s\n", console.Clean(t.Name), say.Plural(len(t.Changes), "file"), added, removed, console.Clean(t.Directory))
	}
	_ = w.Flush()
}

func newWorktreeMerge(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "merge NAME", Short: "Take what was done in a worktree into the files here",
		Long: `Merge commits what is in a worktree on its branch and takes it into the files of this
directory, uncommitted. Your branch does not move, and changes of yours that are not committed
stay. A file that both sides changed in the same lines is left as it is here and shown with both
sides; the other one is on the branch. The merge is recorded in a session: lathe session revert
takes it back.`,
		Args: console.ExactArgs(1, "the name of one worktree"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				_, err := mergeWorktree(cmd.Context(), env, f, args[0])
				return err
			})
		},
	}
}

// mergeWorktree merges and says what became of it. Conflicts make the command fail.
func mergeWorktree(ctx context.Context, env *console.Env, f *face.Face, name string) (api.MergedWorktree, error) {
	out, err := f.MergeWorktree(ctx, name)
	if err != nil {
		return out, err
	}
	for _, file := range out.Changed {
		fmt.Fprintln(env.Stdout, console.Clean(file))
	}
	for _, c := range out.Conflicts {
		fmt.Fprintf(env.Stderr, "lathe: conflict in %s: %s\n", console.Clean(c.File), console.Clean(c.Why))
		if c.Text != "" {
			fmt.Fprintln(env.Stderr, console.CleanLines(strings.TrimRight(c.Text, "\n")))
		}
	}
	switch {
	case len(out.Conflicts) > 0:
		return out, console.ExitError{Code: console.ExitFailed, Err: lathe.Errorf(lathe.CodeInvalid, "they are unchanged here, and as they were changed on branch "+out.Worktree.Branch, "%s could not be merged", say.Plural(len(out.Conflicts), "file"))}
	case len(out.Changed) == 0:
		fmt.Fprintln(env.Stderr, "lathe: nothing was left to merge")
	default:
		fmt.Fprintf(env.Stderr, "lathe: merged %s; take it back with: lathe session revert %s\n", out.Worktree.Branch, out.SessionID)
	}
	return out, nil
}

func newWorktreeRemove(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME …", Aliases: []string{"rm"}, Short: "Remove worktrees; what would be lost is kept on a branch", Args: console.AtLeastOne("name of a worktree"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				for _, name := range args {
					if err := f.DropWorktree(cmd.Context(), env, name); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// compared are the worktrees of one lathe run --models.
var compared = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(try-.*-)[0-9]+$`) })

func newWorktreeKeep(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "keep NAME", Short: "Merge one of the worktrees of lathe run --models, and remove the others",
		Long: `Keep takes what one model did into the files here, as lathe worktree merge does, and then
removes the worktrees that were made with it. What was in them is kept on branches. Where something
conflicts, nothing is removed.`,
		Args: console.ExactArgs(1, "the name of one worktree"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := compared().FindStringSubmatch(args[0])
			if m == nil {
				return console.Usagef("%q is no worktree of lathe run --models; take it with: lathe worktree merge", args[0])
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				if _, err := mergeWorktree(cmd.Context(), env, f, args[0]); err != nil {
					return err
				}
				all, err := f.Worktrees(cmd.Context())
				if err != nil {
					return err
				}
				for _, w := range all {
					if other := compared().FindStringSubmatch(w.Name); other != nil && other[1] == m[1] {
						if err := f.DropWorktree(cmd.Context(), env, w.Name); err != nil {
							return err
						}
					}
				}
				return nil
			})
		},
	}
}
