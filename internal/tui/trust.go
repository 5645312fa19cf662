package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// trustSheet asks whether a repository may steer lathe.
type trustSheet struct {
	t     Trust
	shown time.Time
	at    int
	top   int
	first int // the line of the first answer, as of the last drawing
}

var trustAnswers = [...][2]string{
	{"y", "trust it until lathe ends"}, {"r", "trust it as it is now, and remember"}, {"n", "no; it works without what it brings"},
}

// loadTrust asks the question at the start, if there is one.
func (a *App) loadTrust() tea.Cmd {
	e, ok := a.engine.(Truster)
	if !ok {
		return nil
	}
	return func() tea.Msg {
		t, err := e.Trust(a.ctx)
		if err != nil || t.Given || len(t.LeftOut) == 0 {
			return nil // nothing to decide; what cannot be read is told by /trust
		}
		return doneMsg{then: func(a *App) tea.Cmd {
			a.waiting = append(a.waiting, &trustSheet{t: t, shown: a.opts.Now(), at: 2})
			return nil
		}}
	}
}

func (s *trustSheet) appeared() time.Time { return s.shown }

func (s *trustSheet) paste(string) {}

func (s *trustSheet) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	n := len(trustAnswers)
	switch stroke := keyName(k); stroke {
	case "up", "shift+tab", "left":
		s.at = (s.at + n - 1) % n
	case "down", "tab", "right":
		s.at = (s.at + 1) % n
	case "pgup":
		s.top = max(0, s.top-5)
	case "pgdown":
		s.top += 5
	case "enter":
		return s.choose(a, s.at)
	case "esc", "ctrl+c":
		return s.choose(a, 2)
	default:
		for i, an := range trustAnswers {
			if an[0] == stroke {
				return s.choose(a, i)
			}
		}
	}
	return nil
}

// click marks an answer, and takes the one that is marked.
func (s *trustSheet) click(a *App, y int) tea.Cmd {
	i := y - s.first
	switch {
	case i < 0 || i >= len(trustAnswers):
	case s.at == i:
		return s.choose(a, i)
	default:
		s.at = i
	}
	return nil
}

func (s *trustSheet) choose(a *App, i int) tea.Cmd {
	a.close(s)
	if i == 2 {
		a.notify(toastInfo, "not trusted; /trust shows what has no effect and asks again")
		return a.tick()
	}
	e := a.engine.(Truster)
	return func() tea.Msg {
		err := e.Decide(a.ctx, s.t, i == 1)
		return doneMsg{text: "this repository is trusted; its keys and theme count from the next start", err: err, then: func(a *App) tea.Cmd {
			a.opts.Notices = slices.DeleteFunc(a.opts.Notices, func(n string) bool { return strings.HasPrefix(n, "this repository ") })
			return a.loadCatalog()
		}}
	}
}

func (s *trustSheet) draw(l look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.title("may this repository steer lathe?", "say yes only if you know it")}
	text := "It brings settings that run programs or loosen rules. They have no effect unless you trust it:"
	body := styled.Wrap(styled.Plain(text, l.fg(theme.Text)), l.width-3, l.method)
	for _, o := range s.t.LeftOut {
		line := styled.Line{{Text: styled.OneLine(o.Path), Style: l.fg(theme.Warning)}, {Text: "  " + styled.OneLine(o.Reason), Style: l.fg(theme.Text)},
			{Text: "  " + styled.OneLine(o.Where), Style: l.fg(theme.Muted)}}
		body = append(body, styled.Wrap(line, l.width-3, l.method)...)
	}
	room := max(2, height-1-len(trustAnswers))
	s.top = max(0, min(s.top, len(body)-room))
	if over := len(body) - room; over > 0 {
		shown := body[s.top : s.top+room-1 : s.top+room-1]
		body = append(shown, styled.Plain(fmt.Sprintf("%s %d lines; pgup and pgdown show them", l.glyph("…", "..."), len(body)), l.fg(theme.Muted)))
	}
	for _, line := range body {
		out = append(out, l.row(line, false))
	}
	s.first = len(out)
	for i, an := range trustAnswers {
		out = append(out, l.row(styled.Line{{Text: an[0] + "  ", Style: l.fg(theme.Accent, styled.Bold)}, {Text: an[1], Style: l.fg(theme.Text)}}, i == s.at))
	}
	return out, -1, 0
}

// trustPage shows what the repository brings and offers to change the decision.
func (a *App) trustPage() tea.Cmd {
	e := a.engine.(Truster)
	return func() tea.Msg {
		t, err := e.Trust(a.ctx)
		return doneMsg{err: err, then: func(a *App) tea.Cmd { return a.showTrust(e, t) }}
	}
}

func (a *App) showTrust(e Truster, t Trust) tea.Cmd {
	if !t.Given && len(t.LeftOut) > 0 {
		a.push(&trustSheet{t: t, at: 2})
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
	l.pick = func(a *App, it item) tea.Cmd {
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
