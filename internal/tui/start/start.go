// Package start is the page that an empty session shows: the sessions that were used last
// and where they stopped, what answers, and what other programs have on this machine. All of
// it is looked for after the first frame.
package start

import (
	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/prefs"
)

// Room is the start page.
type Room struct {
	host      dialog.Host
	access    *engine.Access
	book      *prefs.Book
	recent    []recent
	elsewhere []api.Elsewhere
	rows      []int           // which session each line of the page stands for, as of the last drawing; -1: none
	resume    lathe.SessionID // whose end is asked about when it is read
	crashed   bool            // only if a process that died is why it ended
}

// What the room wants done.
type (
	// Open opens a session.
	Open struct{ Session lathe.SessionID }
	// GoOn sends a text to the session on screen.
	GoOn struct{ Text string }
)

// New returns the page; it is empty.
func New(h dialog.Host, access *engine.Access, book *prefs.Book) *Room {
	return &Room{host: h, access: access, book: book}
}

// Load looks for what the page shows.
func (r *Room) Load() tea.Cmd { return tea.Batch(r.loadRecent(), r.loadElsewhere()) }
