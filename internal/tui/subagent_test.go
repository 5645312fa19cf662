package tui

import (
	"testing"

	"lathe"
)

// TestSubagentSaysTheWayBack holds that the view of a subagent tells how to go back
// while it works and while something is written, too.
func TestSubagentSaysTheWayBack(t *testing.T) {
	f := newFake()
	f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "Child", ParentID: "ses_0", Agent: "explore"}
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.typed("note")
	d.shows("subagent " + d.app.keys.For("session_parent") + " goes back")
}
