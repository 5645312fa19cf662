package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/memory"
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

// TestEnding holds that the name of a file loses whole characters, at its
// beginning.
func TestEnding(t *testing.T) {
	for _, c := range []struct {
		path string
		room int
		want string
	}{
		{"a/b.go", 6, "a/b.go"},
		{"internal/tui/app.go", 10, "…ui/app.go"},
		{"docs/文書/説明.md", 9, "…/説明.md"},
		{"docs/文書/説明.md", 8, "…説明.md"},
		{"docs/文書/説明.md", 7, "…明.md"},
		{"docs/文書/説明.md", 6, "…明.md"},
		{"docs/e\u0301/👩‍💻.md", 6, "…👩‍💻.md"},
		{"文", 1, "…"},
	} {
		if got := (look.Look{Method: styled.Grapheme}).Ending(c.path, c.room); got != c.want {
			t.Errorf("%q in %d is %q, not %q", c.path, c.room, got, c.want)
		}
	}
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

func TestScrollbar(t *testing.T) {
	var list []lathe.Message
	for i := range 40 {
		list = append(list, question(2*i+1, fmt.Sprint("question ", i)), reply(2*i+2, &lathe.Text{Text: strings.Repeat("words ", 60)}))
	}
	d := withHistory(t, Options{}, list...)
	d.hides("┃")
	d.typed("/scrollbar")
	d.press("esc", "enter")
	handle := func() (from, to int) {
		from = -1
		for i, line := range d.lines() {
			if strings.HasSuffix(line, "┃") {
				if from < 0 {
					from = i
				}
				to = i
			}
		}
		return from, to
	}
	if _, to := handle(); to != d.app.conv.Height()-1 {
		t.Errorf("the handle ends at %d of %d:\n%s", to, d.app.conv.Height(), d.text())
	}
	d.press("home", "home", "home")
	d.shows("question 0")
	if from, _ := handle(); from != 0 {
		t.Errorf("at the top it begins at %d:\n%s", from, d.text())
	}
	at := func(y int) (tea.Mouse, tea.Mouse) {
		m := tea.Mouse{X: 79, Y: y, Button: tea.MouseLeft}
		return m, m
	}
	press, _ := at(10)
	d.send(tea.MouseClickMsg(press))
	if from, to := handle(); from > 10 || to < 9 {
		t.Errorf("dragged to 10 it goes from %d to %d", from, to)
	}
	_, end := at(d.app.conv.Height())
	d.send(tea.MouseMotionMsg(end))
	d.send(tea.MouseReleaseMsg(end))
	if !d.app.conv.Following() || d.app.mouse.Held() {
		t.Error("dragged to its end, it does not show the newest text")
	}
	d.typed("/scrollbar")
	d.press("esc", "enter")
	d.hides("┃")
}

// TestScrollbarAndSidebar holds that one line stands between the conversation and
// the sidebar, also where there is nothing to scroll.
func TestScrollbarAndSidebar(t *testing.T) {
	d, _ := wide(t, Options{Prefs: prefs.Prefs{Scrollbar: true}}, 130, 30)
	for _, line := range d.lines()[:d.app.conv.Height()] {
		if got := strings.Count(line, "│") + strings.Count(line, "┃"); got != 1 {
			t.Fatalf("%d lines in %q", got, line)
		}
	}
}

func TestNames(t *testing.T) {
	d := withHistory(t, Options{User: "ada\x1b[31m"}, question(1, "first"))
	d.hides("ada")
	d.typed("/usernames")
	d.press("esc", "enter")
	d.shows(" ▌ ada")
	d.typed("/timestamps")
	d.press("esc", "enter")
	d.shows(" ▌ ada · 1 Jan")
	d.typed("/usernames")
	d.press("esc", "enter")
	d.hides("ada")
}

func TestStash(t *testing.T) {
	m := memory.Open(t.TempDir(), "/p")
	d := drive(t, Options{Desk: Desk{Memory: m}})
	d.press("ctrl+s")
	d.shows("nothing was put aside")
	d.typed("a long thought")
	d.press("ctrl+s")
	d.shows("put aside; ctrl+s takes it back", "❯ ask anything")
	d.app.toast = toast{}
	d.typed("/stash second one")
	d.press("esc", "enter")
	d.press("ctrl+s")
	d.shows("❯ second one")
	d.hides("put aside")
	if n := len(m.Stashed()); n != 1 {
		t.Errorf("%d are left", n)
	}
	// From the list: what is written takes the place of what is taken.
	d.press("ctrl+p")
	d.typed("words after it")
	d.press("enter")
	d.shows("put aside", "a long thought")
	d.press("enter")
	d.shows("❯ a long thought", "put aside in its place")
	if l := m.Stashed(); len(l) != 1 || l[0].Draft.Text != "second one" {
		t.Errorf("the stash holds %+v", l)
	}
	d.press("ctrl+c")
	d.typed("/stash")
	d.press("esc", "enter", "ctrl+d")
	d.shows("press ctrl+d again to delete it", "second one")
	d.press("ctrl+d")
	d.hides("second one")
	if l := m.Stashed(); len(l) != 0 {
		t.Errorf("the stash still holds %+v", l)
	}
	d.shows("nothing is put aside")
}

// TestStashLater takes back in another run what was put aside, pasted text
// included, in the directory where that was done.
func TestStashLater(t *testing.T) {
	dir := t.TempDir()
	paste := strings.Repeat("a pasted 文 line\n", 20)
	d := drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.typed("look at ")
	d.send(tea.PasteMsg{Content: paste})
	d.press("ctrl+s")
	d.shows("put aside", "❯ ask anything")

	d = drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/elsewhere")}})
	d.press("ctrl+s")
	d.shows("nothing was put aside")

	d = drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.press("ctrl+s")
	d.shows("look at [pasted text 1, 20 lines]")
	if got, want := d.app.input.Value(), "look at "+strings.TrimRight(paste, "\n"); strings.TrimRight(got, "\n") != want {
		t.Errorf("it would send %q", got)
	}
}

// TestStashKeepsText holds that a text that cannot be put aside stays where it is.
func TestStashKeepsText(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stash"), nil, 0o600); err != nil { // in the way of the directory
		t.Fatal(err)
	}
	d := drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.typed("a long thought")
	_, cmd := d.app.Update(stroke("ctrl+s"))
	d.typed(", and more")
	d.do(cmd)
	d.shows("❯ a long thought, and more", "put a text aside")

	d.app.toast = toast{}
	d.app.input.Attach(edit.File{Name: "a.png", MIME: "image/png"}, "picture")
	d.press("ctrl+s")
	d.shows("pictures cannot be put aside", "a long thought, and more")
}
