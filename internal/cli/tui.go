package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/jsonc"
	"lathe/internal/sqlite"
	"lathe/internal/tui"
	"lathe/internal/tui/theme"
	"lathe/internal/workspace"
)

// tuiOptions are the settings of `lathe tui`, and of `lathe` alone.
type tuiOptions struct {
	dir     string
	model   string
	agent   string
	cont    bool
	session string
	prompt  string
	trust   bool
	inline  bool
	reader  bool // a screen reader
}

func newTUI(env *Env) *cobra.Command {
	var o tuiOptions
	cmd := &cobra.Command{
		Use:   "tui [directory]",
		Short: "Open the screen (as lathe does without arguments)",
		Long: `Tui opens the screen, in which you write requests, watch the work and answer
what lathe asks. Without arguments and on a terminal, lathe does the same.

In it, f1 shows all keys and commands. Environment: NO_COLOR turns colours off,
LATHE_ASCII=1 does without unicode, LATHE_SCREEN_READER=1 means plain lines,
EDITOR or VISUAL is your own editor.`,
		Example: "  lathe\n  lathe tui ../other\n  lathe tui -c\n  lathe tui -m anthropic/claude-sonnet-4-5 --prompt \"explain main.go\"",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.dir = args[0]
			}
			return runTUI(cmd.Context(), env, o)
		},
	}
	addTUIFlags(cmd, &o)
	return cmd
}

func addTUIFlags(cmd *cobra.Command, o *tuiOptions) {
	f := cmd.Flags()
	f.StringVarP(&o.model, "model", "m", "", "model as provider/model")
	f.StringVar(&o.agent, "agent", "", "agent to use")
	f.BoolVarP(&o.cont, "continue", "c", false, "continue the newest session of this directory")
	f.StringVarP(&o.session, "session", "s", "", "open the session with this id")
	f.StringVar(&o.prompt, "prompt", "", "send this at once")
	f.BoolVar(&o.inline, "inline", false, "leave what is done in the terminal's scrollback, instead of the whole screen")
	f.BoolVar(&o.reader, "screen-reader", false, "plain lines without drawing, for screen readers")
	f.BoolVar(&o.trust, "trust", false, "trust this repository's configuration in this run")
}

// interactive reports whether a screen can be shown.
func interactive(env *Env) bool {
	return env.StdinTTY && env.StdoutTTY
}

func runTUI(ctx context.Context, env *Env, o tuiOptions) error {
	if !interactive(env) {
		return lathe.Errorf(lathe.CodeInvalid, "use lathe run for scripts and pipes", "the screen needs a terminal for input and output")
	}
	if o.cont && o.session != "" {
		return usageError{errors.New("--continue and --session exclude each other")}
	}
	dir, err := workDir(env, o.dir)
	if err != nil {
		return err
	}
	f, err := connect(ctx, env, target{dir: dir, trust: o.trust})
	if err != nil {
		return err
	}
	err = showTUI(ctx, env, f, o, dir)
	return errors.Join(err, f.Close())
}

func showTUI(ctx context.Context, env *Env, f *face, o tuiOptions, dir string) error {
	app := f.app
	screen, err := tuiScreen(ctx, env, app, o, dir)
	if err != nil {
		return err
	}
	if e, ok := screen.Engine.(*tuiEngine); ok {
		e.tuiAbilities = tuiAbilities{f.Client}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts, err := tuiSession(ctx, app, o, dir, screen)
	if err != nil {
		return err
	}
	inst, err := app.svc.Instance(ctx, dir)
	if err != nil {
		return err
	}
	opts.Desk = screenDesk(env, app.paths, dir, inst.Config)
	id, err := showScreen(ctx, env, kindOfScreen(env, o, inst.Config), opts)
	if err != nil {
		return err
	}
	if id != "" {
		_, err = env.Stderr.Write([]byte("continue with: lathe -s " + id + "\n"))
	}
	return err
}

// tuiSession adds what to open to the options.
func tuiSession(ctx context.Context, app *app, o tuiOptions, dir string, opts tui.Options) (tui.Options, error) {
	var err error
	opts.Agent, opts.Prompt = o.agent, o.prompt
	if o.model != "" {
		if opts.Model, err = app.parseModel(ctx, dir, o.model); err != nil {
			return opts, err
		}
	}
	switch {
	case o.session != "":
		s, err := app.svc.Get(ctx, lathe.SessionID(o.session))
		if err != nil {
			return opts, err
		}
		opts.Session = s.ID
	case o.cont:
		list, err := app.svc.List(ctx, sqlite.SessionFilter{Directory: dir, Roots: true, Limit: 1})
		if err != nil {
			return opts, err
		}
		if len(list) > 0 {
			opts.Session = list[0].ID
		}
	}
	return opts, nil
}

// tuiScreen reads how the screen should look from the configuration.
func tuiScreen(ctx context.Context, env *Env, app *app, o tuiOptions, dir string) (tui.Options, error) {
	inst, err := app.svc.Instance(ctx, dir)
	if err != nil {
		return tui.Options{}, err
	}
	opts := tui.Options{
		Engine: newTUIEngine(app, dir), Now: env.Now, Getenv: env.Getenv, Dir: shortDir(app.paths.Home, dir),
		Branch: func() string { return branchOf(inst.Root) },
		Theme:  inst.Config.Theme, Keys: keybinds(inst.Config.Keybinds), Themes: userThemes(app.paths, inst.Root),
		ASCII: asciiTerminal(env.Getenv), Mouse: true,
		Editor: strings.Fields(firstOf(env.Getenv("VISUAL"), env.Getenv("EDITOR"))),
	}
	opts.Prefs = loadPrefs(app.paths.State)
	opts.SavePrefs = func(p tui.Prefs) error { return savePrefs(app.paths.State, p) }
	opts.WriteFile = func(name string, data []byte) (string, error) { return writeNumbered(dir, name, data) }
	opts.LastModel = o.model == "" && inst.Config.Model == ""
	if t := inst.Config.TUI; t != nil {
		if on, ok := t.Get("mouse").Any().(bool); ok {
			opts.Mouse = on
		}
		if ms, ok := t.Get("leader_timeout").Any().(float64); ok && ms > 0 {
			opts.Leader = time.Duration(ms) * time.Millisecond
		}
	}
	for _, w := range inst.Config.Warnings {
		opts.Notices = append(opts.Notices, w.String())
	}
	if notice := inst.Notice(); notice != "" {
		opts.Notices = append(opts.Notices, notice)
	}
	return opts, nil
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func shortDir(home, dir string) string {
	if rel, err := filepath.Rel(home, dir); err == nil && home != "" && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return dir
}

// keybinds returns the configured keys as text: what is false or empty is "none",
// a list is its alternatives.
func keybinds(v *jsonc.Value) map[string]string {
	if v == nil {
		return nil
	}
	out := map[string]string{}
	for name, val := range v.Map() {
		switch k := val.(type) {
		case string:
			out[name] = firstOf(k, "none")
		case bool:
			if !k {
				out[name] = "none"
			}
		case []any:
			var alts []string
			for _, x := range k {
				if s, ok := x.(string); ok {
					alts = append(alts, s)
				}
			}
			out[name] = strings.Join(alts, ",")
		case map[string]any:
			if s, ok := k["key"].(string); ok {
				out[name] = s
			}
		}
	}
	return out
}

// userThemes reads the themes that the person wrote. Those of a repository are
// data too: they only choose colours. A file that is wrong is left out.
func userThemes(paths config.Paths, root workspace.Root) []*theme.Theme {
	dirs := []string{filepath.Join(paths.OpenCodeConfig, "themes"), filepath.Join(paths.Config, "themes")}
	for _, base := range []string{root.TopLevel, root.Dir} {
		if base != "" {
			dirs = append(dirs, filepath.Join(base, ".opencode", "themes"), filepath.Join(base, ".lathe", "themes"))
		}
	}
	var out []*theme.Theme
	for _, dir := range dirs {
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		for _, f := range files {
			data, err := workspace.ReadFile(f, 256<<10)
			if err != nil {
				continue
			}
			if t, err := theme.Parse(strings.TrimSuffix(filepath.Base(f), ".json"), data); err == nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// branchOf reads the branch that is checked out, or the commit's beginning.
func branchOf(root workspace.Root) string {
	if root.VCS == "" {
		return ""
	}
	git := filepath.Join(root.TopLevel, ".git")
	if data, err := workspace.ReadFile(git, 4096); err == nil { // a worktree's link
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: "); ok {
			git = absIn(root.TopLevel, dir)
		}
	}
	data, err := workspace.ReadFile(filepath.Join(git, "HEAD"), 4096)
	if err != nil {
		return ""
	}
	head := strings.TrimSpace(string(data))
	if ref, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return ref
	}
	return head[:min(len(head), 8)]
}
