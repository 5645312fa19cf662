package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/memory"
)

// TestQueuedPromptsComeBack holds that what waited when the turn was stopped is in the input
// again, before what is written there, and nothing is sent twice.
func TestQueuedPromptsComeBack(t *testing.T) {
	working := reply(2, &lathe.Text{Text: "I work"})
	working.Info.(*lathe.Assistant).Completed = time.Time{}
	d := withHistory(t, Options{}, question(1, "go"), working, question(3, "also 这个"), question(4, "and that"))
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.typed("half")
	d.shows("queued")
	d.press("esc", "esc")
	if diff := cmp.Diff([]string{"abort ses_1", "revert ses_1 msg_3"}, d.engine.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got, want := d.app.input.Value(), "also 这个\n\nand that\n\nhalf"; got != want {
		t.Errorf("the input holds %q, want %q", got, want)
	}

	// The engine closes an answer to each of them that never began.
	for _, n := range []int{5, 6} {
		none := reply(n)
		none.Info.(*lathe.Assistant).Error = &lathe.AbortedFailure{Message: "stopped"}
		d.event(lathe.MessageUpdated{Message: none})
	}

	// Redoing takes out of the input what is a message again, and nothing else.
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.event(lathe.SessionUpdated{Session: lathe.Session{ID: "ses_1", Title: "A title", Agent: "build", Revert: &lathe.Revert{MessageID: "msg_3"}}})
	d.shows("what still waited was taken back; ctrl+x r redoes")
	d.press("ctrl+x", "r")
	if got, want := d.app.input.Value(), "half"; got != want {
		t.Errorf("after redoing the input holds %q, want %q", got, want)
	}

	// A long text that was pasted stays one that is folded.
	d = withHistory(t, Options{}, question(1, "go"), working, question(3, "also this"))
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.send(tea.PasteMsg{Content: strings.Repeat("pasted\n", 30)})
	d.press("esc", "esc")
	if got, want := d.app.input.Text(), "also this\n\n[pasted text 1, 30 lines]"; got != want {
		t.Errorf("the input shows %q, want %q", got, want)
	}

	d = withHistory(t, Options{}, question(1, "go"), working)
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.press("esc", "esc")
	if diff := cmp.Diff([]string{"abort ses_1"}, d.engine.noted()); diff != "" {
		t.Errorf("calls without a queue (-want +got):\n%s", diff)
	}
}

// TestTypedEarly holds that what is typed while a session is read does not run into the draft
// that was kept for it.
func TestTypedEarly(t *testing.T) {
	dir := t.TempDir()
	if err := memory.Open(dir, "/p").Keep("ses_1", edit.Draft{Text: "/di", Caret: 3}); err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Agent: "build"}
	d := &driver{t: t, now: time.Unix(5, 0), engine: f}
	d.app = New(t.Context(), Options{Engine: f, Start: Start{Session: "ses_1"}, Now: func() time.Time { return d.now }, Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.app.after = d.after
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.typed("/diff")
	d.do(d.app.Init())
	d.shows("A title")
	if got := d.app.input.Value(); got != "/di\n/diff" {
		t.Errorf("the input holds %q", got)
	}
}

// TestAskOfThousandsOfLines holds that a long ask is shown to its end, and that what was not
// seen is said.
func TestAskOfThousandsOfLines(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		d := withHistory(t, Options{}, question(1, "go"))
		d.send(windowOf(size))
		var text string
		for range 5000 {
			text += "+床前明月光\n"
		}
		d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "edit", Patterns: []string{"a.md"}, Always: []string{"*"},
			Metadata: map[string]any{"diff": "--- a\n+++ b\n@@ -0,0 +1,5000 @@\n" + text}}})
		d.shot()
		d.shows("allow once  not shown to its end", "of 5001")
		d.press("end")
		d.shows("5000 + 床前明月光")
		d.shot()
	}
}

// TestUndoKeepsWhatIsWritten holds that the text of a message that was undone stands before what
// the person had written already, and that a redo takes only it away.
func TestUndoKeepsWhatIsWritten(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "fix the parser"), reply(2, &lathe.Text{Text: "done"}))
	d.typed("and then")
	d.press("ctrl+x", "u")
	if got, want := d.app.input.Value(), "fix the parser\n\nand then"; got != want {
		t.Errorf("the input has %q, want %q", got, want)
	}
	s := d.app.session
	s.Revert = &lathe.Revert{MessageID: "msg_1"}
	d.event(lathe.SessionUpdated{Session: s})
	d.press("ctrl+x", "r")
	if got, want := d.app.input.Value(), "and then"; got != want {
		t.Errorf("after a redo the input has %q, want %q", got, want)
	}
}
