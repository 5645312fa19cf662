// Package marks is the bookmarks of a session: messages that a person wants to find again.
// They are kept with the session.
package marks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/markup"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

// Room has the notes of the session on screen.
type Room struct {
	host   Host
	access *engine.Access
	of     lathe.SessionID
	notes  api.Notes
}

// Host is what the room has to know about the screen.
type Host interface {
	dialog.Host
	Conversation() *chat.Conversation
	Session() lathe.Session
}

// Known says what is known of a session's notes, when it was read.
type Known struct {
	Session lathe.SessionID
	Notes   api.Notes
}

// New returns the room.
func New(h Host, access *engine.Access) *Room { return &Room{host: h, access: access} }

// Visit reads the notes of the session that is now on screen.
func (r *Room) Visit(id lathe.SessionID) tea.Cmd {
	e := r.access.Able.Notes
	if e == nil || id == "" {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		if other := r.access.Able.Attend; other != nil {
			_ = other.Attend(ctx, id) // without it the session is read again when it is opened
		}
		n, err := e.Notes(ctx, id)
		if err != nil {
			return nil // the list of bookmarks tells why
		}
		return Known{id, n}
	})
}

// Take takes what was read.
func (r *Room) Take(k Known) { r.of, r.notes = k.Session, k.Notes }

// change changes the notes, and then does what follows.
func (r *Room) change(in api.NotesChange, text string, then func() tea.Msg) tea.Msg {
	id := r.host.Session().ID
	return r.access.Do(func(ctx context.Context) tea.Msg {
		n, err := r.access.Able.Notes.Note(ctx, id, in)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.All{dialog.Here(func() tea.Msg {
			n.UndoOff = r.notes.UndoOff
			r.Take(Known{id, n})
			if then != nil {
				return then()
			}
			return nil
		}), dialog.Done{Text: text}}
	})
}

// Toggle sets a bookmark at the message that is read, or removes the one that is there.
func (r *Room) Toggle() tea.Msg {
	m, text, ok := r.host.Conversation().OnTop()
	if !ok {
		return dialog.Tell{Kind: dialog.Warning, Text: "there is no message to bookmark"}
	}
	if slices.ContainsFunc(r.notes.Bookmarks, func(b api.Bookmark) bool { return b.Message == m.ID }) && r.of == m.SessionID {
		return r.change(api.NotesChange{Unmark: m.ID}, "the bookmark is gone", nil)
	}
	short := name(m, text)
	said := "bookmarked: " + short + "; " + r.host.Keys().For(keys.Bookmarks) + " lists them"
	return r.change(api.NotesChange{Mark: &api.Bookmark{Message: m.ID, Text: short, Created: m.Created.UnixMilli()}}, said, nil)
}

// The name of a bookmark has at most so many characters, and is looked for in so many bytes.
const (
	longestName = 60
	namedBy     = 4 << 10
)

// name is what a bookmark at a message is called: how it begins. What a model writes is
// Markdown, of which a name has the words alone; what a person writes is shown as it is.
func name(m lathe.Message, text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), namedBy)], "")
	if _, ok := m.Info.(*lathe.Assistant); ok {
		text = cmp.Or(markup.Plain(text), text)
	}
	short := styled.OneLine(text)
	if c := []rune(short); len(c) > longestName {
		short = string(c[:longestName]) + "…"
	}
	return short
}

// List lists the bookmarks.
func (r *Room) List(zone *time.Location) tea.Msg {
	id := r.host.Session().ID
	return r.access.Do(func(ctx context.Context) tea.Msg {
		n, err := r.access.Able.Notes.Notes(ctx, id)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Here(func() tea.Msg {
			r.Take(Known{id, n})
			return dialog.Open{Sheet: r.list(zone)}
		})
	})
}

func (r *Room) list(zone *time.Location) *dialog.List {
	k := r.host.Keys()
	l := dialog.NewList(dialog.List{Title: "bookmarks", Hint: "enter jump · " + k.For(keys.Rename) + " rename · " + k.For(keys.Delete) + " remove · esc close",
		Empty: "none yet; " + k.For(keys.Bookmark) + " sets one at the message on top of the screen", Items: r.items(zone)})
	l.Pick = func(it dialog.Item) tea.Msg { return chat.Goto{Message: lathe.MessageID(it.ID)} }
	again := func() tea.Msg {
		l.Replace(r.items(zone))
		return nil
	}
	l.Keys = map[keys.Action]func(it dialog.Item) tea.Msg{
		keys.Delete: func(it dialog.Item) tea.Msg {
			return r.change(api.NotesChange{Unmark: lathe.MessageID(it.ID)}, "", again)
		},
		keys.Rename: func(it dialog.Item) tea.Msg { return dialog.Open{Sheet: r.rename(it, again)} },
	}
	return l
}

func (r *Room) items(zone *time.Location) (out []dialog.Item) {
	for _, b := range r.notes.Bookmarks {
		out = append(out, dialog.Item{ID: string(b.Message), Title: styled.OneLine(b.Text), Quoted: true, Right: time.UnixMilli(b.Created).In(zone).Format("2 Jan 15:04")})
	}
	return out
}

// rename asks what a bookmark is to be called.
func (r *Room) rename(it dialog.Item, again func() tea.Msg) *dialog.Field {
	f := &dialog.Field{Title: "name of the bookmark", Hint: "enter keep · esc leave", Edit: edit.Editor{}}
	f.Edit.Set(it.Title)
	f.Done = func(text string) tea.Msg {
		i := slices.IndexFunc(r.notes.Bookmarks, func(b api.Bookmark) bool { return string(b.Message) == it.ID })
		if text == "" || i < 0 {
			return nil
		}
		b := r.notes.Bookmarks[i]
		b.Text = text
		return r.change(api.NotesChange{Mark: &b}, "", again)
	}
	return f
}
