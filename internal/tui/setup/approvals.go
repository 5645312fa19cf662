package setup

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/approval"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
)

// Approvals shows what the person allowed from then on, and withdraws what they
// choose.
func (r *Room) Approvals() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		all, err := r.access.Able.Approvals.Approvals(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Open{Sheet: dialog.NewList(r.approvals(all))}
	})
}

func (r *Room) approvals(all []api.Approval) dialog.List {
	l := dialog.List{Title: "what you allowed", Hint: "enter take it back · esc close", Empty: "nothing is allowed beyond what the configuration says"}
	byID := map[string]api.Approval{}
	for _, p := range all {
		id := p.Permission + "\n" + p.Pattern
		byID[id] = p
		var until time.Time
		if p.Until != 0 {
			until = time.UnixMilli(p.Until)
		}
		l.Items = append(l.Items, dialog.Item{ID: id, Title: styled.OneLine(approval.Words(p.Permission, p.Pattern)), Detail: approval.Lasts(p.Stored, until), Own: true})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		return r.access.Do(func(ctx context.Context) tea.Msg {
			return dialog.Done{Text: "taken back: " + it.Title + ". It is asked about again", Err: r.access.Able.Approvals.Revoke(ctx, byID[it.ID])}
		})
	}
	return l
}
