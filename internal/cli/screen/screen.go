// Package screen is lathe without a command and lathe attach: it connects the screen of
// package tui to an engine. kind.go chooses which screen a terminal gets, and abilities.go
// and engine.go are the engine as the screen sees it.
package screen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/client"
	"lathe/internal/config"
	"lathe/internal/jsonc"
	"lathe/internal/tui"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/theme"
	"lathe/internal/tui/worktrees"
	"lathe/internal/workspace"
)

// Options are the settings of `lathe tui`, and of `lathe` alone.
type Options struct {
	Dir     string
	Model   string
	Agent   string
	Cont    bool
	Session string
	Prompt  string
	Trust   bool
	inline  bool
	reader  bool // the screen for a screen reader
	review  bool // open the changes of the session

	attach   string // address of a server, "auto" for one that runs here; empty: none
	password string
}

// New is lathe tui.
func New(env *console.Env) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "tui [directory]",
		Short: "Open the screen (as lathe does without arguments)",
		Long: `Tui opens the screen, in which you write requests, watch the work and answer
what lathe asks. Without arguments and on a terminal, lathe does the same.

In it, f1 shows all keys and commands. Environment: NO_COLOR turns colours off,
LATHE_ASCII=1 avoids Unicode, LATHE_ACCESSIBLE=1 prints plain lines, EDITOR or
VISUAL names your editor.`,
		Example: "  lathe\n  lathe tui ../other\n  lathe tui -c\n  lathe tui -m anthropic/claude-sonnet-4-5 --prompt \"explain main.go\"",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Dir = args[0]
			}
			return Run(cmd.Context(), env, o)
		},
	}
	AddFlags(cmd, &o)
	return cmd
}

// AddFlags adds the flags of the screen.
func AddFlags(cmd *cobra.Command, o *Options) {
	f := cmd.Flags()
	f.StringVarP(&o.Model, "model", "m", "", "model as provider/model")
	f.StringVar(&o.Agent, "agent", "", "agent to use")
	f.BoolVarP(&o.Cont, "continue", "c", false, "continue the last session used in this directory")
	f.StringVarP(&o.Session, "session", "s", "", "open the session with this id")
	f.StringVar(&o.Prompt, "prompt", "", "send this at once")
	f.BoolVar(&o.inline, "inline", false, "keep finished output in the terminal's scrollback instead of using the whole screen")
	f.BoolVar(&o.reader, "accessible", false, "plain lines without drawing and questions by number, for screen readers")
	f.BoolVar(&o.reader, "screen-reader", false, "the same as --accessible")
	f.BoolVar(&o.Trust, "trust", false, "trust this repository's configuration in this run")
}

// Run shows the screen until the person leaves it.
func Run(ctx context.Context, env *console.Env, o Options) error {
	if !env.Interactive() {
		return lathe.Errorf(lathe.CodeInvalid, "use lathe run for scripts and pipes", "the screen needs a terminal for input and output")
	}
	if o.Cont && o.Session != "" {
		return console.Usagef("--continue and --session exclude each other")
	}
	dir, err := o.place(env)
	if err != nil {
		return err
	}
	f, err := face.Connect(ctx, env, face.Target{Attach: o.attach, Password: o.password, Dir: dir, Trust: o.Trust, Attended: true})
	if err != nil {
		return err
	}
	return errors.Join(showTUI(ctx, env, f, o), f.Close())
}

// place returns the directory that the screen is opened for.
func (o *Options) place(env *console.Env) (string, error) {
	if o.attach != "" {
		return face.DirFor(env, o.attach, o.Dir)
	}
	return console.WorkDir(env, o.Dir)
}

// showTUI shows the screen, and again in each worktree that the person goes on in.
func showTUI(ctx context.Context, env *console.Env, f *face.Face, o Options) error {
	here := *f
	var made []worktreeWork
	out, err := showHere(ctx, env, &here, o)
	for err == nil && out.worktree != nil {
		w := *out.worktree
		dir := here.PlaceIn(ctx, w.Worktree)
		in := here // worktrees are told of where they were made
		in.Client = here.In(dir)
		from := here
		o.Session, o.Cont, o.Prompt = "", !w.Made, ""
		here = in
		out, err = showHere(ctx, env, &here, o)
		if w.Made {
			made = append(made, worktreeWork{from, w.Name, out.session})
		}
	}
	if err == nil && out.session != "" {
		_, err = env.Stderr.Write([]byte("continue with: " + o.command() + " -s " + out.session + "\n"))
	}
	for _, w := range made {
		err = errors.Join(err, w.from.TellWork(context.WithoutCancel(ctx), env, w.name, w.session != ""))
	}
	return err
}

// worktreeWork is a worktree that the screen was in: where it was made, and which session was
// open in it last.
type worktreeWork struct {
	from          face.Face
	name, session string
}

// left is how the person left a screen.
type left struct {
	session  string // that was open last
	worktree *worktrees.GoOn
}

func showHere(ctx context.Context, env *console.Env, f *face.Face, o Options) (out left, err error) {
	where, err := f.Paths(ctx)
	if err != nil {
		return out, err
	}
	opts, err := tuiSession(ctx, f, o, tui.Options{})
	if err != nil {
		return out, err
	}
	conf, err := screenConfig(ctx, f)
	if err != nil {
		return out, err
	}
	paths, _, _, err := app.Places(env)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts.Desk = screenDesk(env, paths, where.Directory, conf)
	tuiScreen(ctx, env, f, o, &opts, screenFacts{conf, paths, where})
	return showScreen(ctx, env, kindOfScreen(env, o, conf), opts)
}

// command is the command line the person used, without an address's password.
func (o *Options) command() string {
	switch {
	case o.attach == "":
		return "lathe"
	case o.attach == "auto":
		return "lathe attach"
	}
	return "lathe attach " + client.Shown(o.attach)
}

// tuiSession adds what to open to the options. The client then works in the
// session's directory.
func tuiSession(ctx context.Context, f *face.Face, o Options, opts tui.Options) (tui.Options, error) {
	var err error
	opts.Agent, opts.Prompt, opts.Review = o.Agent, o.Prompt, o.review
	switch {
	case o.Session != "":
		s, err := f.Get(ctx, lathe.SessionID(o.Session))
		if err != nil {
			return opts, err
		}
		opts.Session = s.ID
		if o.attach != "" && s.Directory != f.Dir() {
			f.Client = f.In(s.Directory)
		}
	case o.Cont:
		list, err := f.List(ctx, api.SessionFilter{Archived: true, Limit: 1})
		if err != nil {
			return opts, err
		}
		if len(list) > 0 {
			opts.Session = list[0].ID
		}
	}
	if o.Model != "" {
		opts.Model, err = f.ParseModel(ctx, o.Model)
	}
	return opts, err
}

// screenConfig returns the part of the configuration that screens use, as it is
// where the engine runs.
func screenConfig(ctx context.Context, f *face.Face) (*config.Config, error) {
	raw, err := f.Settings(ctx)
	if err != nil {
		return nil, err
	}
	v, err := jsonc.Parse("the server's configuration", raw)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	text := func(name string) string { s, _ := v.Get(name).Any().(string); return s }
	return &config.Config{Theme: text("theme"), Model: text("model"), DefaultAgent: text("default_agent"), Username: text("username"), Keybinds: v.Get("keybinds"), TUI: v.Get("tui")}, nil
}

// screenFacts are what the look of a screen depends on.
type screenFacts struct {
	conf  *config.Config
	paths config.Paths
	where api.Paths
}

// branchTime limits how long asking for the branch may take.
const branchTime = 5 * time.Second

// tuiScreen says how the screen should look.
func tuiScreen(ctx context.Context, env *console.Env, f *face.Face, o Options, opts *tui.Options, is screenFacts) {
	dir := is.where.Directory
	opts.Engine = &tuiEngine{Abilities: Abilities{f.Client}, now: env.Now, defaultAgent: is.conf.DefaultAgent}
	opts.Now, opts.Dir = env.Now, shortDir(is.where.Home, dir)
	opts.Branch = func() string {
		ctx, cancel := context.WithTimeout(ctx, branchTime)
		defer cancel()
		name, err := f.Branch(ctx)
		if err != nil {
			return ""
		}
		return name
	}
	opts.Say = env.Language()
	opts.Theme, opts.Keys, opts.User = is.conf.Theme, keybinds(is.conf.Keybinds), is.conf.Username
	opts.Themes, opts.Notices = userThemes(is.paths, workspace.Root{Dir: dir, TopLevel: is.where.Worktree})
	opts.ASCII, opts.Mouse = asciiTerminal(env.Getenv), true
	opts.Prefs = loadPrefs(is.paths.State)
	opts.SavePrefs = func(p prefs.Prefs) error { return savePrefs(is.paths.State, p) }
	beside := dir
	if f.App == nil { // files that the screen writes stay on the person's machine
		beside, opts.Server = env.Dir, f.Address
	}
	opts.Desk.WriteFile = func(name string, data []byte) (string, error) { return writeNumbered(beside, name, data) }
	opts.LastModel = o.Model == "" && is.conf.Model == ""
	if t := is.conf.TUI; t != nil {
		if on, ok := t.Get("mouse").Any().(bool); ok {
			opts.Mouse = on
		}
		if n, ok := t.Get("scroll_speed").Any().(float64); ok && n > 0 {
			opts.Scroll = int(max(1, min(n, 100)))
		}
		if on, ok := t.Get("vim").Any().(bool); ok {
			opts.Prefs.Vim = on
		}
		opts.Stacked = t.Get("diff_style").Any() == "stacked"
		if ms, ok := t.Get("leader_timeout").Any().(float64); ok && ms > 0 {
			opts.Leader = time.Duration(ms) * time.Millisecond
		}
	}
	if notices, err := f.Notices(ctx); err == nil {
		opts.Notices = append(opts.Notices, notices.Config...)
		if notices.Trust != "" {
			opts.Notices = append(opts.Notices, notices.Trust)
		}
		opts.Notices = append(opts.Notices, f.Unsaid(notices.Unused)...)
	}
}

func shortDir(home, dir string) string {
	if rel, err := filepath.Rel(home, dir); err == nil && home != "" && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return dir
}

// keybinds returns the configured keys as text: false or empty becomes "none", a
// list its alternatives.
func keybinds(v *jsonc.Value) map[string]string {
	if v == nil {
		return nil
	}
	out := map[string]string{}
	for name, val := range v.Map() {
		switch k := val.(type) {
		case string:
			out[name] = cmp.Or(k, "none")
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
// used without trust, since they only choose colours. A faulty file is left out
// and reported.
func userThemes(paths config.Paths, root workspace.Root) (out []*theme.Theme, problems []string) {
	dirs := []string{filepath.Join(paths.OpenCodeConfig, "themes"), filepath.Join(paths.Config, "themes")}
	for _, base := range []string{root.TopLevel, root.Dir} {
		if base != "" {
			dirs = append(dirs, filepath.Join(base, ".opencode", "themes"), filepath.Join(base, ".lathe", "themes"))
		}
	}
	for i, dir := range dirs {
		if slices.Contains(dirs[:i], dir) {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		for _, f := range files {
			data, err := workspace.ReadFile(f, 256<<10)
			var t *theme.Theme
			if err == nil {
				t, err = theme.Parse(strings.TrimSuffix(filepath.Base(f), ".json"), data)
			}
			if err != nil {
				problems = append(problems, "a theme was left out: "+err.Error())
				continue
			}
			out = append(out, t)
		}
	}
	return out, problems
}
