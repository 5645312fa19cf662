package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/trust"
)

// trustFile is where trust decisions are kept: with the credentials, in a place
// that no tool may write.
func trustFile(p config.Paths) string { return filepath.Join(p.Data, "trust.json") }

func newTrust(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Show or change whether this repository may steer lathe",
		Long: `A repository is code from somebody. Until you trust it, its configuration can make
rules stricter but not looser, and nothing that it brings runs: no plugin, tool,
MCP server, language server, formatter, command with a shell line, or provider
address.

Trust shows whether this repository is trusted, which files steer lathe, and what
they ask for in vain. Trust is bound to the content of those files: when one
changes, the repository is untrusted again until you look and trust it anew.

LATHE_TRUST=1 or lathe run --trust trusts it for one process.`,
		Example: "  lathe trust\n  lathe trust add\n  lathe trust remove ~/src/project\n  lathe trust list",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCheckout(cmd.Context(), env, nil, func(c instance.Checkout, o instance.Options) error {
				return trustStatus(cmd.Context(), env, c, o)
			})
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "add [dir]", Short: "Trust a repository as it is now", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return withCheckout(cmd.Context(), env, args, func(c instance.Checkout, o instance.Options) error {
					return trustAdd(cmd.Context(), env, c, o)
				})
			},
		},
		&cobra.Command{
			Use: "remove [dir]", Aliases: []string{"rm"}, Short: "Trust a repository no more", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return trustRemove(cmd.Context(), env, args) },
		},
		&cobra.Command{
			Use: "list", Aliases: []string{"ls"}, Short: "List the repositories that you trusted", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return trustList(env) },
		},
	)
	return cmd
}

// withCheckout finds what a directory belongs to. It opens no store and no model.
func withCheckout(ctx context.Context, env *Env, args []string, fn func(instance.Checkout, instance.Options) error) error {
	paths, _, creds, err := places(env)
	if err != nil {
		return err
	}
	dir := ""
	if len(args) > 0 {
		dir = args[0]
	}
	if dir, err = workDir(env, dir); err != nil {
		return err
	}
	o := instance.Options{
		Paths: paths, Getenv: env.Getenv, Auth: creds, Log: slog.New(slog.DiscardHandler), Now: env.Now, Trust: trust.Open(trustFile(paths)),
	}
	c, err := instance.FindCheckout(ctx, dir, o)
	if err != nil {
		return err
	}
	return fn(c, o)
}

func trustStatus(ctx context.Context, env *Env, c instance.Checkout, o instance.Options) error {
	t := c.Judge(o)
	files, err := c.Scan(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: %s\n", clean(c.Dir), trustWords(t))
	for _, ch := range t.Changed {
		fmt.Fprintf(env.Stdout, "  since you trusted it: %s\n", clean(ch.String()))
	}
	if len(files) == 0 {
		fmt.Fprintln(env.Stdout, "nothing in it steers lathe")
		return nil
	}
	fmt.Fprintf(env.Stdout, "\nfiles that steer lathe:\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(env.Stdout, "  %s\n", clean(path))
	}
	o.Trusted, o.Trust = nil, nil // what would be left out
	conf, _, err := c.LoadConfig(ctx, o)
	if err != nil {
		return err
	}
	head := "left out, since it is not trusted:"
	if t.Given {
		head = "takes effect because it is trusted:"
	}
	left := instance.WithEffect(conf.LeftOut)
	printLeftOut(env, head, left)
	printLeftOut(env, "has no effect, trusted or not, since this build of lathe does not use it:",
		slices.DeleteFunc(slices.Clone(conf.LeftOut), func(l config.LeftOut) bool { return config.HasEffect(l.Path) }))
	return nil
}

func printLeftOut(env *Env, head string, list []config.LeftOut) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", head)
	for _, l := range list {
		fmt.Fprintf(env.Stdout, "  %s (%s): %s\n", clean(l.Path), clean(l.Pos.String()), clean(l.Reason))
	}
}

func trustWords(t instance.Trust) string {
	switch {
	case t.Given:
		return "trusted"
	case t.Problem != "":
		return "not trusted: " + clean(t.Problem)
	case len(t.Changed) > 0:
		return "not trusted any more"
	}
	return "not trusted"
}

func trustAdd(ctx context.Context, env *Env, c instance.Checkout, o instance.Options) error {
	files, err := c.Scan(o)
	if err != nil {
		return err
	}
	if err := config.Ensure(o.Paths.Data); err != nil {
		return err
	}
	d := trust.Decision{Dir: c.Dir, Project: c.Project, Files: files, Time: env.Now().UTC().Truncate(time.Second)}
	if err := o.Trust.Add(ctx, d); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: trusted %s as it is now (%d files)\n", clean(c.Dir), len(files))
	return nil
}

// trustRemove takes a directory that may be gone already.
func trustRemove(ctx context.Context, env *Env, args []string) error {
	paths, _, _, err := places(env)
	if err != nil {
		return err
	}
	store := trust.Open(trustFile(paths))
	var dir string
	err = withCheckout(ctx, env, args, func(c instance.Checkout, _ instance.Options) error {
		dir = c.Dir
		return nil
	})
	if _, missing := errors.AsType[usageError](err); missing && len(args) > 0 {
		if dir = args[0]; !filepath.IsAbs(dir) {
			dir = filepath.Join(env.Dir, dir)
		}
		dir, err = filepath.Clean(dir), nil
	}
	if err != nil {
		return err
	}
	found, err := store.Remove(ctx, dir)
	if err != nil {
		return err
	}
	if !found {
		return usageError{fmt.Errorf("%s was not trusted", clean(dir))}
	}
	fmt.Fprintf(env.Stderr, "lathe: %s is trusted no more\n", clean(dir))
	return nil
}

func trustList(env *Env) error {
	paths, _, _, err := places(env)
	if err != nil {
		return err
	}
	list, err := trust.Open(trustFile(paths)).List()
	if err != nil {
		return err
	}
	for _, d := range list {
		fmt.Fprintf(env.Stdout, "%s  %s  %d files\n", clean(d.Dir), d.Time.Local().Format("2006-01-02 15:04"), len(d.Files))
	}
	if len(list) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: no repository is trusted; trust this one with: lathe trust add")
	}
	return nil
}
