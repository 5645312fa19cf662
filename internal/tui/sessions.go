package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/ask"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// sessionList reads the sessions, then shows them.
func (a *App) sessionList() tea.Cmd { return a.listSessions("", "") }

// listSessions shows the sessions with a filter, the mark on one of them.
func (a *App) listSessions(filter string, at lathe.SessionID) tea.Cmd {
	return func() tea.Msg {
		sessions, err := a.access.List(a.access.Context(), "")
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			a.showSessions("sessions", sessions, filter, at, false)
			return nil
		}}
	}
}

// archiveList shows what was put away.
func (a *App) archiveList() tea.Cmd {
	e := a.access.Able.Archive
	return func() tea.Msg {
		sessions, err := e.Archived(a.access.Context())
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			a.showSessions("archived sessions", sessions, "", "", true)
			return nil
		}}
	}
}

func (a *App) showSessions(title string, sessions []lathe.Session, filter string, at lathe.SessionID, archived bool) {
	hint := fmt.Sprintf("enter open · tab more · %s rename · %s delete", a.keys.For(keys.Rename), a.keys.For(keys.Delete))
	l := dialog.List{Title: title, Hint: hint, Empty: "there is no session in this directory yet"}
	if archived {
		l.Empty = "no session was archived"
	}
	byID := map[string]lathe.Session{}
	for _, s := range sessions {
		byID[string(s.ID)] = s
		l.Items = append(l.Items, a.sessionItem(s, at))
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if it.Found {
			return a.openMessage(it.ID)
		}
		return a.open(lathe.SessionID(it.ID))
	}
	l.Foot = func(l look.Look, it dialog.Item) styled.Line {
		if it.Found {
			return hitFoot(l, it)
		}
		return sessionFoot(l, byID[it.ID])
	}
	s := dialog.NewList(l)
	if e := a.access.Able.Search; e != nil && !archived {
		s.Asked = func() tea.Msg {
			return a.searchLater(s, e, func(h api.Hit) dialog.Item {
				it := a.hitItem(h)
				byID[it.ID] = lathe.Session{ID: h.Session, Title: h.Title, Updated: time.UnixMilli(h.Updated)}
				return it
			})
		}
	}
	back := func(a *App) tea.Cmd { return a.listSessions(s.Filter.Text(), "") }
	if archived {
		back = (*App).archiveList
	}
	s.Keys = map[keys.Action]func(dialog.Item) tea.Msg{
		keys.Rename: func(it dialog.Item) tea.Msg { a.sheets.Close(s); return a.renameThen(byID[it.ID], back) },
		keys.Delete: func(it dialog.Item) tea.Msg { a.sheets.Close(s); return a.deleteSession(byID[it.ID], back) },
	}
	if e := a.access.Able.Archive; e != nil {
		s.Keys[keys.Archive] = func(it dialog.Item) tea.Msg { a.sheets.Close(s); return a.archive(e, byID[it.ID], !archived, back) }
	}
	s.Strokes = map[string]func(dialog.Item) tea.Msg{
		"tab": func(it dialog.Item) tea.Msg { a.sheets.Close(s); return a.sessionActions(byID[it.ID], archived, back) },
	}
	s.Filter.Type(filter)
	s.Refresh()
	a.push(s)
}

func (a *App) sessionItem(s lathe.Session, at lathe.SessionID) dialog.Item {
	it := dialog.Item{
		ID: string(s.ID), Title: styled.OneLine(s.Title), Group: day(s.Updated, a.opts.Now()),
		Right: s.Updated.In(a.opts.Now().Location()).Format("15:04"), Current: s.ID == a.session.ID,
	}
	if at != "" {
		it.Current = s.ID == at
	}
	if st := a.status[s.ID]; st != nil {
		it.Detail = "working"
	}
	for _, w := range a.sheets.Waiting() {
		if q, ok := w.(*ask.Permission); ok && q.Ask.SessionID == s.ID {
			it.Detail = "waits for you"
		}
	}
	if s.Share != nil {
		it.Detail = look.Or(it.Detail, "shared")
	}
	return it
}

func sessionFoot(l look.Look, s lathe.Session) styled.Line {
	text := string(s.ID)
	if n := s.Tokens.Prompt(); n > 0 {
		text += l.Glyph(" · ", ", ") + look.Short(n) + " tokens sent"
	}
	if s.Cost > 0 {
		text += l.Glyph(" · ", ", ") + s.Cost.String()
	}
	if s.Summary != nil && s.Summary.Files > 0 {
		text += fmt.Sprintf("%s%d files, +%d -%d", l.Glyph(" · ", ", "), s.Summary.Files, s.Summary.Additions, s.Summary.Deletions)
	}
	return styled.Plain(styled.OneLine(text), l.FG(theme.Muted))
}

// day names the day of a time.
func day(t, now time.Time) string {
	t = t.In(now.Location())
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	switch {
	case !t.Before(today):
		return "today"
	case !t.Before(today.AddDate(0, 0, -1)):
		return "yesterday"
	}
	return t.Format("Monday 2 January 2006")
}

// sessionActions offers what can be done with a session. Leaving goes back to
// where it was chosen.
func (a *App) sessionActions(s lathe.Session, archived bool, back func(*App) tea.Cmd) tea.Cmd {
	l := dialog.List{Title: styled.OneLine(s.Title), Hint: "enter do it · esc back"}
	do := map[string]func(*App) tea.Cmd{}
	add := func(id, title, detail string, run func(*App) tea.Cmd) {
		l.Items = append(l.Items, dialog.Item{ID: id, Title: title, Detail: detail})
		do[id] = run
	}
	add("open", "open it", "", func(a *App) tea.Cmd { return a.open(s.ID) })
	add("rename", "rename it", "", func(a *App) tea.Cmd { return a.renameThen(s, back) })
	if a.access.Able.Fork != nil {
		add("fork", "fork it", "a copy that goes its own way", func(a *App) tea.Cmd { return a.forkOf(s.ID, "") })
	}
	add("children", "sessions of its subagents", "", func(a *App) tea.Cmd { return a.childList(s.ID) })
	if a.access.Able.Export != nil {
		add("export", "export it", "to a file, or to your editor", func(a *App) tea.Cmd { return a.exportOf(s) })
	}
	if e := a.access.Able.Share; e != nil {
		if s.Share == nil {
			add("share", "share it", "", func(a *App) tea.Cmd { return a.shareOf(e, s) })
		} else {
			add("unshare", "take it back", styled.OneLine(s.Share.URL), func(a *App) tea.Cmd { return a.unshareOf(e, s) })
		}
	}
	if e := a.access.Able.Archive; e != nil {
		title, detail := "archive it", "it leaves the list and stays whole"
		if archived {
			title, detail = "bring it back", "to the list of sessions"
		}
		add("archive", title, detail, func(a *App) tea.Cmd { return a.archive(e, s, !archived, back) })
	}
	add("delete", "delete it", "with everything in it", func(a *App) tea.Cmd { return a.deleteSession(s, back) })
	l.Pick = func(it dialog.Item) tea.Msg { return do[it.ID](a) }
	l.Closed = func() tea.Msg { return back(a) }
	a.push(dialog.NewList(l))
	return nil
}

// archive puts a session away, or brings it back.
func (a *App) archive(e engine.Archiver, s lathe.Session, on bool, back func(*App) tea.Cmd) tea.Cmd {
	text := "archived; /archived shows it"
	if !on {
		text = "it is in the list of sessions again"
	}
	return func() tea.Msg { return doneMsg{text: text, err: e.Archive(a.access.Context(), s.ID, on), then: back} }
}

// deleteSession asks once more, then deletes.
func (a *App) deleteSession(s lathe.Session, back func(*App) tea.Cmd) tea.Cmd {
	l := dialog.List{Title: "delete " + styled.OneLine(s.Title) + "?", Hint: "this cannot be undone"}
	l.Items = []dialog.Item{{ID: "no", Title: "keep it"}, {ID: "yes", Title: "delete it with everything in it"}}
	l.Closed = func() tea.Msg { return back(a) }
	l.Pick = func(it dialog.Item) tea.Msg {
		if it.ID != "yes" {
			return back(a)
		}
		return func() tea.Msg {
			return doneMsg{text: "deleted", err: a.access.Delete(a.access.Context(), s.ID), then: back}
		}
	}
	a.push(dialog.NewList(l))
	return nil
}

// childList offers the sessions that subagents of a session work in.
func (a *App) childList(of lathe.SessionID) tea.Cmd {
	return func() tea.Msg {
		sessions, err := a.access.Children(a.access.Context(), of)
		if err == nil && len(sessions) == 0 {
			return doneMsg{text: "no subagent worked in this session"}
		}
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			a.showSessions("subagent sessions", sessions, "", "", false)
			return nil
		}}
	}
}

// forkOf copies a session, before a message if one is named: its text stands in
// the input of the fork then.
func (a *App) forkOf(id lathe.SessionID, upTo lathe.MessageID) tea.Cmd {
	f, draft := a.access.Able.Fork, edit.Editor{}
	if text := a.conv.Text(upTo); text != "" {
		draft.Set(text)
	}
	return func() tea.Msg {
		s, err := f.Fork(a.access.Context(), id, upTo)
		return doneMsg{text: "this is the fork", err: err, then: func(a *App) tea.Cmd {
			if !draft.Empty() {
				a.drafts[s.ID] = draft
			}
			return a.open(s.ID)
		}}
	}
}
