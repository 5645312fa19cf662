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
	dialog.Choice
}

// newHooksSheet asks about a file; nothing is allowed by pressing Enter alone.
func newHooksSheet(access *engine.Access, f api.ForeignHooks, p dialog.Patience) *hooksSheet {
	s := &hooksSheet{access: access, f: f, Patience: p}
	s.Choice = dialog.Choice{
		Answers: [][2]string{{"y", "run them, as they are now"}, {"n", "no; you are asked again when they change"}}, At: 1, Yes: 1,
		Given: func(i int) tea.Msg { return s.answer(i == 0) }, Left: func() tea.Msg { return s.answer(false) },
	}
	return s
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
	text := s.f.File + " has these hooks. lathe calls them as Claude Code does, if you want that:"
	if s.f.Repository {
		text = s.f.File + " of this repository has these hooks. Say yes only if you know them:"
	}
	body := styled.Wrap(styled.Plain(styled.OneLine(l.T(text)), l.FG(theme.Text)), l.Width-3, l.Method)
	for _, h := range s.f.Hooks {
		line := styled.Line{{Text: styled.OneLine(h.Event), Style: l.FG(theme.Warning)}, {Text: "  " + styled.OneLine(h.Matcher), Style: l.FG(theme.Muted)},
			{Text: "  " + styled.OneLine(h.Command), Style: l.FG(theme.Text)}}
		body = append(body, styled.Wrap(line, l.Width-3, l.Method)...)
	}
	for _, p := range s.f.Problems {
		body = append(body, styled.Wrap(styled.Plain(styled.OneLine(l.T(p)), l.FG(theme.Muted)), l.Width-3, l.Method)...)
	}
	return s.Show(l, height, l.Title("run your hooks of Claude Code?", "they are commands"), body, nil)
}
