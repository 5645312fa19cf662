// Package undoing takes back what was asked and done, and brings it again. What the person wrote
// goes to the input meanwhile, and out of it again.
package undoing

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
)

// Host is what the room has to know of the screen.
type Host interface {
	Session() lathe.Session // on screen
	Conversation() *chat.Conversation
	Keys() *keys.Map
	Now() time.Time
}

// Room is where prompts are undone and redone, and turns stopped.
type Room struct {
	host   Host
	access *engine.Access
	input  *edit.Editor
}

// New returns the room. Input is where the person writes.
func New(h Host, access *engine.Access, input *edit.Editor) *Room { return &Room{h, access, input} }

// back says that what was written is no message any more.
type back struct {
	session lathe.SessionID
	text    edit.Written
}

// again says that messages are back, and what was written in them.
type again struct {
	session lathe.SessionID
	texts   []string
}

// Take does what follows when something was undone or redone, and reports whether that is what
// the message says.
func (r *Room) Take(msg tea.Msg) bool {
	switch m := msg.(type) {
	case back:
		r.bringBack(m)
	case again:
		r.takeAway(m)
	default:
		return false
	}
	return true
}

// Undo goes back to before the newest prompt.
func (r *Room) Undo() tea.Msg {
	if id, ok := r.host.Conversation().Shown().LastPrompt(); ok {
		return r.To(id)
	}
	return dialog.Tell{Kind: dialog.Warning, Text: "there is nothing to undo"}
}

// To goes back to before a message and puts its text into the input.
func (r *Room) To(id lathe.MessageID) tea.Msg {
	able, text, s := r.access.Able.Undo, r.host.Conversation().Written(id), r.host.Session().ID
	said := "undone; " + r.host.Keys().For(keys.Redo) + " brings it back"
	return tea.Cmd(func() tea.Msg {
		err := able.Revert(r.access.Context(), s, id)
		return dialog.Done{Text: said, Err: err, Then: back{s, text}}
	})
}

// Redo brings everything again that was undone.
func (r *Room) Redo() tea.Msg {
	able, s, texts := r.access.Able.Undo, r.host.Session().ID, r.host.Conversation().UndonePrompts()
	return tea.Cmd(func() tea.Msg {
		return dialog.Done{Text: "redone", Err: able.Unrevert(r.access.Context(), s), Then: again{s, texts}}
	})
}

// Stop stops the turn that runs. What the person wrote meanwhile and the turn did not take up
// comes back to the input.
func (r *Room) Stop() tea.Msg {
	id, able := r.host.Session().ID, r.access.Able.Undo
	conv := r.host.Conversation()
	conv.Queue(true, r.host.Now())
	first, texts := conv.Queued()
	return tea.Cmd(func() tea.Msg {
		ctx := r.access.Context()
		if err := r.access.Abort(ctx, id); err != nil || first == "" || len(texts) == 0 || able == nil {
			return dialog.Done{Err: err}
		}
		if err := able.Revert(ctx, id, first); err != nil {
			return dialog.Done{} // it stays where it is, marked as not answered
		}
		return dialog.Done{Text: "stopped; what waited is in the input again", Then: back{id, edit.Join(texts)}}
	})
}

// bringBack puts a text that was queued or undone before what is in the input.
func (r *Room) bringBack(m back) {
	if r.host.Session().ID == m.session && m.text.Text != "" {
		r.input.Above(m.text)
	}
}

// takeAway takes the text of messages that are there again out of the input: of all of them if
// they had waited when the turn was stopped, else of the first. What was written after it stays.
func (r *Room) takeAway(m again) {
	if len(m.texts) == 0 || r.host.Session().ID != m.session {
		return
	}
	now := strings.TrimSpace(r.input.Value())
	for _, text := range []string{strings.Join(m.texts, edit.Between), m.texts[0]} {
		if now == text {
			r.input.Reset()
			return
		}
		if r.input.DropAbove(text) {
			return
		}
	}
}
