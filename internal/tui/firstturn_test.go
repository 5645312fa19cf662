package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"lathe"
)

// TestFirstTurn holds that the sidebar does not deny that something was sent.
func TestFirstTurn(t *testing.T) {
	d := withHistory(t, Options{})
	d.send(tea.WindowSizeMsg{Width: 130, Height: 36})
	d.shows("nothing was sent yet")
	d.event(lathe.MessageUpdated{Message: question(1, "go")}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.hides("nothing was sent yet")
	d.shows("the first answer is on its way")
}
