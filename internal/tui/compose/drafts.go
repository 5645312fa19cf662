package compose

import (
	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/memory"
)

// drafts are what was written for sessions and not sent.
type drafts struct {
	open   map[lathe.SessionID]edit.Editor // of sessions that were on screen
	stored *memory.Memory                  // nil: nothing outlives the screen
}

// Leave keeps a draft for a session until it is on screen.
func (d drafts) Leave(id lathe.SessionID, e edit.Editor) { d.open[id] = e }

// put keeps what is written for a session, or forgets its draft if that is nothing.
func (d drafts) put(id lathe.SessionID, e edit.Editor) {
	if e.Empty() {
		delete(d.open, id)
		return
	}
	d.open[id] = e
}

// of returns what was written for a session.
func (d drafts) of(id lathe.SessionID) edit.Editor {
	e, ok := d.open[id]
	if !ok && d.stored != nil {
		return edit.FromDraft(d.stored.Draft(string(id)))
	}
	return e
}
