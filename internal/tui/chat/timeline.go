package chat

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

// What can be done with a message.
type (
	// Undo goes back to before a message of the person's.
	Undo struct{ Message lathe.MessageID }
	// Fork copies the session up to a message of the person's, whose text goes into
	// the copy's input.
	Fork struct{ Message lathe.MessageID }
)

// Timeline lists the person's messages, newest last.
func (c *Conversation) Timeline(can engine.Capabilities, zone *time.Location) tea.Msg {
	l := dialog.List{Title: "timeline", Hint: "enter jump to it", Empty: "nothing was said yet"}
	for _, e := range c.Shown() {
		if _, ok := e.m.Info.(*lathe.User); !ok || e.text() == "" {
			continue
		}
		l.Items = append(l.Items, dialog.Item{ID: string(e.m.ID), Title: styled.OneLine(e.text()), Quoted: true, Right: e.changed() + e.m.Created.In(zone).Format("15:04")})
	}
	if n := len(l.Items); n > 0 {
		l.Items[n-1].Current = true
	}
	before := c.bottom
	l.Move = func(it dialog.Item) tea.Msg {
		c.jump(lathe.MessageID(it.ID))
		return nil
	}
	l.Closed = func() tea.Msg {
		c.bottom = before
		return nil
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		c.jump(lathe.MessageID(it.ID))
		return c.actions(lathe.MessageID(it.ID), can)
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// actions offers what can be done with a message.
func (c *Conversation) actions(id lathe.MessageID, can engine.Capabilities) tea.Msg {
	e := c.byID[id]
	if e == nil {
		return nil
	}
	l := dialog.List{Title: "message", Hint: "enter do it · esc stay here"}
	l.Items = []dialog.Item{{ID: "stay", Title: "stay here"}, {ID: "copy", Title: "copy its text"}}
	answer := c.Shown().answerTo(e)
	if answer != "" {
		l.Items = append(l.Items, dialog.Item{ID: "answer", Title: "copy the answer to it"})
	}
	if can.Undo != nil {
		l.Items = append(l.Items, dialog.Item{ID: "undo", Title: "undo to before it", Detail: "messages and changes of files"})
	}
	if can.Fork != nil {
		l.Items = append(l.Items, dialog.Item{ID: "fork", Title: "fork the session before it"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		switch it.ID {
		case "copy":
			return dialog.Copy{Text: e.text(), Said: "copied the message"}
		case "answer":
			return dialog.Copy{Text: answer, Said: "copied the answer"}
		case "undo":
			c.Follow()
			return Undo{id}
		case "fork":
			return Fork{id}
		}
		return nil
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// changed says how many lines the turn added and removed that answered a message; empty if there
// are none.
func (e *entry) changed() string {
	u, ok := e.m.Info.(*lathe.User)
	if !ok || u.Summary == nil || len(u.Summary.Diffs) == 0 {
		return ""
	}
	added, removed := lathe.CountLines(u.Summary.Diffs)
	if added+removed == 0 { // a file only got another name, or other permission bits
		return ""
	}
	return fmt.Sprintf("+%d -%d  ", added, removed)
}
