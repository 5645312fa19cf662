// Package style decides the colours and characters of the screen: the theme, dark or
// light, and what the terminal can show of it.
package style

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
	"lathe/internal/typo"
)

// Style chooses the theme of a look.
type Style struct {
	look       *look.Look
	book       *prefs.Book
	themes     []*theme.Theme // in addition to the built-in ones
	configured string         // the theme that the configuration names
	dark       bool
	reduce     func(*theme.Theme) *theme.Theme // reduces to the colours that the terminal has; nil: it has all
	noLinks    bool                            // the terminal would show addresses as text
	isolates   bool                            // the terminal arranges text by its direction
}

// New gives a look its theme, and says what is wrong with the configured one.
func New(l *look.Look, book *prefs.Book, themes []*theme.Theme, configured string) (s *Style, problem string) {
	s = &Style{look: l, book: book, themes: themes, configured: configured, dark: book.Mode != "light"}
	s.setTheme(s.themeNamed(s.chosenTheme()))
	return s, s.themeProblem(configured)
}

// Dark reports whether the theme is for a dark background.
func (s *Style) Dark() bool { return s.dark }

// Plain says that the terminal would show addresses as text.
func (s *Style) Plain(plain bool) { s.noLinks = plain }

// Isolate says whether text that is written from right to left is isolated from what is around it.
func (s *Style) Isolate(on bool) { s.isolates = on }

func (s *Style) themeNamed(name string) *theme.Theme {
	if t := theme.Named(s.themes, name); t != nil { // later ones are nearer to the project
		return t.For(s.dark)
	}
	return theme.Default(s.dark)
}

func (s *Style) setTheme(t *theme.Theme) {
	if s.reduce != nil {
		t = s.reduce(t)
	}
	s.look.Theme, s.look.MD = t, markdown.NewStyles(t, !s.look.ASCII)
}

// Background handles what the terminal says about its background.
func (s *Style) Background(dark bool) {
	if s.book.Mode != "" {
		return
	}
	s.dark = dark
	s.setTheme(s.themeNamed(s.chosenTheme()))
}

// chosenTheme is the theme that the configuration names, else the one that was
// chosen on the screen.
func (s *Style) chosenTheme() string {
	if s.configured != "" {
		return s.configured
	}
	return s.book.Theme
}

// ToggleMode changes between dark and light.
func (s *Style) ToggleMode() tea.Msg {
	s.dark = !s.dark
	s.book.Mode = "light"
	if s.dark {
		s.book.Mode = "dark"
	}
	s.setTheme(s.themeNamed(s.look.Theme.Name))
	return s.book.Save()
}

// themeProblem says that a configured theme is not known.
func (s *Style) themeProblem(name string) string {
	if name == "" {
		return ""
	}
	names := theme.Names()
	for _, t := range s.themes {
		names = append(names, t.Name)
	}
	if _, ok := theme.Lookup(name); ok || slices.Contains(names, name) {
		return ""
	}
	text := fmt.Sprintf("theme: there is no theme %q", name)
	if near := typo.Nearest(name, names); near != "" {
		text = fmt.Sprintf("theme: there is no theme %q; did you mean %q?", name, near)
	}
	return text
}

// ThemeList lists the themes, and shows each as it is marked.
func (s *Style) ThemeList() tea.Msg {
	before, dark := s.look.Theme, s.dark
	l := dialog.List{Title: "themes", Hint: "enter choose · tab dark or light · esc keep " + styled.OneLine(before.Name), Items: s.themeItems(before.Name)}
	l.Move = func(it dialog.Item) tea.Msg { s.setTheme(s.themeNamed(it.ID)); return nil }
	l.Closed = func() tea.Msg {
		s.dark = dark
		s.setTheme(before)
		return nil
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		s.setTheme(s.themeNamed(it.ID))
		s.book.Theme = it.ID
		text := ""
		if s.configured != "" && s.configured != it.ID {
			text = "the configuration names " + s.configured + ", which is used again the next time"
		}
		s.configured = ""
		if s.dark != dark {
			s.book.Mode = Mode(s.dark)
		}
		if text != "" {
			return dialog.All{dialog.Tell{Kind: dialog.Info, Text: text}, s.book.Save()}
		}
		return s.book.Save()
	}
	sheet := dialog.NewList(l)
	sheet.Strokes = map[string]func(dialog.Item) tea.Msg{
		"tab": func(it dialog.Item) tea.Msg {
			s.dark = !s.dark
			s.setTheme(s.themeNamed(it.ID))
			sheet.Replace(s.themeItems(before.Name))
			return nil
		},
	}
	return dialog.Open{Sheet: sheet}
}

func Mode(dark bool) string {
	if dark {
		return "dark"
	}
	return "light"
}

func (s *Style) themeItems(current string) []dialog.Item {
	var out []dialog.Item
	for i, t := range slices.Backward(s.themes) {
		if slices.ContainsFunc(s.themes[i+1:], func(o *theme.Theme) bool { return o.Name == t.Name }) {
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
		if slices.ContainsFunc(s.themes, func(o *theme.Theme) bool { return o.Name == name }) {
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

// ReduceTo draws themes in the colours that a terminal has, by their meaning: what
// is deleted stays red.
func (s *Style) ReduceTo(p colorprofile.Profile) {
	switch {
	case p >= colorprofile.TrueColor:
		return
	case p == colorprofile.ANSI256:
		s.reduce = (*theme.Theme).Palette
	default:
		s.reduce = func(t *theme.Theme) *theme.Theme {
			few, _ := theme.Lookup("system")
			few = few.For(!t.Light)
			few.Name = t.Name
			return few
		}
	}
	s.setTheme(s.themeNamed(s.chosenTheme()))
}

// Fitted returns a line as this terminal can show it: without links where they
// would be text, and with simple clusters if whole ones are not measured.
func (s *Style) Fitted(l styled.Line) styled.Line {
	if s.isolates {
		l = l.Isolated()
	}
	if !s.noLinks && !s.look.ASCII && s.look.Method == styled.Grapheme {
		return l
	}
	out := l
	for i, span := range l {
		text, link := span.Text, span.Link
		if s.noLinks {
			link = ""
		}
		if s.look.Method == styled.WcWidth {
			text = styled.Simple(text)
		}
		if s.look.ASCII {
			text = unmarked.Replace(text)
		}
		if text == span.Text && link == span.Link {
			continue
		}
		if &out[0] == &l[0] {
			out = slices.Clone(l)
		}
		out[i].Text, out[i].Link = text, link
	}
	return out
}

// unmarked replaces the few marks that are drawn everywhere with ASCII
// characters.
var unmarked = strings.NewReplacer("…", "~", "·", "-", "—", "-", "↑", "^", "↓", "v")
