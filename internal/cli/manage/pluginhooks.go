package manage

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// withFaceOf calls a function with the engine of a directory open.
type withFaceOf func(ctx context.Context, do func(*face.Face) error) error

// newPluginHooks is the command about hooks in the settings of Claude Code.
func newPluginHooks(env *console.Env, with withFaceOf) *cobra.Command {
	var format console.ListFormat
	cmd := &cobra.Command{
		Use: "hooks", Short: "Hooks in Claude Code's settings: show them, and say whether they run", Args: console.NoArgs,
		Long: `Hooks in ~/.claude/settings.json, and in .claude/settings.json and .claude/settings.local.json
of a repository that is trusted, run in lathe once you have agreed to them. When they
change you are asked again.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd.Context(), func(f *face.Face) error { return showForeignHooks(cmd.Context(), env, f, format) })
		},
	}
	format.Flag(cmd.Flags())
	decide := func(use, short string, run bool) *cobra.Command {
		return &cobra.Command{Use: use + " [FILE]", Short: short, Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd.Context(), func(f *face.Face) error { return decideForeignHooks(cmd.Context(), env, f, args, run) })
		}}
	}
	cmd.AddCommand(decide("allow", "Run the hooks of a file, or of all files, as they are now", true),
		decide("refuse", "Do not run them, and do not ask again while they are as they are", false))
	return cmd
}

func showForeignHooks(ctx context.Context, env *console.Env, f *face.Face, format console.ListFormat) error {
	all, err := f.ForeignHooks(ctx)
	if err != nil {
		return err
	}
	if format.JSON {
		return console.PrintList(env, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(env.Stderr, "there are no hooks in Claude Code's settings")
	}
	for _, one := range all {
		fmt.Fprintf(env.Stdout, "%s (%s): %s\n", console.Clean(one.File), whoseHooks(one), stateOfHooks(one))
		for _, h := range one.Hooks {
			fmt.Fprintf(env.Stdout, "  %s\t%s\t%s\n", console.Clean(h.Event), console.Clean(h.Matcher), console.Clean(h.Command))
		}
		for _, p := range one.Problems {
			fmt.Fprintf(env.Stdout, "  problem: %s\n", console.Clean(p))
		}
	}
	return nil
}

func whoseHooks(h api.ForeignHooks) string { return whose(api.Plugin{Repository: h.Repository}) }

// stateOfHooks says whether hooks run, and what to do if not.
func stateOfHooks(h api.ForeignHooks) string {
	switch h.State {
	case api.HooksRun:
		return "they run"
	case api.HooksRefused:
		return "they do not run, as you said; to run them: lathe plugin hooks allow"
	case api.HooksUntrusted:
		return "they do not run: the repository is not trusted (lathe trust)"
	case api.HooksUnusable:
		return "none can be used"
	}
	return "they do not run until you agree: lathe plugin hooks allow"
}

func decideForeignHooks(ctx context.Context, env *console.Env, f *face.Face, files []string, run bool) error {
	all, err := f.ForeignHooks(ctx)
	if err != nil {
		return err
	}
	done := false
	for _, one := range all {
		if len(files) > 0 && !slices.Contains(files, one.File) || one.State == api.HooksUnusable || len(files) == 0 && one.State == api.HooksUntrusted {
			continue
		}
		if err := f.DecideHooks(ctx, api.HooksDecision{File: one.File, Digest: one.Digest, Run: run}); err != nil {
			return err
		}
		done = true
		said := "do not run"
		if run {
			said = "run from now on, as they are"
		}
		fmt.Fprintf(env.Stdout, "the hooks of %s %s (%d)\n", console.Clean(one.File), said, len(one.Hooks))
	}
	if !done {
		return lathe.Errorf(lathe.CodeNotFound, "see what there is with: lathe plugin hooks", "there are no hooks to decide about")
	}
	return nil
}

// switchPlugin is the command that switches a plugin on, or off.
func switchPlugin(env *console.Env, with withFaceOf, do, short string) *cobra.Command {
	return &cobra.Command{Use: do + " PLUGIN", Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		return with(cmd.Context(), func(f *face.Face) error {
			if _, err := f.ChangePlugin(cmd.Context(), api.PluginChange{Do: do, Spec: args[0]}); err != nil {
				return err
			}
			fmt.Fprintf(env.Stdout, "%s is %s\n", console.Clean(args[0]), do)
			return nil
		})
	}}
}
