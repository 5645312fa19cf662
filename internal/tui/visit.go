package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

func (v *visit) busy() bool {
	switch v.status[v.session.ID].(type) {
	case lathe.Busy, lathe.Retrying:
		return true
	}
	return v.sending > 0
}

// title is what the session is called; a session without a name has none.
func (v *visit) title() string {
	if strings.HasPrefix(v.session.Title, "New session - ") {
		return ""
	}
	return styled.OneLine(v.session.Title)
}

// Title returns what the session on screen is called; one without a name has none.
func (v *visit) Title() string { return v.title() }

// Todos returns the task list of the session on screen.
func (v *visit) Todos() []lathe.Todo { return v.todos }

// Busy reports whether a turn runs in the session on screen.
func (v *visit) Busy() bool { return v.busy() }

// Working reports whether a turn is running in a session.
func (v *visit) Working(id lathe.SessionID) bool { return v.status[id] != nil }

// Session returns the session on screen; a zero one is not begun yet.
func (v *visit) Session() lathe.Session { return v.session }

// doing is the current entry of the task list, and how many are done.
func (v *visit) doing() string {
	done, now := 0, ""
	for _, t := range v.todos {
		switch t.Status {
		case "completed", "cancelled":
			done++
		case "in_progress":
			now = styled.OneLine(t.Content)
		}
	}
	if now == "" {
		return ""
	}
	return " · " + now + fmt.Sprintf(" (%d of %d done)", done, len(v.todos))
}

// narrow is a state line that has no room for when a connection is tried again.
const narrow = 60

// linkText describes the connection for a state line of some width; empty when it is up.
func (v *visit) linkText(now time.Time, width int) string {
	if !v.lost {
		return ""
	}
	wait := v.link.Retry.Sub(now)
	if wait <= 0 {
		return "connecting"
	}
	if width < narrow {
		return "not connected"
	}
	seconds := int((wait + time.Second - 1) / time.Second)
	if v.link.Server != "" {
		return fmt.Sprintf("not connected: trying %s in %d s", styled.OneLine(v.link.Server), seconds)
	}
	return fmt.Sprintf("not connected: trying again in %d s", seconds)
}

const (
	firstPage = 60 // messages that are read when a session opens
	nextPage  = 100
)

// open reads a session and shows it. What is on screen stays until it is read.
func (v *visit) open(id lathe.SessionID) tea.Cmd {
	v.opening, v.meanwhile, v.goal = id, nil, ""
	v.reads++
	read := v.reads
	return func() tea.Msg {
		m := openedMsg{id: id, read: read}
		if m.session, m.err = v.access.Get(v.access.Context(), id); m.err != nil {
			return m
		}
		m.history, m.err = v.access.History(v.access.Context(), id, 0, firstPage)
		m.more = len(m.history) == firstPage
		m.todos, _ = v.access.Todos(v.access.Context(), id) // a screen without them is still useful
		m.status = v.access.Status(v.access.Context(), id)
		if can := v.access.Able.Modes; can != nil {
			m.mode, _ = can.ApprovalMode(v.access.Context(), id) // the state line then shows the usual one
		}
		return m
	}
}

// older reads messages before those on screen.
func (v *visit) older(o chat.Older) tea.Cmd {
	id, before := v.session.ID, o.Before
	return func() tea.Msg {
		m := olderMsg{id: id}
		m.history, m.err = v.access.History(v.access.Context(), id, before, nextPage)
		m.more = len(m.history) == nextPage
		return m
	}
}

// loadWaiting reads what waits for an answer, of all sessions; shown is on screen.
func (v *visit) loadWaiting(shown []lathe.AskID) tea.Cmd {
	return func() tea.Msg {
		asks, questions, err := v.access.Waiting(v.access.Context())
		if err != nil {
			return doneMsg{err: err}
		}
		return waitingMsg{asks, questions, shown}
	}
}

// send hands what was written to the engine, in a new session if there is none.
func (v *visit) send(t compose.Typed, p engine.Prompt, before edit.Editor, begin func(context.Context, lathe.SessionID) error) tea.Cmd {
	sess := v.session
	return func() tea.Msg {
		m := sentMsg{session: sess, before: before}
		if sess.ID == "" {
			if m.session, m.err = v.access.Create(v.access.Context()); m.err != nil {
				return m
			}
			if m.err = begin(v.access.Context(), m.session.ID); m.err != nil {
				return m
			}
		}
		switch {
		case t.Shell != "":
			m.err = v.access.Shell(v.access.Context(), m.session.ID, t.Shell, p)
		case t.Command != "":
			m.err = v.access.Command(v.access.Context(), m.session.ID, t.Command, t.Args, p)
		default:
			m.err = v.access.Prompt(v.access.Context(), m.session.ID, p)
		}
		return m
	}
}
