package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/approval"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

// approvalList shows what the person allowed from then on, and takes back what they
// choose.
func (a *App) approvalList() tea.Cmd {
	e := a.can.Approvals
	return func() tea.Msg {
		all, err := e.Approvals(a.ctx)
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.push(newList(a.approvals(e, all))); return nil }}
	}
}

func (a *App) approvals(e engine.Revoker, all []api.Approval) list {
	l := list{title: "what you allowed", hint: "enter take it back · esc close", empty: "nothing is allowed beyond what the configuration says"}
	byID := map[string]api.Approval{}
	for _, p := range all {
		id := p.Permission + "\n" + p.Pattern
		byID[id] = p
		l.items = append(l.items, item{id: id, title: styled.OneLine(approval.Words(p.Permission, p.Pattern)), detail: approval.Where(p.Stored)})
	}
	l.pick = func(it item) tea.Msg {
		p := byID[it.id]
		return a.do("taken back: "+it.title+". It is asked about again", func(ctx context.Context) error { return e.Revoke(ctx, p) })
	}
	return l
}
