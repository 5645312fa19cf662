package plugins

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// hooksSheet asks whether the hooks of a file run.
type hooksSheet struct {
	dialog.Patience
	access *engine.Access
	f      api.ForeignHooks
	at     int
	first  int // the line of the first answer, as of the last drawing
	body   dialog.Reader
}

var hooksAnswers = [...][2]string{{"y", "run them, as they are now"}, {"n", "no; you are asked again when they change"}}

// Tall reports whether the hooks fill the screen.
func (s *hooksSheet) Tall() bool { return s.body.Full }

// Wheel scrolls the hooks.
func (s *hooksSheet) Wheel(by int) bool { return s.body.Wheel(by) }

// Paste does nothing.
func (s *hooksSheet) Paste(string) {}

// Key answers, or goes through the answers and the hooks.
func (s *hooksSheet) Key(_ dialog.Host, k tea.KeyPressMsg) tea.Msg {
	n := len(hooksAnswers)
	switch stroke := dialog.Stroke(k); stroke {
	case "up", "shift+tab", "left":
		s.at = (s.at + n - 1) % n
	case "down", "tab", "right":
		s.at = (s.at + 1) % n
	case "enter":
		return s.answer(s.at == 0)
	case "esc", "ctrl+c":
		return s.answer(false)
	default:
		if s.body.Key(stroke) {
			return nil
		}
		for i, an := range hooksAnswers {
			if an[0] == stroke {
				return s.answer(i == 0)
			}
		}
	}
	return nil
}

// Click marks an answer, and takes the one that is marked.
func (s *hooksSheet) Click(_ dialog.Host, y int) tea.Msg {
	i := y - s.first
	switch {
	case i < 0 || i >= len(hooksAnswers):
	case s.at == i:
		return s.answer(i == 0)
	default:
		s.at = i
	}
	return nil
}

func (s *hooksSheet) answer(run bool) tea.Msg {
	text := "the hooks of " + s.f.File + " do not run; /plugins shows them"
	if run {
		text = "the hooks of " + s.f.File + " run from now on"
	}
	return dialog.All{dialog.Close{Sheet: s}, s.access.Do(func(ctx context.Context) tea.Msg {
		err := s.access.Able.Plugins.DecideHooks(ctx, api.HooksDecision{File: s.f.File, Digest: s.f.Digest, Run: run})
		return dialog.Done{Text: styled.OneLine(text), Err: err}
	})}
}

// Draw shows the hooks and the answers.
func (s *hooksSheet) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.Title("run your hooks of Claude Code?", "they are commands")}
	text := s.f.File + " has these hooks. lathe calls them as Claude Code does, if you want that:"
	if s.f.Repository {
		text = s.f.File + " of this repository has these hooks. Say yes only if you know them:"
	}
	body := styled.Wrap(styled.Plain(styled.OneLine(text), l.FG(theme.Text)), l.Width-3, l.Method)
	for _, h := range s.f.Hooks {
		line := styled.Line{{Text: styled.OneLine(h.Event), Style: l.FG(theme.Warning)}, {Text: "  " + styled.OneLine(h.Matcher), Style: l.FG(theme.Muted)},
			{Text: "  " + styled.OneLine(h.Command), Style: l.FG(theme.Text)}}
		body = append(body, styled.Wrap(line, l.Width-3, l.Method)...)
	}
	for _, p := range s.f.Problems {
		body = append(body, styled.Wrap(styled.Plain(styled.OneLine(p), l.FG(theme.Muted)), l.Width-3, l.Method)...)
	}
	for _, line := range s.body.Window(l, body, max(1, height-1-len(hooksAnswers))) {
		out = append(out, l.Row(line, false))
	}
	s.first = len(out)
	for i, an := range hooksAnswers {
		line := styled.Line{{Text: an[0] + "  ", Style: l.FG(theme.Accent, styled.Bold)}, {Text: an[1], Style: l.FG(theme.Text)}}
		if n := s.body.Unread(); i == 0 && n > 0 {
			line = append(line, styled.Span{Text: "  not shown to its end: " + look.Plural(n, "line") + " below", Style: l.FG(theme.Warning)})
		}
		out = append(out, l.Row(line, i == s.at))
	}
	return out, -1, 0
}
