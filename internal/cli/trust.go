package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/api"
)

func newTrust(env *Env) *cobra.Command {
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
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withFace(cmd.Context(), env, func(f *face, _ string) error { return trustStatus(cmd.Context(), env, f) })
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "add [dir]", Short: "Trust a repository as it is now", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				dir := ""
				if len(args) > 0 {
					dir = args[0]
				}
				return withFaceIn(cmd.Context(), env, dir, func(f *face, _ string) error { return trustAdd(cmd.Context(), env, f) })
			},
		},
		&cobra.Command{
			Use: "remove [dir]", Aliases: []string{"rm"}, Short: "Stop trusting a repository", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return withFace(cmd.Context(), env, func(f *face, dir string) error {
					if len(args) > 0 {
						dir = absolute(env, args[0])
					}
					return trustRemove(cmd.Context(), env, f, dir)
				})
			},
		},
		&cobra.Command{
			Use: "list", Aliases: []string{"ls"}, Short: "List the repositories that you trusted", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return withFace(cmd.Context(), env, func(f *face, _ string) error { return trustList(cmd.Context(), env, f) })
			},
		},
	)
	return cmd
}

func trustStatus(ctx context.Context, env *Env, f *face) error {
	t, err := f.TrustState(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: %s\n", clean(t.Dir), clean(t.State))
	for _, ch := range t.Changed {
		fmt.Fprintf(env.Stdout, "  since you trusted it: %s\n", clean(ch.What))
	}
	if len(t.Files) == 0 {
		fmt.Fprintln(env.Stdout, "nothing in it steers lathe")
		return nil
	}
	fmt.Fprintf(env.Stdout, "\nfiles that steer lathe:\n")
	for _, path := range t.Files {
		fmt.Fprintf(env.Stdout, "  %s\n", clean(path))
	}
	head := "left out, since it is not trusted:"
	if t.Given {
		head = "takes effect because it is trusted:"
	}
	printLeftOut(env, head, t.LeftOut)
	printLeftOut(env, "has no effect, trusted or not, since this build of lathe does not use it:", t.Unused)
	return nil
}

func printLeftOut(env *Env, head string, list []api.LeftOut) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", head)
	for _, l := range list {
		fmt.Fprintf(env.Stdout, "  %s (%s): %s\n", clean(l.Path), clean(l.Where), clean(l.Reason))
	}
}

func trustAdd(ctx context.Context, env *Env, f *face) error {
	t, err := f.TrustState(ctx)
	if err != nil {
		return err
	}
	if err := f.Decide(ctx, api.Decision{Digest: t.Digest, Keep: true}); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: trusted %s as it is now (%d files)\n", clean(t.Dir), len(t.Files))
	return nil
}

// trustRemove accepts a directory that may no longer exist.
func trustRemove(ctx context.Context, env *Env, f *face, dir string) error {
	out, err := f.Distrust(ctx, dir)
	if err != nil {
		return err
	}
	if !out.Found {
		return usageError{fmt.Errorf("%s was not trusted", clean(out.Dir))}
	}
	fmt.Fprintf(env.Stderr, "lathe: %s is trusted no more\n", clean(out.Dir))
	if out.Still != "" {
		fmt.Fprintf(env.Stderr, "lathe: warning: %s\n", clean(out.Still))
	}
	return nil
}

func trustList(ctx context.Context, env *Env, f *face) error {
	list, err := f.Trusted(ctx)
	if err != nil {
		return err
	}
	for _, d := range list {
		fmt.Fprintf(env.Stdout, "%s  %s  %d files\n", clean(d.Dir), time.UnixMilli(d.Time).Format("2006-01-02 15:04"), d.Files)
	}
	if len(list) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: no repository is trusted; trust this one with: lathe trust add")
	}
	return nil
}

// absolute returns the absolute path that a person means.
func absolute(env *Env, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	return filepath.Clean(path)
}
