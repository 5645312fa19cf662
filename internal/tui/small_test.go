package tui

import (
	"strings"
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

// TestPagesTurnByPages holds that a page turns by what is on screen, and that a menu
// grows with the screen.
func TestPagesTurnByPages(t *testing.T) {
	for _, height := range []int{24, 36, 60} {
		d := withHistory(t, Options{})
		d.send(tea.WindowSizeMsg{Width: 100, Height: height})
		d.press("f1")
		before := d.lines()
		d.press("pgdown")
		if after := d.lines(); after[1] != before[height-2] {
			t.Errorf("%d lines: after a page it begins with %q, not with what was last: %q", height, after[1], before[height-2])
		}
		d.press("esc")
		d.typed("/")
		n := 0
		for _, line := range d.lines() {
			if strings.HasPrefix(strings.TrimLeft(line, "❯ "), "/") {
				n++
			}
		}
		if n < height/3 {
			t.Errorf("%d lines: the menu has %d", height, n)
		}
	}
}

// TestSecretIsCounted holds that typing a key shows that it is taken, and nothing of it.
func TestSecretIsCounted(t *testing.T) {
	d := drive(t, Options{})
	d.typed("/connect")
	d.press("esc", "enter", "enter")
	d.shows("not shown as you type")
	key := "sk-" + strings.Repeat("漢", 60)
	d.send(tea.PasteMsg{Content: key})
	d.shows("•", "63 characters")
	d.hides("sk-", "漢")
}
