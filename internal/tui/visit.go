package tui

import (
	"fmt"
	"strings"
	"time"

	"lathe"
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

// Working reports whether a turn runs in a session.
func (v *visit) Working(id lathe.SessionID) bool { return v.status[id] != nil }

// Session returns the session on screen; a zero one is not begun yet.
func (v *visit) Session() lathe.Session { return v.session }

// doing is the entry of the task list that is worked on, and how far it is.
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
	return fmt.Sprintf(" · %s (%d of %d done)", now, done, len(v.todos))
}

// linkText says how the connection fares, for the state line; empty when it is up.
func (v *visit) linkText(now time.Time) string {
	if !v.lost {
		return ""
	}
	wait := v.link.Retry.Sub(now)
	if wait <= 0 {
		return "connecting"
	}
	return fmt.Sprintf("not connected: trying again in %d s", int((wait+time.Second-1)/time.Second))
}
