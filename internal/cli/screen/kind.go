package screen

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/tui"
	"lathe/internal/tui/attend"
	"lathe/internal/tui/clip"
	"lathe/internal/tui/linear"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/paint"
)

// screenKind is how the screen uses the terminal.
type screenKind int

const (
	fullScreen   screenKind = iota
	inlineScreen            // finished output stays in the terminal's own scrollback
	plainLines              // for screen readers, and for terminals that can do nothing else
)

// kindOfScreen says which screen is shown: what the flags ask for, else the
// environment, else the configuration.
func kindOfScreen(env *console.Env, o Options, conf *config.Config) screenKind {
	on := func(name string) bool {
		if conf.TUI == nil {
			return false
		}
		v, _ := conf.TUI.Get(name).Any().(bool)
		return v
	}
	switch {
	case o.reader:
		return plainLines
	case o.inline:
		return inlineScreen
	case env.Getenv("TERM") == "dumb", env.Getenv("LATHE_ACCESSIBLE") != "", env.Getenv("LATHE_SCREEN_READER") != "":
		return plainLines
	case env.Getenv("LATHE_INLINE") != "":
		return inlineScreen
	case on("accessible"), on("screen_reader"):
		return plainLines
	case on("inline"):
		return inlineScreen
	}
	return fullScreen
}

// showScreen shows a screen until the person leaves it.
func showScreen(ctx context.Context, env *console.Env, kind screenKind, opts tui.Options) (left, error) {
	if kind == plainLines {
		if env.Getenv("TERM") == "dumb" {
			opts.Notices = append(opts.Notices, "TERM is dumb, so this is the screen of plain lines")
		}
		interrupts := make(chan struct{}, 1)
		if env.Interrupts != nil {
			env.Interrupts.OnKey(func() bool {
				select {
				case interrupts <- struct{}{}:
					return true
				default: // nobody is waiting for them
					return false
				}
			})
			defer env.Interrupts.OnKey(func() bool { return false })
		}
		id, err := linear.Run(ctx, linear.Options{
			Interrupts: interrupts,
			Engine:     opts.Engine, In: env.Stdin, Out: env.Stdout, Now: opts.Now, Dir: opts.Dir, Session: opts.Session,
			Agent: opts.Agent, Model: opts.Model, Prompt: opts.Prompt, Review: opts.Review, Notices: opts.Notices, Say: opts.Say,
		})
		return left{session: string(id)}, err
	}
	opts.Inline = kind == inlineScreen
	if opts.Theme == "" && opts.Prefs.Theme == "" && paint.FewColors(env.Environ) {
		opts.Theme = "system"
	}
	a := tui.New(ctx, opts)
	err := tui.Run(ctx, a, tui.Terminal{In: env.Stdin, Out: console.TerminalOf(env.Stdout), Env: env.Environ})
	return left{a.SessionID(), a.Elsewhere()}, err
}

// screenDesk returns what the screen can use on the person's own machine.
func screenDesk(env *console.Env, paths config.Paths, dir string, conf *config.Config) tui.Desk {
	d := tui.Desk{
		Memory: memory.Open(filepath.Join(paths.State, "screen"), dir), Clipboard: clip.New(env.Getenv),
		Getenv: env.Getenv, Editor: strings.Fields(cmp.Or(env.Getenv("VISUAL"), env.Getenv("EDITOR"))),
	}
	if conf.TUI != nil {
		if on, ok := conf.TUI.Get("images").Any().(bool); ok {
			d.NoPictures = !on
		}
		if on, ok := conf.TUI.Get("bidi").Any().(bool); ok {
			d.Bidi = &on
		}
	}
	t := attend.Configured(conf.TUI)
	d.Notify, d.Progress = t.Notify, t.Progress
	return d
}

// asciiTerminal reports whether the terminal shows no unicode: it is too old, or
// its locale has another character set.
func asciiTerminal(getenv func(string) string) bool {
	if getenv("LATHE_ASCII") != "" {
		return true
	}
	switch term := getenv("TERM"); {
	case term == "linux", term == "ansi", term == "cons25", strings.HasPrefix(term, "vt1"), strings.HasPrefix(term, "vt2"), strings.HasPrefix(term, "vt52"):
		return true
	}
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	_, charset, named := strings.Cut(strings.ToLower(locale), ".")
	return named && !strings.HasPrefix(strings.ReplaceAll(charset, "-", ""), "utf8") && !strings.HasPrefix(charset, "gb18030")
}
