package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	searchPause = 250 * time.Millisecond // in the typing, before what was said is searched
	searchHits  = 30
)

// searchLater searches what was said for the words of a list's filter, when the
// person pauses. What is found stands below the titles.
func (a *App) searchLater(s *dialog.List, e engine.Searcher, found func(api.Hit) dialog.Item) tea.Cmd {
	words := strings.TrimSpace(s.Filter.Text())
	s.Items = slices.DeleteFunc(s.Items, func(it dialog.Item) bool { return it.Found })
	s.Refresh()
	if len(words) < 3 { // or one Chinese character
		return nil
	}
	wait := a.after(searchPause)
	if wait == nil {
		return nil
	}
	stale := func(a *App) bool { return a.sheets.Top() != s || strings.TrimSpace(s.Filter.Text()) != words }
	search := func() tea.Msg {
		hits, err := e.Search(a.access.Context(), words, searchHits)
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			if stale(a) {
				return nil
			}
			for _, h := range hits {
				s.Items = append(s.Items, found(h))
			}
			s.Refresh()
			return nil
		}}
	}
	return func() tea.Msg {
		if wait() == nil {
			return nil
		}
		return doneMsg{then: func(a *App) tea.Cmd {
			if stale(a) {
				return nil
			}
			return search
		}}
	}
}

// hitItem shows a hit in the list of sessions.
func (a *App) hitItem(h api.Hit) dialog.Item {
	return dialog.Item{
		ID: string(h.Session) + "\x00" + string(h.Message), Title: styled.OneLine(h.Title), Detail: styled.OneLine(h.Text),
		Right: time.UnixMilli(h.Updated).In(a.opts.Now().Location()).Format("2 Jan"), Found: true,
	}
}

func hitFoot(l look.Look, it dialog.Item) styled.Line {
	return styled.Plain(it.Detail, l.FG(theme.Muted))
}

// openMessage opens a session where a message is.
func (a *App) openMessage(id string) tea.Cmd {
	session, message, _ := strings.Cut(id, "\x00")
	cmd := a.open(lathe.SessionID(session))
	a.goal = lathe.MessageID(message)
	return cmd
}

// toGoal jumps to the message that is looked for, if it was read; else older ones
// are.
func (a *App) toGoal() tea.Cmd {
	if a.goal == "" {
		return nil
	}
	want, over := a.conv.Reach(a.goal)
	if over {
		a.goal = ""
	}
	return a.apply(want)
}
