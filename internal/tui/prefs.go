package tui

import (
	"maps"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/theme"
	"lathe/internal/typo"
)

// Prefs is what the screen remembers from one run to the next.
type Prefs struct {
	Recent   []lathe.ModelRef // newest first, without variants
	Favorite []lathe.ModelRef // in the order they were marked
	Variant  map[string]string
	Theme    string
	Mode     string // "dark", "light", or "" for what the terminal says
	NoTips   bool
	Times    bool
	Guided   bool // the person chose to go on with the offline guide

	NoSidebar bool
	Scrollbar bool
	Names     bool // prompts tell who wrote them
}

const (
	maxRecent   = 10
	shownRecent = 5
)

// clone returns a copy that another goroutine may hold.
func (p Prefs) clone() Prefs {
	p.Recent, p.Favorite, p.Variant = slices.Clone(p.Recent), slices.Clone(p.Favorite), maps.Clone(p.Variant)
	return p
}

// remember keeps the preferences, if there is a place for them.
func (a *App) remember() tea.Cmd {
	if a.opts.SavePrefs == nil {
		return nil
	}
	a.saving.asked++
	p, n, s := a.prefs.clone(), a.saving.asked, a.saving
	return func() tea.Msg { return doneMsg{err: s.save(n, func() error { return a.opts.SavePrefs(p) })} }
}

// saving sees to it that what is kept last is what was asked for last, though
// commands run beside each other.
type saving struct {
	asked int // of the screen's loop alone

	mu   sync.Mutex
	kept int
}

func (s *saving) save(n int, keep func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < s.kept {
		return nil
	}
	s.kept = n
	return keep()
}

func plain(r lathe.ModelRef) lathe.ModelRef {
	return lathe.ModelRef{Provider: r.Provider, Model: r.Model}
}

// chooseModel takes a model for what is sent next, with the variant that it was
// used with last unless one is named.
func (a *App) chooseModel(ref lathe.ModelRef) tea.Cmd {
	bare := plain(ref)
	if ref.Variant == "" {
		if v := a.prefs.Variant[bare.String()]; slices.Contains(a.modelInfo(bare).Variants, v) {
			ref.Variant = v
		}
	}
	a.model = ref
	a.prefs.Recent = slices.DeleteFunc(a.prefs.Recent, func(r lathe.ModelRef) bool { return plain(r) == bare })
	a.prefs.Recent = append([]lathe.ModelRef{bare}, a.prefs.Recent...)
	a.prefs.Recent = a.prefs.Recent[:min(len(a.prefs.Recent), maxRecent)]
	return a.remember()
}

// chooseVariant changes the variant of the model that answers next.
func (a *App) chooseVariant(v string) tea.Cmd {
	ref := a.current()
	ref.Variant = v
	a.model = ref
	if a.prefs.Variant == nil {
		a.prefs.Variant = map[string]string{}
	}
	if v == "" {
		delete(a.prefs.Variant, plain(ref).String())
	} else {
		a.prefs.Variant[plain(ref).String()] = v
	}
	return a.remember()
}

// known returns those of the models that can be chosen now.
func (a *App) known(list []lathe.ModelRef) []lathe.ModelRef {
	var out []lathe.ModelRef
	for _, r := range list {
		for _, m := range a.models {
			if plain(m.Ref()) == plain(r) {
				out = append(out, plain(r))
				break
			}
		}
	}
	return out
}

func (a *App) favorite(ref lathe.ModelRef) bool { return slices.Contains(a.prefs.Favorite, plain(ref)) }

// toggleFavorite marks a model, or takes the mark away.
func (a *App) toggleFavorite(ref lathe.ModelRef) tea.Cmd {
	if i := slices.Index(a.prefs.Favorite, plain(ref)); i >= 0 {
		a.prefs.Favorite = slices.Delete(a.prefs.Favorite, i, i+1)
	} else {
		a.prefs.Favorite = append(a.prefs.Favorite, plain(ref))
	}
	return a.remember()
}

// lastModel takes up the model of the run before, where neither the command line
// nor the configuration, the agent or the session names one.
func (a *App) lastModel() {
	if !a.model.IsZero() || !a.session.Model.IsZero() || !a.opts.LastModel {
		return
	}
	for _, g := range a.agents {
		if g.Name == a.agentName() && !g.Model.IsZero() {
			return
		}
	}
	if list := a.known(a.prefs.Recent); len(list) > 0 {
		ref := list[0]
		ref.Variant = a.prefs.Variant[ref.String()]
		a.model = ref
	}
}

// background takes up what the terminal says of its background.
func (a *App) background(dark bool) {
	if a.prefs.Mode != "" {
		return
	}
	a.dark = dark
	a.setTheme(a.themeNamed(a.chosenTheme()))
}

// chosenTheme is the theme that the configuration names, else the one that was
// chosen on the screen.
func (a *App) chosenTheme() string {
	if a.opts.Theme != "" {
		return a.opts.Theme
	}
	return a.prefs.Theme
}

// toggleMode changes between dark and light.
func (a *App) toggleMode() tea.Cmd {
	a.dark = !a.dark
	a.prefs.Mode = "light"
	if a.dark {
		a.prefs.Mode = "dark"
	}
	a.setTheme(a.themeNamed(a.look.Theme.Name))
	return a.remember()
}

// themeProblem says that a configured theme is not known.
func (a *App) themeProblem(name string) string {
	if name == "" {
		return ""
	}
	names := theme.Names()
	for _, t := range a.opts.Themes {
		names = append(names, t.Name)
	}
	if _, ok := theme.Lookup(name); ok || slices.Contains(names, name) {
		return ""
	}
	text := "theme: there is no theme \"" + name + "\""
	if near := typo.Nearest(name, names); near != "" {
		text += "; did you mean \"" + near + "\"?"
	}
	return text
}
