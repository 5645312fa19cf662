package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/approval"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

// approvalList shows what the person allowed from then on, and takes back what they
// choose.
func (a *App) approvalList() tea.Cmd {
	e := a.access.Able.Approvals
	return func() tea.Msg {
		all, err := e.Approvals(a.access.Context())
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.push(dialog.NewList(a.approvals(e, all))); return nil }}
	}
}

func (a *App) approvals(e engine.Revoker, all []api.Approval) dialog.List {
	l := dialog.List{Title: "what you allowed", Hint: "enter take it back · esc close", Empty: "nothing is allowed beyond what the configuration says"}
	byID := map[string]api.Approval{}
	for _, p := range all {
		id := p.Permission + "\n" + p.Pattern
		byID[id] = p
		l.Items = append(l.Items, dialog.Item{ID: id, Title: styled.OneLine(approval.Words(p.Permission, p.Pattern)), Detail: approval.Where(p.Stored)})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		p := byID[it.ID]
		return a.do("taken back: "+it.Title+". It is asked about again", func(ctx context.Context) error { return e.Revoke(ctx, p) })
	}
	return l
}
