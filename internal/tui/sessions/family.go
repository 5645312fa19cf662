package sessions

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/styled"
)

// Rename asks for a title.
func (r *Room) Rename(s lathe.Session) tea.Msg { return r.rename(s, nil) }

// rename asks for a title and goes back to where the session was chosen.
func (r *Room) rename(s lathe.Session, back func() tea.Msg) tea.Msg {
	f := &dialog.Field{Title: "rename the session", Hint: "enter rename · esc cancel", Left: back}
	if !strings.HasPrefix(s.Title, "New session - ") {
		f.Edit.Type(styled.OneLine(s.Title))
	}
	f.Done = func(text string) tea.Msg {
		if text == "" {
			return nil
		}
		var then tea.Msg
		if back != nil {
			then = back()
		}
		return r.access.Do(func(ctx context.Context) tea.Msg {
			return dialog.Done{Text: "renamed", Err: r.access.Rename(ctx, s.ID, text), Then: then}
		})
	}
	return dialog.Open{Sheet: f}
}

// nobody is shown if a session has no subagents.
var nobody = dialog.Tell{Kind: dialog.Info, Text: "no subagent worked in this session"}

// Child goes to the next session that a subagent works in, or for -1 to the one
// before.
func (r *Room) Child(dir int) tea.Msg {
	s := r.host.Session()
	return r.access.Do(func(ctx context.Context) tea.Msg {
		of := s.ID
		if s.ParentID != "" {
			of = s.ParentID
		}
		list, err := r.access.Children(ctx, of)
		switch {
		case err != nil:
			return dialog.Fail(err)
		case len(list) == 0:
			return nobody
		}
		at := slices.IndexFunc(list, func(o lathe.Session) bool { return o.ID == s.ID })
		next := list[(at+dir+2*len(list))%len(list)].ID
		if at < 0 && dir > 0 {
			next = list[0].ID
		}
		return chat.OpenSession{ID: next}
	})
}

// Children offers the sessions that subagents of a session work in.
func (r *Room) Children(of lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.Children(ctx, of)
		switch {
		case err != nil:
			return dialog.Fail(err)
		case len(list) == 0:
			return nobody
		}
		return dialog.Here(func() tea.Msg { return r.show("subagent sessions", list, "", "", false) })
	})
}

// Fork copies a session, up to a message if one is named, whose text then goes into
// the copy's input.
func (r *Room) Fork(id lathe.SessionID, upTo lathe.MessageID, text edit.Written) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		s, err := r.access.Able.Fork.Fork(ctx, id, upTo)
		return dialog.Done{Text: "this is the fork", Err: err, Then: Forked{s.ID, text}}
	})
}
