package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// themeList shows themes as they are gone through.
func (a *App) themeList() tea.Cmd {
	before, dark := a.look.Theme, a.dark
	l := dialog.List{Title: "themes", Hint: "enter choose · tab dark or light · esc keep " + styled.OneLine(before.Name), Items: a.themeItems(before.Name)}
	l.Move = func(it dialog.Item) tea.Msg { a.setTheme(a.themeNamed(it.ID)); return nil }
	l.Closed = func() tea.Msg {
		a.dark = dark
		a.setTheme(before)
		return nil
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		a.setTheme(a.themeNamed(it.ID))
		a.prefs.Theme = it.ID
		text := ""
		if a.opts.Theme != "" && a.opts.Theme != it.ID {
			text = "the configuration names " + a.opts.Theme + ", which is used again the next time"
		}
		a.opts.Theme = ""
		if a.dark != dark {
			a.prefs.Mode = mode(a.dark)
		}
		if text != "" {
			a.notify(dialog.Info, text)
		}
		return tea.Batch(a.prefs.Save(), a.tick())
	}
	s := dialog.NewList(l)
	s.Strokes = map[string]func(dialog.Item) tea.Msg{
		"tab": func(it dialog.Item) tea.Msg {
			a.dark = !a.dark
			a.setTheme(a.themeNamed(it.ID))
			s.Replace(a.themeItems(before.Name))
			return nil
		},
	}
	a.push(s)
	return nil
}

func mode(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

func (a *App) themeItems(current string) []dialog.Item {
	var out []dialog.Item
	for i, t := range slices.Backward(a.opts.Themes) {
		if slices.ContainsFunc(a.opts.Themes[i+1:], func(o *theme.Theme) bool { return o.Name == t.Name }) {
			continue
		}
		detail := "yours"
		if t.Both() {
			detail = "yours, dark and light"
		}
		out = append(out, dialog.Item{ID: t.Name, Title: styled.OneLine(t.Name), Detail: detail, Current: t.Name == current})
	}
	slices.Reverse(out)
	for _, name := range theme.Names() {
		if slices.ContainsFunc(a.opts.Themes, func(o *theme.Theme) bool { return o.Name == name }) {
			continue
		}
		t, _ := theme.Lookup(name)
		out = append(out, dialog.Item{ID: name, Title: name, Detail: themeDetail(t), Current: name == current})
	}
	return out
}

func themeDetail(t *theme.Theme) string {
	switch {
	case t.Name == "system":
		return "the terminal's sixteen colours"
	case t.Name == "contrast":
		return "strong contrast, dark and light"
	case t.Both():
		return "dark and light"
	case t.Light:
		return "light"
	}
	return "dark"
}

// reduceTo draws themes in the colours that a terminal has, by their meaning: what
// is deleted stays red.
func (a *App) reduceTo(p colorprofile.Profile) {
	switch {
	case p >= colorprofile.TrueColor:
		return
	case p == colorprofile.ANSI256:
		a.reduce = (*theme.Theme).Palette
	default:
		a.reduce = func(t *theme.Theme) *theme.Theme {
			few, _ := theme.Lookup("system")
			few = few.For(!t.Light)
			few.Name = t.Name
			return few
		}
	}
	a.setTheme(a.themeNamed(a.chosenTheme()))
}
