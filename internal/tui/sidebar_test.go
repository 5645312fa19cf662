package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
)

func (f *ableFake) Changes(_ context.Context, id lathe.SessionID) ([]engine.FileChange, error) {
	return []engine.FileChange{{File: "internal/tui/app.go", Added: 12, Removed: 3}, {File: "docs/a/long/path/to/a/file/文書.md", Added: 104, Removed: 0}}, f.note("changes %s", id)
}

// wide returns a driver with a session of some messages on a wide terminal.
func wide(t testing.TB, o Options, width, height int) (*driver, *ableFake) {
	d, f := ableTo(t, o, question(1, "Make the tests faster."), reply(2, &lathe.Text{Text: strings.Repeat("It waited for one timer. ", 40)}))
	s := f.sessions["ses_1"]
	s.Summary = &lathe.SessionSummary{Files: 2, Additions: 116, Deletions: 3}
	f.sessions["ses_1"] = s
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	d.do(d.app.open("ses_1"))
	f.noted()
	return d, f
}

func TestSidebar(t *testing.T) {
	d, _ := wide(t, Options{}, 200, 60)
	d.shows("A title", "context", "12k tokens, 12% of 100k", "tasks 1 of 2 done", "▶ second thing", "internal/tui/app.go", "+12 −3", "文書.md", "MCP", "docs")
	for i, line := range d.lines() {
		if w := styled.Width(line, styled.WcWidth); w > 200 {
			t.Errorf("line %d is %d wide", i, w)
		}
	}
	d.event(lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "new.go", Additions: 7}}}, lathe.SessionDiff{SessionID: "ses_2", Diff: []lathe.FileDiff{{File: "other.go"}}})
	d.shows("new.go", "+7 −0")
	d.hides("app.go", "other.go")
	d.event(lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "then.go", Before: "x\n", Deletions: 1, Status: "deleted"}, {File: "now.go", After: "x\n", Additions: 1, Status: "added"}}})
	d.shows("now.go", "renamed")
	d.hides("then.go", "+1")
	s := d.app.session
	s.Revert = &lathe.Revert{MessageID: "msg_1"}
	d.event(lathe.SessionUpdated{Session: s})
	d.shows("undone changes")
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.hides("changes", "12k tokens, 12% of 100k")
	for i, line := range d.lines() {
		if strings.Contains(line, "│") {
			t.Errorf("line %d still has a border: %q", i, line)
		}
	}
	d.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	d.shows("undone changes")
}

// TestSidebarToggle holds that the choice is kept where the sidebar has its place,
// also for the next run, and that elsewhere it is shown for once.
func TestSidebarToggle(t *testing.T) {
	var saved []prefs.Prefs
	o := Options{SavePrefs: func(p prefs.Prefs) error { saved = append(saved, p); return nil }}
	d, _ := wide(t, o, 160, 30)
	d.shows("changed files")
	d.press("ctrl+x", "b")
	d.hides("changed files")
	if len(saved) != 1 || !saved[0].NoSidebar {
		t.Fatalf("it is remembered as %+v", saved)
	}
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	d.press("ctrl+x", "b")
	d.shows("changed files")
	d.press("ctrl+x", "b")
	d.hides("changed files")
	d.send(tea.WindowSizeMsg{Width: 80, Height: 30})
	d.press("ctrl+x", "b") // there is no room beside the conversation: a page
	d.shows("changed files", "esc close")
	d.press("esc")
	d.hides("changed files")
	if len(saved) != 1 {
		t.Error("what is shown for once is remembered")
	}
	o.Prefs = saved[0]
	d, _ = wide(t, o, 160, 30)
	d.hides("changed files")
	d.press("ctrl+x", "b")
	d.shows("changed files")
	if last := saved[len(saved)-1]; last.NoSidebar {
		t.Error("that it is shown again is not remembered")
	}
}

// TestSidebarReads holds that nothing is read for a sidebar that is not shown, and
// that what happened to a session while another one was open is read.
func TestSidebarReads(t *testing.T) {
	d, f := wide(t, Options{}, 100, 24)
	d.do(d.app.open("ses_1"))
	if got := f.noted(); len(got) > 0 {
		t.Errorf("calls for a hidden sidebar: %q", got)
	}
	d.send(tea.WindowSizeMsg{Width: 130, Height: 24})
	d.send(tea.WindowSizeMsg{Width: 140, Height: 24})
	if diff := cmp.Diff([]string{"changes ses_1"}, f.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	d.do(d.app.open("ses_2"))
	d.hides("changed files")
	d.event(lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "new.go"}}})
	d.do(d.app.open("ses_1"))
	if diff := cmp.Diff([]string{"changes ses_1"}, f.noted()); diff != "" {
		t.Errorf("calls after another session (-want +got):\n%s", diff)
	}
	d.shows("changed files")
	f.fail = errors.New("not now")
	d.do(d.app.open("ses_1"))
	d.shows("changed files", "2 files  +116 −3") // of what the session itself tells
}

func TestSidebarFits(t *testing.T) {
	d, _ := wide(t, Options{}, 160, 60)
	rapid.Check(t, func(t *rapid.T) {
		var ev lathe.SessionDiff
		ev.SessionID = "ses_1"
		for i := range rapid.IntRange(0, 60).Draw(t, "files") {
			ev.Diff = append(ev.Diff, lathe.FileDiff{File: strings.Repeat("文", i) + "x", Additions: i * i * i})
		}
		var todos []lathe.Todo
		for i := range rapid.IntRange(0, 60).Draw(t, "tasks") {
			todos = append(todos, lathe.Todo{Content: fmt.Sprint("task ", i), Status: "pending"})
		}
		height := rapid.IntRange(3, 60).Draw(t, "height")
		d.event(ev, lathe.TodoUpdated{SessionID: "ses_1", Todos: todos})
		l := d.app.look
		l.Width = sideWidth - 3
		lines := d.app.side.Lines(l, height)
		if len(lines) > height {
			t.Fatalf("%d lines in %d", len(lines), height)
		}
		for _, line := range lines {
			if w := line.Width(l.Method); w > l.Width {
				t.Fatalf("%q is %d wide", line.Text(), w)
			}
		}
	})
}
