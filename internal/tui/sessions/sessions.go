// Package sessions has what can be done with sessions: listing, searching and opening
// them, renaming, archiving, deleting, forking, exporting and sharing.
package sessions

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Host is what the room has to know of the screen.
type Host interface {
	dialog.Host
	Session() lathe.Session // on screen
	Now() time.Time
	// Working reports whether a turn runs in a session, Waits whether it waits for
	// the person.
	Working(id lathe.SessionID) bool
	Waits(id lathe.SessionID) bool
}

// Files is how the room writes on the person's machine.
type Files struct {
	// Write writes a new file and returns its path; nil: files cannot be written.
	Write  func(name string, data []byte) (string, error)
	Editor []string // the person's own; empty: none
}

// Room is where sessions are chosen and looked after.
type Room struct {
	host   Host
	access *engine.Access
	files  Files
}

// What the room wants done.
type (
	// Found opens a session where a message is.
	Found struct {
		Session lathe.SessionID
		Message lathe.MessageID
	}
	// Forked opens a copy of a session, with a draft for it.
	Forked struct {
		Session lathe.SessionID
		Draft   edit.Written
	}
)

// New returns the room.
func New(h Host, access *engine.Access, files Files) *Room { return &Room{h, access, files} }

// List shows the sessions.
func (r *Room) List() tea.Msg { return r.list("", "") }

// list shows the sessions with a filter, the mark on one of them.
func (r *Room) list(filter string, at lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.List(ctx, "")
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Here(func() tea.Msg { return r.show("sessions", list, filter, at, false) })
	})
}

// Archived shows what was put away.
func (r *Room) Archived() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.Able.Archive.Archived(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Here(func() tea.Msg { return r.show("archived sessions", list, "", "", true) })
	})
}

func (r *Room) show(title string, sessions []lathe.Session, filter string, at lathe.SessionID, archived bool) tea.Msg {
	hint := fmt.Sprintf("enter open · tab more · %s rename · %s delete", r.host.Keys().For(keys.Rename), r.host.Keys().For(keys.Delete))
	l := dialog.List{Title: title, Hint: hint, Empty: "there is no session in this directory yet"}
	if archived {
		l.Empty = "no session was archived"
	}
	byID := map[string]lathe.Session{}
	for _, s := range sessions {
		byID[string(s.ID)] = s
		l.Items = append(l.Items, r.sessionItem(s, at))
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if it.Found {
			return r.openMessage(it.ID)
		}
		return chat.OpenSession{ID: lathe.SessionID(it.ID)}
	}
	l.Foot = func(l look.Look, it dialog.Item) styled.Line {
		if it.Found {
			return hitFoot(l, it)
		}
		return sessionFoot(l, byID[it.ID])
	}
	s := dialog.NewList(l)
	if r.access.Able.Search != nil && !archived {
		s.Asked = func() tea.Msg {
			return r.searchLater(s, func(h api.Hit) dialog.Item {
				it := r.hitItem(h)
				byID[it.ID] = lathe.Session{ID: h.Session, Title: h.Title, Updated: time.UnixMilli(h.Updated)}
				return it
			})
		}
	}
	back := func() tea.Msg { return r.list(s.Filter.Text(), "") }
	if archived {
		back = r.Archived
	}
	s.Keys = map[keys.Action]func(dialog.Item) tea.Msg{
		keys.Rename: func(it dialog.Item) tea.Msg { return dialog.All{dialog.Close{Sheet: s}, r.rename(byID[it.ID], back)} },
		keys.Delete: func(it dialog.Item) tea.Msg {
			return dialog.All{dialog.Close{Sheet: s}, r.deleteSession(byID[it.ID], back)}
		},
	}
	if e := r.access.Able.Archive; e != nil {
		s.Keys[keys.Archive] = func(it dialog.Item) tea.Msg {
			return dialog.All{dialog.Close{Sheet: s}, r.archive(e, byID[it.ID], !archived, back)}
		}
	}
	s.Strokes = map[string]func(dialog.Item) tea.Msg{
		"tab": func(it dialog.Item) tea.Msg {
			return dialog.All{dialog.Close{Sheet: s}, r.sessionActions(byID[it.ID], archived, back)}
		},
	}
	s.Filter.Type(filter)
	s.Refresh()
	return dialog.Open{Sheet: s}
}

func (r *Room) sessionItem(s lathe.Session, at lathe.SessionID) dialog.Item {
	it := dialog.Item{
		ID: string(s.ID), Title: styled.OneLine(s.Title), Quoted: true, Group: r.host.Look().Day(s.Updated, r.host.Now()),
		Right: s.Updated.In(r.host.Now().Location()).Format("15:04"), Current: s.ID == r.host.Session().ID,
	}
	if at != "" {
		it.Current = s.ID == at
	}
	if r.host.Working(s.ID) {
		it.Detail = "working"
	}
	if r.host.Waits(s.ID) {
		it.Detail = "waits for you"
	}
	if s.Share != nil {
		it.Detail = look.Or(it.Detail, "shared")
	}
	return it
}

func sessionFoot(l look.Look, s lathe.Session) styled.Line {
	text := string(s.ID)
	if n := s.Tokens.Prompt(); n > 0 {
		text += l.Glyph(" · ", ", ") + l.T(look.Short(n)+" tokens sent")
	}
	if s.Cost > 0 {
		text += l.Glyph(" · ", ", ") + s.Cost.String()
	}
	if s.Summary != nil && s.Summary.Files > 0 {
		text += l.Glyph(" · ", ", ") + l.T(say.Plural(s.Summary.Files, "file")+fmt.Sprintf(", +%d -%d", s.Summary.Additions, s.Summary.Deletions))
	}
	return styled.Plain(styled.OneLine(text), l.FG(theme.Muted))
}

// sessionActions offers what can be done with a session. Leaving goes back to
// where it was chosen.
func (r *Room) sessionActions(s lathe.Session, archived bool, back func() tea.Msg) tea.Msg {
	l := dialog.List{Title: styled.OneLine(s.Title), Hint: "enter do it · esc back"}
	do := map[string]func() tea.Msg{}
	add := func(id, title, detail string, run func() tea.Msg) {
		l.Items = append(l.Items, dialog.Item{ID: id, Title: title, Detail: detail})
		do[id] = run
	}
	add("open", "open it", "", func() tea.Msg { return chat.OpenSession{ID: s.ID} })
	add("rename", "rename it", "", func() tea.Msg { return r.rename(s, back) })
	if r.access.Able.Fork != nil {
		add("fork", "fork it", "a copy that goes its own way", func() tea.Msg { return r.Fork(s.ID, "", edit.Written{}) })
	}
	add("children", "sessions of its subagents", "", func() tea.Msg { return r.Children(s.ID) })
	if r.access.Able.Export != nil {
		add("export", "export it", "to a file, or to your editor", func() tea.Msg { return r.Export(s) })
	}
	if r.access.Able.Share != nil {
		if s.Share == nil {
			add("share", "share it", "", func() tea.Msg { return r.Share(s) })
		} else {
			add("unshare", "take it back", styled.OneLine(s.Share.URL), func() tea.Msg { return r.Unshare(s) })
		}
	}
	if e := r.access.Able.Archive; e != nil {
		title, detail := "archive it", "it leaves the list and stays whole"
		if archived {
			title, detail = "bring it back", "to the list of sessions"
		}
		add("archive", title, detail, func() tea.Msg { return r.archive(e, s, !archived, back) })
	}
	add("delete", "delete it", "with everything in it", func() tea.Msg { return r.deleteSession(s, back) })
	l.Pick = func(it dialog.Item) tea.Msg { return do[it.ID]() }
	l.Closed = back
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// archive puts a session away, or brings it back.
func (r *Room) archive(e engine.Archiver, s lathe.Session, on bool, back func() tea.Msg) tea.Msg {
	text := "archived; /archived shows it"
	if !on {
		text = "it is in the list of sessions again"
	}
	then := back()
	return r.access.Do(func(ctx context.Context) tea.Msg {
		return dialog.Done{Text: text, Err: e.Archive(ctx, s.ID, on), Then: then}
	})
}

// deleteSession asks once more, then deletes.
func (r *Room) deleteSession(s lathe.Session, back func() tea.Msg) tea.Msg {
	l := dialog.List{Title: "delete " + styled.OneLine(s.Title) + "?", Hint: "this cannot be undone"}
	l.Items = []dialog.Item{{ID: "no", Title: "keep it"}, {ID: "yes", Title: "delete it with everything in it"}}
	l.Closed = back
	l.Pick = func(it dialog.Item) tea.Msg {
		if it.ID != "yes" {
			return back()
		}
		then := back()
		return r.access.Do(func(ctx context.Context) tea.Msg {
			return dialog.Done{Text: "deleted", Err: r.access.Delete(ctx, s.ID), Then: then}
		})
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}
