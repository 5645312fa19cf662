package setup

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// trustSheet asks whether a repository may steer lathe.
type trustSheet struct {
	dialog.Patience
	access *engine.Access
	t      api.Trust
	sure   bool // the person wants it remembered and is asked to confirm
	dialog.Choice
}

// newTrustSheet asks about a repository; nothing is allowed by pressing Enter alone.
func newTrustSheet(access *engine.Access, t api.Trust, p dialog.Patience) *trustSheet {
	s := &trustSheet{access: access, t: t, Patience: p}
	s.Choice = dialog.Choice{Answers: [][2]string{
		{"y", "trust it until lathe ends"}, {"r", "trust it as it is now, and remember"}, {"n", "no; it works without what it brings"},
	}, At: 2, Yes: 2, Given: s.choose, Left: s.leave}
	return s
}

// Trust asks the question at the start, if there is one. If that cannot be
// read, /trust says so.
func (r *Room) Trust(now func() time.Time) tea.Cmd {
	e := r.access.Able.Trust
	if e == nil {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		t, err := e.Trust(ctx)
		if err != nil || t.Given || len(t.LeftOut) == 0 {
			return nil
		}
		return dialog.Wait{Sheet: newTrustSheet(r.access, t, dialog.Patience{Came: now()})}
	})
}

// Key answers, moves through the answers, or scrolls.
func (s *trustSheet) Key(h dialog.Host, k tea.KeyPressMsg) tea.Msg {
	if dialog.Stroke(k) != dialog.GiveKey {
		return s.Choice.Key(h, k)
	}
	if s.sure {
		return s.decide(true)
	}
	return nil
}

// leave goes back to the question, or answers no.
func (s *trustSheet) leave() tea.Msg {
	if s.sure {
		s.sure = false
		return nil
	}
	return s.choose(2)
}

func (s *trustSheet) choose(i int) tea.Msg {
	switch s.sure = i == 1; i {
	case 0:
		return s.decide(false)
	case 1:
		s.At = i
		return nil
	}
	return dialog.All{dialog.Close{Sheet: s}, dialog.Tell{Kind: dialog.Info, Text: "not trusted; /trust shows what has no effect and asks again"}}
}

// decide trusts the repository, for good if keep is set.
func (s *trustSheet) decide(keep bool) tea.Msg {
	text := "this repository is trusted until lathe ends; /trust takes it back. Its keys and theme count from the next start"
	if keep {
		text = strings.Replace(text, "until lathe ends", "as it is now, and that is stored", 1)
	}
	return dialog.All{dialog.Close{Sheet: s}, s.access.Do(func(ctx context.Context) tea.Msg {
		return dialog.Done{Text: text, Err: s.access.Able.Trust.Decide(ctx, s.t, keep), Then: Trusted{}}
	})}
}

// Draw shows what the repository brings, and the answers.
func (s *trustSheet) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	text := "It brings settings that run programs or loosen rules. They have no effect unless you trust it:"
	body := styled.Wrap(styled.Plain(l.T(text), l.FG(theme.Text)), l.Width-3, l.Method)
	for _, o := range s.t.LeftOut {
		line := styled.Line{{Text: styled.OneLine(o.Path), Style: l.FG(theme.Warning)}, {Text: "  " + l.T(styled.OneLine(o.Reason)), Style: l.FG(theme.Text)},
			{Text: "  " + styled.OneLine(o.Where), Style: l.FG(theme.Muted)}}
		body = append(body, styled.Wrap(line, l.Width-3, l.Method)...)
	}
	return s.Show(l, height, l.Title("may this repository steer lathe?", "say yes only if you know it"), body, func(i int) string {
		if i == 1 && s.sure {
			return ": " + dialog.GiveKey + " stores that, esc does not"
		}
		return ""
	})
}

// TrustPage shows what the repository brings and offers to change the decision.
func (r *Room) TrustPage() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		t, err := r.access.Able.Trust.Trust(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		return r.showTrust(t)
	})
}

func (r *Room) showTrust(t api.Trust) tea.Msg {
	if !t.Given && len(t.LeftOut) > 0 {
		return dialog.Open{Sheet: newTrustSheet(r.access, t, dialog.Patience{})}
	}
	state := look.Or(t.State, "not trusted")
	if !t.Given && len(t.Files) == 0 {
		state = "not needed"
	}
	l := dialog.List{Title: "trust: " + styled.OneLine(state), Hint: "enter do it · esc close"}
	switch {
	case t.Given:
		l.Items = append(l.Items, dialog.Item{ID: "keep", Title: "leave it as it is"}, dialog.Item{ID: "no", Title: "trust it no more"})
	case len(t.Files) == 0:
		l.Items = append(l.Items, dialog.Item{ID: "keep", Title: "nothing in this repository steers lathe", Detail: "there is nothing to decide"})
	default:
		l.Items = append(l.Items, dialog.Item{ID: "keep", Title: "what it brings needs no trust", Detail: strings.Join(t.Files, ", ")})
	}
	l.Foot = func(l look.Look, _ dialog.Item) styled.Line {
		return styled.Plain(styled.OneLine(l.Say.Labelled(t.Dir, strings.Join(t.Files, ", "))), l.FG(theme.Muted))
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if it.ID != "no" {
			return nil
		}
		return r.access.Do(func(ctx context.Context) tea.Msg {
			return dialog.Done{Text: "it is trusted no more", Err: r.access.Able.Trust.Distrust(ctx), Then: r.choice.Load()}
		})
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}
