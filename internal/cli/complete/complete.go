// Package complete tells shells what may follow on a command line: models, agents,
// sessions, commands and the like, which only the engine knows. Each is asked for when
// somebody presses tab where it fits, and for a short time only; what cannot be told is
// left out without a word, since nobody asked for an error.
package complete

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/internal/api"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/job"
	"lathe/internal/lsp"
	"lathe/internal/printable"
)

// patience bounds how long a person who pressed tab waits.
const patience = 3 * time.Second

// maxAbout bounds the description of a completion, in characters.
const maxAbout = 60

// Add adds completions to the commands below root.
func Add(root *cobra.Command, env *console.Env) {
	c := completer{env}
	c.command(root)
}

type completer struct{ env *console.Env }

// source lists what may be typed, as a completion or a completion, a tab and what it is.
type source func(ctx context.Context, f *face.Face) ([]string, error)

// words are the values of flags that take one of a few. The help of a flag says which of
// them it takes.
var words = map[string][]string{
	"format": {"table", "text", "json", "markdown", "html", "patch", "stat", "default"}, "permission": {"ask", "allow", "deny"},
	"on-refusal": {"continue", "fail", "stop"}, "log-level": {"DEBUG", "INFO", "WARN", "ERROR"}, "mode": {"all", "primary", "subagent"},
}

func (c completer) command(cmd *cobra.Command) {
	flags := func(f *pflag.Flag) {
		if list := words[f.Name]; list != nil {
			c.flag(cmd, f, fixed(mentioned(list, f.Usage)))
			return
		}
		switch f.Name {
		case "model":
			c.flag(cmd, f, c.asking(models))
		case "agent":
			c.flag(cmd, f, c.asking(agents))
		case "session":
			c.flag(cmd, f, c.asking(sessions))
		case "command":
			c.flag(cmd, f, c.asking(commands))
		case "dir", "path", "project":
			if f.Value.Type() != "bool" {
				_ = cmd.MarkFlagDirname(f.Name)
			}
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(flags)
	cmd.PersistentFlags().VisitAll(flags)
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = c.arguments(cmd)
	}
	for _, sub := range cmd.Commands() {
		c.command(sub)
	}
}

func (c completer) flag(cmd *cobra.Command, f *pflag.Flag, list cobra.CompletionFunc) {
	if _, have := cmd.GetFlagCompletionFunc(f.Name); !have {
		_ = cmd.RegisterFlagCompletionFunc(f.Name, list)
	}
}

// mentioned returns the words that a text has.
func mentioned(words []string, text string) []string {
	has := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,:;()", r) })
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !slices.Contains(has, w) })
}

func fixed(list []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// arguments returns what completes the arguments of a command; nil leaves it to the shell,
// which knows files.
func (c completer) arguments(cmd *cobra.Command) cobra.CompletionFunc {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	switch path {
	case "export", "share", "unshare", "context", "debug replay", "session show", "session delete", "session rename", "session fork", "session archive",
		"session unlock", "session revert", "session unrevert", "session diff", "session tree":
		return c.first(path != "session delete", c.asking(sessions))
	case "session move":
		return c.first(true, c.asking(sessions))
	case "models", "auth login":
		return c.first(true, c.asking(providers))
	case "auth logout":
		return c.first(true, c.asking(stored))
	case "mcp tools", "mcp debug", "mcp remove", "mcp logout", "mcp auth":
		return c.first(true, c.asking(servers))
	case "worktree merge", "worktree remove", "worktree keep":
		return c.first(path != "worktree remove", c.asking(worktrees))
	case "plugin remove", "plugin update":
		return c.first(true, c.asking(pluginsBy(func(p api.Plugin) string { return p.Spec })))
	case "plugin on", "plugin off":
		return c.first(true, c.asking(pluginsBy(func(p api.Plugin) string { return p.Name })))
	case "job logs", "job stop":
		return c.first(true, c.jobs)
	case "lsp install":
		return languages
	}
	return nil
}

// first completes one argument, or each; for those after it the shell offers files.
func (c completer) first(one bool, list cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, part string) ([]string, cobra.ShellCompDirective) {
		if one && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return list(cmd, args, part)
	}
}

// asking completes by what the engine of the command's directory knows.
func (c completer) asking(from source) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, part string) (list []string, d cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		dir := ""
		if f := cmd.Flag("dir"); f != nil {
			dir = f.Value.String()
		}
		_ = face.WithIn(ctx, c.env, dir, func(f *face.Face, _ string) (err error) {
			list, err = from(ctx, f)
			return err
		})
		list = slices.DeleteFunc(list, func(s string) bool { return !strings.HasPrefix(s, part) })
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// entry is a completion and what it is.
func entry(name, about string) string {
	name = printable.Line(name)
	if about = printable.Shorten(printable.Line(about), maxAbout); about == "" {
		return name
	}
	return name + "\t" + about
}

func models(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.Catalog(ctx, api.ModelFilter{})
	var out []string
	for _, m := range list.Models {
		out = append(out, entry(m.Ref, ""))
	}
	return out, err
}

func agents(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.RuledAgents(ctx)
	var out []string
	for _, a := range list {
		if !a.Hidden {
			out = append(out, entry(a.Name, a.Description))
		}
	}
	return out, err
}

func sessions(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.List(ctx, api.SessionFilter{Limit: 50})
	var out []string
	for _, s := range list {
		out = append(out, entry(string(s.ID), s.Updated.Local().Format("01-02 15:04 ")+s.Title))
	}
	return out, err
}

func commands(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.NamedCommands(ctx)
	var out []string
	for _, c := range list {
		out = append(out, entry(c.Name, c.Description))
	}
	return out, err
}

func providers(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.Providers(ctx)
	var out []string
	for _, p := range list {
		out = append(out, entry(p.ID, p.Name))
	}
	return out, err
}

func stored(ctx context.Context, f *face.Face) ([]string, error) {
	have, err := f.Credentials(ctx)
	var out []string
	for _, c := range have.Stored {
		out = append(out, entry(c.Provider, c.Kind))
	}
	return out, err
}

// servers does not start any of them.
func servers(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.Servers(ctx, false)
	var out []string
	for _, s := range list {
		out = append(out, entry(s.Name, s.Where))
	}
	return out, err
}

func worktrees(ctx context.Context, f *face.Face) ([]string, error) {
	list, err := f.Worktrees(ctx)
	var out []string
	for _, w := range list {
		out = append(out, entry(w.Name, w.Branch))
	}
	return out, err
}

// pluginsBy lists plugins by what names them; none of them is started.
func pluginsBy(name func(api.Plugin) string) source {
	return func(ctx context.Context, f *face.Face) ([]string, error) {
		all, err := f.Plugins(ctx)
		var out []string
		for _, p := range all.Plugins {
			if p.Kind == "plugin" {
				out = append(out, entry(name(p), p.From))
			}
		}
		return out, err
	}
}

// jobs completes by what the server has that the command's flags name, else by the one that
// runs here, and by the jobs that are kept on this machine.
func (c completer) jobs(cmd *cobra.Command, _ []string, part string) (out []string, d cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), patience)
	defer cancel()
	if paths, _, _, err := app.Places(c.env); err == nil {
		_, _ = app.Keepers(c.env, paths).List(func(k *job.Kept) bool {
			out = append(out, entry(k.ID, k.Command))
			return false // one that has ended is still to be shown by lathe job list
		})
	}
	_ = face.Attached(ctx, c.env, cmd.Flag("attach").Value.String(), cmd.Flag("password-file").Value.String(), func(f *face.Face) error {
		list, err := f.Jobs(ctx, api.JobFilter{All: true})
		for _, j := range list {
			out = append(out, entry(j.ID, j.State+": "+j.Command))
		}
		return err
	})
	return slices.DeleteFunc(out, func(s string) bool { return !strings.HasPrefix(s, part) }), cobra.ShellCompDirectiveNoFileComp
}

func languages(*cobra.Command, []string, string) (out []string, d cobra.ShellCompDirective) {
	for _, s := range lsp.BuiltIn() {
		out = append(out, entry(s.ID, strings.Join(s.Extensions(), " ")))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
