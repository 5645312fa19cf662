package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/styled"
)

// TestKeysAboveASheet holds which keys pass a sheet that the person opened: help opens above it
// and closes again, the leader and the key after it are for the screen below and do nothing
// but say so, and everything else is the sheet's own.
func TestKeysAboveASheet(t *testing.T) {
	d, r := reviewing(t, Options{})
	d.press("ctrl+x", "v")
	d.shows("── changes ─")
	d.press("f1")
	d.shows("── help ─")
	d.press("f1")
	d.shows("── changes ─", "Make it louder")
	d.press("ctrl+x", "x") // not: take back
	d.shows("── changes ─", "close this first: esc, then ctrl+x x")
	d.press("ctrl+x", "esc")
	d.shows("── changes ─")
	d.press("ctrl+x", "ctrl+x", "s")
	d.press("f3", "ctrl+l")
	d.shows("── changes ─")
	if got := r.noted(); len(got) != 1 || got[0] != `stage ses_1 msg_1 until= ["a b.txt" "new.txt"] 0` {
		t.Errorf("calls: %q", got) // only s, which came after the pair
	}

	d.press("esc", "ctrl+x", "l")
	d.shows("── sessions ─")
	d.press("ctrl+x", "m")
	d.shows("── sessions ─", "close this first")
	d.press("m")
	d.shows("⌕ m")
	d.press("esc")
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"ls"}, Always: []string{"ls *"}, Metadata: map[string]any{"command": "ls"}}})
	d.now = d.now.Add(time.Second) // what is pressed at once belongs to what was there before
	d.shows("permission: bash")
	d.hides("close this first")
	d.press("f1")
	d.shows("── help ─")
	d.press("esc")
	d.shows("permission: bash")
	d.press("ctrl+x", "l") // an ask came by itself: the screen stays within reach
	d.shows("── sessions ─")
}

// terminal is a sheet that types into a program.
type terminal struct {
	dialog.Page
	got []string
}

func (s *terminal) Terminal() bool { return true }

func (s *terminal) Key(_ dialog.Host, k tea.KeyPressMsg) tea.Msg {
	s.got = append(s.got, dialog.Stroke(k))
	return nil
}

// TestTerminalGetsEveryKey holds that a sheet which types into a program keeps no key from it.
func TestTerminalGetsEveryKey(t *testing.T) {
	d, _ := ableTo(t, Options{})
	s := &terminal{Page: dialog.Page{Title: "vi", Lines: func(look.Look) []styled.Line { return nil }}}
	d.do(d.app.apply(dialog.Open{Sheet: s}))
	d.press("ctrl+x", "f1", "m", "ctrl+x", "ctrl+x")
	if diff := cmp.Diff([]string{"ctrl+x", "f1", "m", "ctrl+x", "ctrl+x"}, s.got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// TestCommandLeavesNoDraft holds that what was kept of a command while it was written does not
// come back after it was carried out and the screen was killed.
func TestCommandLeavesNoDraft(t *testing.T) {
	dir := t.TempDir()
	begin := func() *driver {
		d := withHistory(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
		d.app.after = func(time.Duration) tea.Cmd { return func() tea.Msg { return tickMsg{} } }
		return d
	}
	d := begin()
	d.typed("/he") // kept after a pause
	d.typed("lp")
	d.press("esc", "enter")
	d.shows("── help ─")
	d = begin()
	d.hides("❯ /he")
}

// TestUndoneEndIsNotStopped holds that the start page names no session as stopped whose end was
// undone, and does not ask about it.
func TestUndoneEndIsNotStopped(t *testing.T) {
	_, f := startPage(t, Options{})
	s := f.sessions["ses_stopped"]
	s.Revert = &lathe.Revert{MessageID: "msg_1"}
	f.sessions["ses_stopped"] = s
	d := drive(t, Options{Engine: f})
	d.shows("Greet in two languages", "its end is undone")
	d.hides("it was running")
	d.press("ctrl+x", "1")
	d.hides("where it stopped")
}
