package sessions

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

// Tree shows a session with all that work for it.
func (r *Room) Tree(id lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		t, err := r.access.Able.Tree.Tree(ctx, id)
		return dialog.Done{Err: err, Then: dialog.Open{Sheet: &dialog.Page{Title: "who works for this session", Lines: func(l look.Look) []styled.Line {
			f := dialog.Facts{Look: l}
			treeLines(&f, t, 0)
			f.Note("/children opens one; /stop there stops it, /stop here stops all of them")
			return f.Out
		}}}}
	})
}

func treeLines(f *dialog.Facts, h api.Helper, depth int) {
	text := strings.Repeat("  ", depth) + h.Title + ", " + h.Cost.String()
	if h.Branch != "" {
		text += ", branch " + h.Branch
	}
	if h.Background {
		text += ", in the background"
	}
	f.Row(h.State, text)
	for _, below := range h.Helpers {
		treeLines(f, below, depth+1)
	}
}

// Stop stops what a session does, and all subagents that work for it.
func (r *Room) Stop(id lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		return dialog.Done{Text: "stopped, with all that work for it", Err: r.access.Abort(ctx, id)}
	})
}
