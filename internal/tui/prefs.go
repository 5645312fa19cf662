package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/theme"
	"lathe/internal/typo"
)

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
	return a.prefs.Save()
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
