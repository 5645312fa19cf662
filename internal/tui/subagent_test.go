package tui

import (
	"context"
	"testing"

	"lathe"
	"lathe/internal/api"
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

func (f *ableFake) Tree(context.Context, lathe.SessionID) (api.Helper, error) {
	return api.Helper{ID: "ses_1", Title: "A title", State: "idle", Helpers: []api.Helper{
		{ID: "ses_2", Title: "look around", State: "working", Background: true, Branch: "lathe/look-around"},
	}}, nil
}

// TestTreeOfHelpers holds that the screen shows who works for a session, and stops them all.
func TestTreeOfHelpers(t *testing.T) {
	f := newAble()
	f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Agent: "build"}
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	d.typed("/tree")
	d.press("enter")
	d.shows("look around, $0.00, branch lathe/look-around")
	d.press("esc")
	d.typed("/stop")
	d.press("enter")
	d.shows("stopped, with all that work for it")
}
