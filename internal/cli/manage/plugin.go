package manage

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

// NewPlugin is lathe plugin; program makes the whole command line, which lathe plugin test runs.
func NewPlugin(env *console.Env, program func(*console.Env) *cobra.Command) *cobra.Command {
	var dir string
	var trust bool
	cmd := &cobra.Command{
		Use: "plugin", Aliases: []string{"plugins"}, Short: "Manage plugins, custom tools and hooks",
		Long: `Plugins are packages or files in JavaScript or TypeScript that take part in what lathe
does; OpenCode's plugins run unchanged, under bun or node 22. Hooks are programs in
any language. A repository's plugins and hooks run only if it is trusted.`,
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "", "directory whose plugins to use")
	cmd.PersistentFlags().BoolVar(&trust, "trust", false, "use the configuration of this repository in this run")
	with := func(ctx context.Context, do func(*face.Face) error) error {
		dir, err := console.WorkDir(env, dir)
		if err != nil {
			return err
		}
		f, err := face.Connect(ctx, env, face.Target{Dir: dir, Trust: trust})
		if err != nil {
			return err
		}
		if err := do(f); err != nil {
			_ = f.Close()
			return err
		}
		return f.Close()
	}
	show := func(use, short string, do func(context.Context, *console.Env, *face.Face) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: console.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd.Context(), func(f *face.Face) error { return do(cmd.Context(), env, f) })
		}}
	}
	var format console.ListFormat
	list := show("list", "List plugins, tools and hooks, and what they take part in", func(ctx context.Context, env *console.Env, f *face.Face) error {
		return listPlugins(ctx, env, f, format)
	})
	format.Flag(list.Flags())
	list.Aliases = []string{"ls"}
	cmd.AddCommand(list, show("doctor", "Say what runs plugins, and what is wrong with them", pluginDoctor),
		changePlugin(env, with, "add", "Add a package (which is installed) or a file to your configuration"),
		changePlugin(env, with, "remove", "Remove a plugin from your configuration"),
		changePlugin(env, with, "update", "Install the newest version that the configuration allows"),
		switchPlugin(env, with, "on", "Switch a plugin on again"), switchPlugin(env, with, "off", "Switch a plugin off, without taking it out"),
		newPluginHooks(env, with), newPluginTest(env, program))
	return cmd
}

func listPlugins(ctx context.Context, env *console.Env, f *face.Face, format console.ListFormat) error {
	all, err := f.Plugins(ctx)
	if err != nil {
		return err
	}
	if format.JSON {
		return console.PrintList(env, all.Plugins)
	}
	if len(all.Plugins) == 0 {
		fmt.Fprintln(env.Stderr, "there are none; add one with: lathe plugin add PACKAGE")
		return nil
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range all.Plugins {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", console.Clean(console.OneLine(p.Name, 60)), p.Kind, whose(p), console.Clean(does(p)+costs(p, all.Accounts)))
	}
	return w.Flush()
}

// whose says who brought a plugin.
func whose(p api.Plugin) string {
	if p.Repository {
		return "of the repository"
	}
	return "yours"
}

func does(p api.Plugin) string {
	if p.Off {
		return "off; lathe plugin on switches it on"
	}
	if p.Error != "" {
		return "does not work: " + console.OneLine(p.Error, 200)
	}
	var parts []string
	for _, kind := range []struct {
		what  string
		names []string
	}{{"hooks", p.Hooks}, {"tools", p.Tools}, {"logs in to", p.Logins}} {
		if len(kind.names) > 0 {
			parts = append(parts, kind.what+" "+strings.Join(kind.names, ", "))
		}
	}
	if p.Late {
		parts = append(parts, "not ready yet")
	}
	return strings.Join(parts, "; ")
}

// costs says what the hooks of a plugin took lately, and what went wrong last.
func costs(p api.Plugin, accounts []api.PluginAccount) string {
	var sum api.PluginAccount
	for _, a := range accounts {
		if a.Plugin == p.Name {
			sum.Calls, sum.Failed, sum.Millis = sum.Calls+a.Calls, sum.Failed+a.Failed, sum.Millis+a.Millis
			sum.LastError = cmp.Or(a.LastError, sum.LastError)
		}
	}
	if sum.Calls == 0 {
		return ""
	}
	text := fmt.Sprintf("; %s in 30 days, %s", say.Plural(sum.Calls, "call"), console.Millis(sum.Millis))
	if sum.Failed > 0 {
		text += fmt.Sprintf(", %d failed, last: %s", sum.Failed, console.OneLine(sum.LastError, 120))
	}
	return text
}

func pluginDoctor(ctx context.Context, env *console.Env, f *face.Face) error {
	all, err := f.Plugins(ctx)
	if err != nil {
		return err
	}
	if all.Sandbox != "" {
		fmt.Fprintf(env.Stdout, "sandbox  %s\n", console.Clean(all.Sandbox))
	}
	if all.Runtime != "" {
		fmt.Fprintf(env.Stdout, "runtime  %s\n", console.Clean(all.Runtime))
	}
	bad := len(all.Problems)
	for _, text := range all.Problems {
		fmt.Fprintf(env.Stdout, "problem  %s\n", console.Clean(text))
	}
	for _, p := range all.Plugins {
		from := p.From
		if p.File != "" {
			from = p.File
		}
		fmt.Fprintf(env.Stdout, "%s  %s, %s (%s): %s\n", p.Kind, console.Clean(p.Name), whose(p), console.Clean(from), console.Clean(does(p)))
		if p.Error != "" {
			bad++
		}
	}
	foreign, err := f.ForeignHooks(ctx)
	if err != nil {
		return err
	}
	for _, h := range foreign {
		fmt.Fprintf(env.Stdout, "hooks    %s (%s): %s\n", console.Clean(h.File), whoseHooks(h), stateOfHooks(h))
		for _, text := range h.Problems {
			fmt.Fprintf(env.Stdout, "note     %s: %s\n", console.Clean(h.File), console.Clean(text))
		}
	}
	for _, a := range all.Accounts {
		fmt.Fprintf(env.Stdout, "calls    %s %s: %d in 30 days, %s in all, %s the longest, %d failed%s\n", console.Clean(a.Plugin), console.Clean(a.Hook), a.Calls, console.Millis(a.Millis), console.Millis(a.Longest), a.Failed, lastError(a))
	}
	if bad > 0 {
		return lathe.Errorf(lathe.CodeInvalid, "", "wrong with the plugins: %s", say.Plural(bad, "thing"))
	}
	fmt.Fprintln(env.Stdout, "all is well")
	return nil
}

func lastError(a api.PluginAccount) string {
	if a.LastError == "" {
		return ""
	}
	return ", last: " + console.Clean(a.LastError)
}

func changePlugin(env *console.Env, with func(context.Context, func(*face.Face) error) error, do, short string) *cobra.Command {
	var project bool
	use, args := do+" PLUGIN", cobra.ExactArgs(1)
	if do == "update" {
		use, args = "update [PLUGIN]", cobra.MaximumNArgs(1)
	}
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		in := api.PluginChange{Do: do, Project: project}
		if len(args) > 0 {
			in.Spec = args[0]
		}
		if do != "update" && (strings.HasPrefix(in.Spec, "./") || strings.HasPrefix(in.Spec, "../") || filepath.IsAbs(in.Spec)) {
			path, err := filepath.Abs(filepath.Join(env.Dir, in.Spec))
			if filepath.IsAbs(in.Spec) {
				path, err = filepath.Clean(in.Spec), nil
			}
			if err != nil {
				return err
			}
			in.Spec = "file://" + filepath.ToSlash(path)
		}
		return with(cmd.Context(), func(f *face.Face) error {
			done, err := f.ChangePlugin(cmd.Context(), in)
			if err != nil {
				return err
			}
			switch {
			case do == "update" && len(done.Updated) == 0:
				fmt.Fprintln(env.Stdout, "no plugin is a package")
			case do == "update":
				fmt.Fprintf(env.Stdout, "updated %s\n", console.Clean(strings.Join(done.Updated, ", ")))
			default:
				fmt.Fprintf(env.Stdout, "%s %s in %s\n", map[string]string{"add": "added", "remove": "removed"}[do], console.Clean(in.Spec), console.Clean(done.File))
			}
			return nil
		})
	}}
	if do != "update" {
		cmd.Flags().BoolVar(&project, "project", false, "in this directory's configuration instead of your own")
	}
	return cmd
}
