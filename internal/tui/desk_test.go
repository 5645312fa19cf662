package tui

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/clip"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/styled"
)

func pngOf(t testing.TB, w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDroppedPictures(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "a picture.png"), filepath.Join(dir, "b.PNG")
	for _, name := range []string{one, two} {
		if err := os.WriteFile(name, pngOf(t, 6, 4), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	notes := filepath.Join(dir, "notes.png")
	if err := os.WriteFile(notes, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ pasted, want string }{
		{strings.ReplaceAll(one, " ", `\ `), "[image 6x4 1, a picture.png] "},
		{"'" + one + "' " + two + "\n", "[image 6x4 1, a picture.png] [image 6x4 2, b.PNG] "},
		{"file://" + two, "[image 6x4 1, b.PNG] "},
		{notes, notes},
		{filepath.Join(dir, "gone.png"), filepath.Join(dir, "gone.png")},
		{"see a.png", "see a.png"},
		{"'" + one, "'" + one},
	} {
		d := withHistory(t, Options{})
		d.send(tea.PasteMsg{Content: tt.pasted})
		if got := d.app.input.Text(); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.pasted, got, tt.want)
		}
	}
	d := withHistory(t, Options{})
	d.send(tea.PasteMsg{Content: two})
	d.engine.fail = lathe.Errorf(lathe.CodeBusy, "", "no")
	d.press("enter")
	if n := len(d.app.input.Files()); n != 1 {
		t.Errorf("what cannot be sent comes back with %d files", n)
	}
	d.engine.fail = nil
	d.engine.noted()
	d.press("enter")
	want := []string{`prompt ses_1 "[image 6x4 1, b.PNG]"   with b.PNG image/png`}
	if diff := cmp.Diff(want, d.engine.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestMemory(t *testing.T) {
	dir := t.TempDir()
	begin := func() *driver {
		d := withHistory(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
		return d
	}
	d := begin()
	d.typed("first thing")
	d.press("enter")
	d.typed("half a th")
	if err := d.app.input.Keep(); err != nil {
		t.Fatal(err)
	}
	d = begin()
	d.shows("half a th")
	d.typed("ought")
	d.press("enter")
	d.press("up", "up")
	d.shows("first thing")
	if err := d.app.input.Keep(); err != nil {
		t.Fatal(err)
	}
	d = begin()
	d.press("ctrl+c")
	d.press("up", "up")
	d.shows("half a thought")
}

func TestNotification(t *testing.T) {
	d := withHistory(t, Options{})
	end := func() {
		d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
		d.now = d.now.Add(time.Minute)
		d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	}
	end()
	if d.raw != nil {
		t.Errorf("a person who looks is told %q", d.raw)
	}
	d.send(tea.BlurMsg{})
	end()
	if len(d.raw) != 1 || !strings.Contains(d.raw[0], "done: A title") {
		t.Errorf("a person who looks elsewhere is told %q", d.raw)
	}
}

// TestTaskbar holds that the title and the taskbar say what a person who looks elsewhere
// wants to know, and that the taskbar is left alone by default.
func TestTaskbar(t *testing.T) {
	d := withHistory(t, Options{})
	said := func() (string, *tea.ProgressBar) {
		v := d.app.View()
		return v.WindowTitle, v.ProgressBar
	}
	check := func(title string, bar *tea.ProgressBar) {
		t.Helper()
		gotTitle, gotBar := said()
		if diff := cmp.Diff(bar, gotBar); gotTitle != title || diff != "" {
			t.Errorf("the title is %q, not %q; the taskbar (-want +got):\n%s", gotTitle, title, diff)
		}
	}
	check("lathe · A title", nil)
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	check("● lathe · A title", nil)
	d.app.opts.Desk.Progress = "on"
	check("● lathe · A title", &tea.ProgressBar{State: tea.ProgressBarIndeterminate})
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"ls"}}})
	check("? lathe · A title", &tea.ProgressBar{State: tea.ProgressBarWarning, Value: 100})
	d.event(lathe.PermissionReplied{SessionID: "ses_1", AskID: "per_1"})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	check("lathe · A title", &tea.ProgressBar{State: tea.ProgressBarNone})
}

func TestMouse(t *testing.T) {
	d := withHistory(t, Options{Desk: Desk{Clipboard: clip.New(func(string) string { return "" })}}, question(1, "go"), reply(2,
		&lathe.Text{Text: "First 漢字 line.\n\n```\ncode here\n```"},
		&lathe.Reasoning{Text: "one\ntwo\nthree", Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(4, 0)}},
		&lathe.ToolCall{Tool: "read", State: &lathe.ToolDone{Input: []byte(`{"filePath":"x.go"}`), Output: "the content"}},
		&lathe.ToolCall{Tool: "task", State: &lathe.ToolDone{Input: []byte(`{"subagent_type":"explore"}`), Metadata: map[string]any{"sessionId": "ses_child"}}}))
	row := func(text string) (x, y int) {
		t.Helper()
		for y, l := range d.lines() {
			if i := strings.Index(l, text); i >= 0 {
				return styled.Width(l[:i], styled.WcWidth), y
			}
		}
		t.Fatalf("%q is not on the screen:\n%s", text, d.text())
		return 0, 0
	}
	drag := func(x, y, x2, y2 int) {
		d.raw = nil
		d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		d.send(tea.MouseMotionMsg{X: x2, Y: y2, Button: tea.MouseLeft})
		d.text()
		d.send(tea.MouseReleaseMsg{X: x2, Y: y2, Button: tea.MouseLeft})
	}
	copied := func(want string) {
		t.Helper()
		if diff := cmp.Diff([]string{clip.New(func(string) string { return "" }).Sequence(want)}, d.raw); diff != "" {
			t.Errorf("copied not %q (-want +got):\n%s", want, diff)
		}
	}
	x, y := row("First")
	drag(x, y, x+9, y)
	copied("First 漢字")
	_, y2 := row("code here")
	drag(x, y, 70, y2)
	copied("First 漢字 line.\n\ncode here")
	drag(70, y2, x+6, y)
	copied("漢字 line.\n\ncode here")
	d.press("a")
	click := func(text string) {
		x, y := row(text)
		d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		d.send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
	click("thought")
	d.shows("┊ three")
	click("┊ three")
	d.hides("┊ three")
	click("read")
	d.shows("│ the content")
	d.typed(" b漢c")
	x, y = row("漢c")
	d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	d.typed("X")
	d.shows("a bX漢c")
	d.engine.sessions["ses_child"] = lathe.Session{ID: "ses_child", Title: "Child", ParentID: "ses_1"}
	click("@explore")
	if d.app.session.ID != "ses_child" {
		t.Errorf("the session on screen is %s", d.app.session.ID)
	}
}

// TestSelectInAChange holds that lines selected in a diff are copied without their numbers and
// signs, and of two columns those of the one where the selection began.
func TestSelectInAChange(t *testing.T) {
	text := "--- a/c.go\n+++ b/c.go\n@@ -1,4 +1,4 @@\n a\n-\treturn a - b\n+\treturn a + b // " + strings.Repeat("long ", 20) + "\n c\n d\n"
	for _, tt := range []struct {
		width, height int
		want          string
	}{
		{80, 40, "a\n    return a - b\n    return a + b // " + strings.TrimRight(strings.Repeat("long ", 20), " ") + "\nc"},
		{200, 40, "a\n    return a - b\nc"},
	} {
		d := withHistory(t, Options{}, question(1, "Mend it"), reply(2, done("edit", 0, map[string]any{"filePath": "c.go"}, map[string]any{"diff": text}, "")))
		d.send(tea.WindowSizeMsg{Width: tt.width, Height: tt.height})
		row := func(text string) (x, y int) {
			for y, l := range d.lines() {
				if i := strings.Index(l, text); i >= 0 {
					return styled.Width(l[:i], styled.WcWidth), y
				}
			}
			t.Fatalf("%q is not on the screen:\n%s", text, d.text())
			return 0, 0
		}
		d.text()
		x, y := row("   1   a")
		_, y2 := row("   3   c")
		d.raw = nil
		d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		d.send(tea.MouseMotionMsg{X: x + 60, Y: y2, Button: tea.MouseLeft})
		d.send(tea.MouseReleaseMsg{X: x + 60, Y: y2, Button: tea.MouseLeft})
		if diff := cmp.Diff([]string{clip.New(func(string) string { return "" }).Sequence(tt.want)}, d.raw); diff != "" {
			t.Errorf("%d columns: copied not %q (-want +got):\n%s\n%s", tt.width, tt.want, diff, d.text())
		}
	}
}

func TestQueued(t *testing.T) {
	open := reply(2, &lathe.Text{Text: "working on it"})
	open.Info.(*lathe.Assistant).Completed = time.Time{}
	d := withHistory(t, Options{}, question(1, "go"), open)
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	next := question(3, "and then this")
	d.event(lathe.MessageUpdated{Message: next}, lathe.PartUpdated{Part: next.Parts[0]})
	d.shows("and then this", "queued")
	done := reply(2)
	d.event(lathe.MessageUpdated{Message: done})
	d.hides("queued")
}

// TestWhatIsLeftOpen holds that a prompt which a stopped turn left behind is marked,
// and that an answer which nobody here is writing is not shown as final.
func TestWhatIsLeftOpen(t *testing.T) {
	open := reply(2, &lathe.Text{Text: "half an ans"})
	open.Info.(*lathe.Assistant).Completed = time.Time{}
	d := withHistory(t, Options{}, question(1, "go"), open)
	d.shows("half an ans", "not finished")
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.hides("not finished")
	next := question(3, "and then this")
	d.event(lathe.MessageUpdated{Message: next}, lathe.PartUpdated{Part: next.Parts[0]})
	d.shows("queued")
	stopped := reply(2)
	stopped.Info.(*lathe.Assistant).Error = &lathe.AbortedFailure{}
	d.event(lathe.MessageUpdated{Message: stopped}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.shows("and then this", "not answered")
	d.hides("queued", "not finished")
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.hides("not answered")
	d.event(lathe.MessageUpdated{Message: reply(4)}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.hides("not answered")
}

func TestMouseInLists(t *testing.T) {
	d := withHistory(t, Options{})
	for _, y := range []int{0, 1, 2, 40} { // no item is there
		d.press("ctrl+x", "m")
		d.text()
		d.send(tea.MouseClickMsg{X: 5, Y: d.app.below() + y, Button: tea.MouseLeft})
		d.shows("models")
		d.press("esc")
	}
	d.press("ctrl+x", "m")
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	for y, l := range d.lines() {
		if strings.Contains(l, "Small") {
			d.send(tea.MouseClickMsg{X: 5, Y: y, Button: tea.MouseLeft})
			break
		}
	}
	d.shows("build · acme/small")
}

// TestCopyIsWhole holds that what was broken to fit is copied as it was written,
// with the indentation of code.
func TestCopyIsWhole(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("several words ", 12))
	code := "if x {\n    return " + strings.Repeat("y", 90) + "\n}"
	d := withHistory(t, Options{Desk: Desk{Clipboard: clip.New(func(string) string { return "" })}}, question(1, "go"),
		reply(2, &lathe.Text{Text: long + "\n\n- 一" + strings.Repeat("漢字", 40) + "\n\n```go\n" + code + "\n```"}))
	row := func(text string) int {
		return slices.IndexFunc(d.lines(), func(l string) bool { return strings.Contains(l, text) })
	}
	for _, tt := range []struct{ from, want string }{
		{"several", long}, {"一", "• 一" + strings.Repeat("漢字", 40)}, {"if x", code},
	} {
		d.raw = nil
		lines, last := d.lines(), row(tt.from)
		for strings.TrimSpace(lines[last+1]) != "" {
			last++
		}
		d.send(tea.MouseClickMsg{X: 3, Y: row(tt.from), Button: tea.MouseLeft})
		d.send(tea.MouseMotionMsg{X: 79, Y: last, Button: tea.MouseLeft})
		d.send(tea.MouseReleaseMsg{X: 79, Y: last, Button: tea.MouseLeft})
		if diff := cmp.Diff([]string{clip.New(func(string) string { return "" }).Sequence(tt.want)}, d.raw); diff != "" {
			t.Errorf("copied not %q (-want +got):\n%s", tt.want, diff)
		}
	}
}
