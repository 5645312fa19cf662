package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	searchPause = 250 * time.Millisecond // in the typing, before what was said is searched
	searchHits  = 30
)

// searchLater searches what was said for the words of a list's filter, when the
// person pauses. What is found stands below the titles.
func (a *App) searchLater(s *list, e engine.Searcher, found func(api.Hit) item) tea.Cmd {
	words := strings.TrimSpace(s.filter.Text())
	s.items = slices.DeleteFunc(s.items, func(it item) bool { return it.found })
	s.refresh()
	if len(words) < 3 { // or one Chinese character
		return nil
	}
	wait := a.after(searchPause)
	if wait == nil {
		return nil
	}
	stale := func(a *App) bool { return a.sheets.Top() != s || strings.TrimSpace(s.filter.Text()) != words }
	search := func() tea.Msg {
		hits, err := e.Search(a.ctx, words, searchHits)
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			if stale(a) {
				return nil
			}
			for _, h := range hits {
				s.items = append(s.items, found(h))
			}
			s.refresh()
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
func (a *App) hitItem(h api.Hit) item {
	return item{
		id: string(h.Session) + "\x00" + string(h.Message), title: styled.OneLine(h.Title), detail: styled.OneLine(h.Text),
		right: time.UnixMilli(h.Updated).In(a.opts.Now().Location()).Format("2 Jan"), found: true,
	}
}

func hitFoot(l look, it item) styled.Line { return styled.Plain(it.detail, l.fg(theme.Muted)) }

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
	switch {
	case a.goal == "":
	case a.conv.byID[a.goal] != nil:
		a.conv.jump(a.goal, a.scrollTop, a.pane().draw)
		a.goal = ""
	case a.conv.more && !a.conv.loading:
		a.conv.loading = true
		return a.loadOlder()
	case !a.conv.more:
		a.goal = ""
	}
	return nil
}
