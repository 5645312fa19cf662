package sessions

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	SearchPause = 250 * time.Millisecond // pause in typing before what was said is searched
	searchHits  = 30
)

// searchLater searches what was said for the words of a list's filter, when the
// person pauses. What is found is listed below the titles.
func (r *Room) searchLater(s *dialog.List, found func(api.Hit) dialog.Item) tea.Msg {
	words := strings.TrimSpace(s.Filter.Text())
	s.Items = slices.DeleteFunc(s.Items, func(it dialog.Item) bool { return it.Found })
	s.Refresh()
	if len(words) < 3 { // or one Chinese character
		return nil
	}
	still := func(then tea.Msg) tea.Msg {
		return dialog.While{Sheet: s, Then: dialog.Here(func() tea.Msg {
			if strings.TrimSpace(s.Filter.Text()) != words {
				return nil
			}
			return then
		})}
	}
	search := r.access.Do(func(ctx context.Context) tea.Msg {
		hits, err := r.access.Able.Search.Search(ctx, words, searchHits)
		return dialog.Done{Err: err, Then: still(dialog.Here(func() tea.Msg {
			for _, h := range hits {
				s.Items = append(s.Items, found(h))
			}
			s.Refresh()
			return nil
		}))}
	})
	return dialog.Soon{After: SearchPause, Then: still(search)}
}

// hitItem shows a hit in the list of sessions.
func (r *Room) hitItem(h api.Hit) dialog.Item {
	return dialog.Item{
		ID: string(h.Session) + "\x00" + string(h.Message), Title: styled.OneLine(h.Title), Quoted: true, Detail: styled.OneLine(h.Text),
		Right: time.UnixMilli(h.Updated).In(r.host.Now().Location()).Format("2 Jan"), Found: true,
	}
}

func hitFoot(l look.Look, it dialog.Item) styled.Line {
	return styled.Plain(it.Detail, l.FG(theme.Muted))
}

// openMessage opens a session where a message is.
func (r *Room) openMessage(id string) tea.Msg {
	session, message, _ := strings.Cut(id, "\x00")
	return Found{lathe.SessionID(session), lathe.MessageID(message)}
}
