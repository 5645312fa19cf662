package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// trustSheet asks whether a repository may steer lathe.
type trustSheet struct {
	patience
	e     engine.Truster
	ctx   context.Context
	t     api.Trust
	at    int
	first int  // the line of the first answer, as of the last drawing
	sure  bool // the person wants it remembered, and is asked once more
	body  reader
}

var trustAnswers = [...][2]string{
	{"y", "trust it until lathe ends"}, {"r", "trust it as it is now, and remember"}, {"n", "no; it works without what it brings"},
}

// loadTrust asks the question at the start, if there is one.
func (a *App) loadTrust() tea.Cmd {
	e := a.can.Trust
	if e == nil {
		return nil
	}
	return func() tea.Msg {
		t, err := e.Trust(a.ctx)
		if err != nil || t.Given || len(t.LeftOut) == 0 {
			return nil // nothing to decide; what cannot be read is told by /trust
		}
		return doneMsg{then: func(a *App) tea.Cmd {
			a.sheets.Wait(&trustSheet{e: e, ctx: a.ctx, t: t, patience: patience{came: a.opts.Now()}, at: 2})
			return nil
		}}
	}
}

// Tall reports whether what the repository brings fills the screen.
func (s *trustSheet) Tall() bool { return s.body.full }

// Wheel scrolls what the repository brings.
func (s *trustSheet) Wheel(by int) bool { return s.body.wheel(by) }

// Paste does nothing.
func (s *trustSheet) Paste(string) {}

// Key answers, or goes through the answers and what is told.
func (s *trustSheet) Key(_ Host, k tea.KeyPressMsg) tea.Msg {
	n := len(trustAnswers)
	switch stroke := keyName(k); stroke {
	case "up", "shift+tab", "left":
		s.at = (s.at + n - 1) % n
	case "down", "tab", "right":
		s.at = (s.at + 1) % n
	case "enter":
		return s.choose(s.at)
	case giveKey:
		if s.sure {
			return s.decide(true)
		}
	case "esc", "ctrl+c":
		if s.sure {
			s.sure = false
			return nil
		}
		return s.choose(2)
	default:
		if s.body.key(stroke) {
			return nil
		}
		for i, an := range trustAnswers {
			if an[0] == stroke {
				return s.choose(i)
			}
		}
	}
	return nil
}

// Click marks an answer, and takes the one that is marked.
func (s *trustSheet) Click(_ Host, y int) tea.Msg {
	i := y - s.first
	switch {
	case i < 0 || i >= len(trustAnswers):
	case s.at == i:
		return s.choose(i)
	default:
		s.at = i
	}
	return nil
}

func (s *trustSheet) choose(i int) tea.Msg {
	switch s.sure = i == 1; i {
	case 0:
		return s.decide(false)
	case 1:
		s.at = i
		return nil
	}
	return All{Close{s}, Tell{Info, "not trusted; /trust shows what has no effect and asks again"}}
}

// decide trusts the repository, for good if keep is set.
func (s *trustSheet) decide(keep bool) tea.Msg {
	text := "this repository is trusted until lathe ends; /trust takes it back. Its keys and theme count from the next start"
	if keep {
		text = strings.Replace(text, "until lathe ends", "as it is now, and that is stored", 1)
	}
	return All{Close{s}, tea.Cmd(func() tea.Msg {
		err := s.e.Decide(s.ctx, s.t, keep)
		return doneMsg{text: text, err: err, then: func(a *App) tea.Cmd {
			a.opts.Notices = slices.DeleteFunc(a.opts.Notices, func(n string) bool {
				return strings.HasPrefix(n, "this repository ") || strings.HasPrefix(n, "this directory ")
			})
			return a.loadCatalog()
		}}
	})}
}

// Draw shows what the repository brings, and the answers.
func (s *trustSheet) Draw(l look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.title("may this repository steer lathe?", "say yes only if you know it")}
	text := "It brings settings that run programs or loosen rules. They have no effect unless you trust it:"
	body := styled.Wrap(styled.Plain(text, l.fg(theme.Text)), l.width-3, l.method)
	for _, o := range s.t.LeftOut {
		line := styled.Line{{Text: styled.OneLine(o.Path), Style: l.fg(theme.Warning)}, {Text: "  " + styled.OneLine(o.Reason), Style: l.fg(theme.Text)},
			{Text: "  " + styled.OneLine(o.Where), Style: l.fg(theme.Muted)}}
		body = append(body, styled.Wrap(line, l.width-3, l.method)...)
	}
	for _, line := range s.body.window(l, body, max(1, height-1-len(trustAnswers))) {
		out = append(out, l.row(line, false))
	}
	s.first = len(out)
	for i, an := range trustAnswers {
		line := styled.Line{{Text: an[0] + "  ", Style: l.fg(theme.Accent, styled.Bold)}, {Text: an[1], Style: l.fg(theme.Text)}}
		switch n := s.body.unread(); {
		case i == 1 && s.sure:
			line = append(line, styled.Span{Text: ": " + giveKey + " stores that, esc does not", Style: l.fg(theme.Warning)})
		case i < 2 && n > 0:
			line = append(line, styled.Span{Text: fmt.Sprintf("  not shown to its end: %s below", plural(n, "line")), Style: l.fg(theme.Warning)})
		}
		out = append(out, l.row(line, i == s.at))
	}
	return out, -1, 0
}

// trustPage shows what the repository brings and offers to change the decision.
func (a *App) trustPage() tea.Cmd {
	e := a.can.Trust
	return func() tea.Msg {
		t, err := e.Trust(a.ctx)
		return doneMsg{err: err, then: func(a *App) tea.Cmd { return a.showTrust(e, t) }}
	}
}

func (a *App) showTrust(e engine.Truster, t api.Trust) tea.Cmd {
	if !t.Given && len(t.LeftOut) > 0 {
		a.push(&trustSheet{e: e, ctx: a.ctx, t: t, at: 2})
		return nil
	}
	l := list{title: "trust: " + styled.OneLine(or(t.State, "not trusted")), hint: "enter do it · esc close"}
	switch {
	case t.Given:
		l.items = append(l.items, item{id: "keep", title: "leave it as it is"}, item{id: "no", title: "trust it no more"})
	case len(t.Files) == 0:
		l.items = append(l.items, item{id: "keep", title: "nothing in this repository steers lathe", detail: "there is nothing to decide"})
	default:
		l.items = append(l.items, item{id: "keep", title: "what it brings needs no trust", detail: strings.Join(t.Files, ", ")})
	}
	l.foot = func(l look, _ item) styled.Line {
		return styled.Plain(styled.OneLine(t.Dir+": "+strings.Join(t.Files, ", ")), l.fg(theme.Muted))
	}
	l.pick = func(it item) tea.Msg {
		if it.id != "no" {
			return nil
		}
		return func() tea.Msg {
			return doneMsg{text: "it is trusted no more", err: e.Distrust(a.ctx), then: func(a *App) tea.Cmd { return a.loadCatalog() }}
		}
	}
	a.push(newList(l))
	return nil
}
