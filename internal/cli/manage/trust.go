package manage

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// NewTrust is lathe trust.
func NewTrust(env *console.Env) *cobra.Command {
	var format console.ListFormat
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Show or change whether this repository may steer lathe",
		Long: `A repository is somebody's code. Until you trust it, its configuration can make rules
stricter but not looser, and nothing it contains is run by lathe itself: no plugin,
tool, MCP server, language server, formatter, command with a shell line, or provider
address.

Trust shows whether this repository is trusted, which files steer lathe, and which of
their settings have no effect without trust. Trust is bound to the content of those
files: when one changes, the repository is untrusted until you look at it and trust it
again.

LATHE_TRUST=1 or lathe run --trust trusts it for one process.`,
		Example: "  lathe trust\n  lathe trust add\n  lathe trust remove ~/src/project\n  lathe trust list",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return trustStatus(cmd.Context(), env, f) })
		},
	}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the repositories that you trusted", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return trustList(cmd.Context(), env, f, format) })
		},
	}
	format.Flag(list.Flags())
	cmd.AddCommand(
		&cobra.Command{
			Use: "add [dir]", Short: "Trust a repository as it is now", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				dir := ""
				if len(args) > 0 {
					dir = args[0]
				}
				return face.WithIn(cmd.Context(), env, dir, func(f *face.Face, _ string) error { return trustAdd(cmd.Context(), env, f) })
			},
		},
		&cobra.Command{
			Use: "remove [dir]", Aliases: []string{"rm"}, Short: "Stop trusting a repository", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return face.With(cmd.Context(), env, func(f *face.Face, dir string) error {
					if len(args) > 0 {
						dir = console.Absolute(env, args[0])
					}
					return trustRemove(cmd.Context(), env, f, dir)
				})
			},
		},
		list,
	)
	return cmd
}

func trustStatus(ctx context.Context, env *console.Env, f *face.Face) error {
	t, err := f.TrustState(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: %s\n", console.Clean(t.Dir), console.Clean(t.State))
	for _, ch := range t.Changed {
		fmt.Fprintf(env.Stdout, "  since you trusted it: %s\n", console.Clean(ch.What))
	}
	if len(t.Files) == 0 {
		fmt.Fprintln(env.Stdout, "nothing in it steers lathe")
		return nil
	}
	fmt.Fprintf(env.Stdout, "\nfiles that steer lathe:\n")
	for _, path := range t.Files {
		fmt.Fprintf(env.Stdout, "  %s\n", console.Clean(path))
	}
	head := "left out, since it is not trusted:"
	if t.Given {
		head = "takes effect because it is trusted:"
	}
	printLeftOut(env, head, t.LeftOut)
	printLeftOut(env, "has no effect, trusted or not, since this build of lathe does not use it:", t.Unused)
	return nil
}

func printLeftOut(env *console.Env, head string, list []api.LeftOut) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", head)
	for _, l := range list {
		fmt.Fprintf(env.Stdout, "  %s (%s): %s\n", console.Clean(l.Path), console.Clean(l.Where), console.Clean(l.Reason))
	}
}

func trustAdd(ctx context.Context, env *console.Env, f *face.Face) error {
	t, err := f.TrustState(ctx)
	if err != nil {
		return err
	}
	if err := f.Decide(ctx, api.Decision{Digest: t.Digest, Keep: true}); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: trusted %s as it is now (%s)\n", console.Clean(t.Dir), say.Plural(len(t.Files), "file"))
	return nil
}

// trustRemove accepts a directory that may no longer exist.
func trustRemove(ctx context.Context, env *console.Env, f *face.Face, dir string) error {
	out, err := f.Distrust(ctx, dir)
	if err != nil {
		return err
	}
	if !out.Found {
		return console.Usagef("%s was not trusted", console.Clean(out.Dir))
	}
	fmt.Fprintf(env.Stderr, "lathe: %s is trusted no more\n", console.Clean(out.Dir))
	if out.Still != "" {
		fmt.Fprintf(env.Stderr, "lathe: warning: %s\n", console.Clean(out.Still))
	}
	return nil
}

func trustList(ctx context.Context, env *console.Env, f *face.Face, format console.ListFormat) error {
	list, err := f.Trusted(ctx)
	if err != nil {
		return err
	}
	if format.JSON {
		return console.PrintList(env, list)
	}
	for _, d := range list {
		fmt.Fprintf(env.Stdout, "%s  %s  %s\n", console.Clean(d.Dir), time.UnixMilli(d.Time).Format("2006-01-02 15:04"), say.Plural(d.Files, "file"))
	}
	if len(list) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: no repository is trusted; trust this one with: lathe trust add")
	}
	return nil
}
