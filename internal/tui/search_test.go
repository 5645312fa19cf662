package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/sessions"
)

// TestSearchInSessions holds that the list of sessions finds what was said, and
// that choosing it leads to the message, also when it is not among the newest.
func TestSearchInSessions(t *testing.T) {
	f := newAble()
	f.hits = []api.Hit{{Session: "ses_2", Message: "msg_1", Title: "Make the tests faster", Role: "user", Kind: "text", Text: "…where the kettle stands…"}}
	for i := range 150 {
		f.history["ses_2"] = append(f.history["ses_2"], question(i+1, strings.Repeat("something else\n", 3)))
	}
	f.history["ses_2"][0] = question(1, "where the kettle stands")
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	d.app.after = func(pause time.Duration) tea.Cmd {
		if pause == sessions.SearchPause {
			return func() tea.Msg { return tickMsg{} }
		}
		return nil
	}
	d.press("ctrl+x", "l")
	d.typed("tests")
	d.shows("Make the tests faster", "…where the kettle stands…")
	d.press("ctrl+u")
	d.hides("kettle")
	d.typed("kettle")
	d.shows("…where the kettle stands…")
	if asked := f.noted(); !slices.Contains(asked, `search "kettle"`) || slices.Contains(asked, `search "ke"`) {
		t.Errorf("asked: %q", asked)
	}
	d.press("enter")
	if d.app.session.ID != "ses_2" || d.app.goal != "" {
		t.Fatalf("session %q, goal %q", d.app.session.ID, d.app.goal)
	}
	d.shows("▌ where the kettle stands")
}
