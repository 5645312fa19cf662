package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
)

func TestPromptMakesASession(t *testing.T) {
	d := drive(t, Options{})
	d.shows("lathe "+lathe.Version, "build · acme/big · ~/proj")
	d.typed("hello")
	d.press("alt+enter")
	d.typed("世界")
	d.press("enter")
	want := []string{"create", `prompt ses_new "hello\n世界"  `}
	if diff := cmp.Diff(want, d.engine.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if d.app.session.ID != "ses_new" || !d.app.input.Empty() {
		t.Errorf("session %q, input %q", d.app.session.ID, d.app.input.Text())
	}
	d.press("up")
	d.shows("❯ hello", "世界")
}

func TestWhatCannotBeSentComesBack(t *testing.T) {
	d := withHistory(t, Options{})
	d.engine.fail = lathe.Errorf(lathe.CodeBusy, "wait for it", "the session is busy")
	d.typed("do it")
	d.press("enter")
	d.shows("❯ do it", "the session is busy — wait for it")
}

func TestSending(t *testing.T) {
	for _, tt := range []struct{ typed, want string }{
		{"!ls -l", `shell ses_1 "ls -l"`},
		{"/review HEAD~1", `command ses_1 review "HEAD~1"`},
		{"/etc/passwd is what?", `prompt ses_1 "/etc/passwd is what?"  `},
		{"/undo", "revert ses_1 msg_1"},
	} {
		d := withHistory(t, Options{}, question(1, "first"))
		d.typed(tt.typed)
		d.press("esc", "enter")
		if diff := cmp.Diff([]string{tt.want}, d.engine.noted()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.typed, diff)
		}
	}
	d := withHistory(t, Options{})
	d.typed("/nosuch")
	d.press("esc", "enter")
	d.shows("there is no command /nosuch", "❯ /nosuch")
}

func TestConversation(t *testing.T) {
	input, _ := json.Marshal(map[string]any{"command": "go test ./..."})
	edit, _ := json.Marshal(map[string]any{"filePath": "main.go"})
	d := withHistory(t, Options{}, question(1, "fix \x1b[31mit\x1b[0m"), reply(2,
		&lathe.Reasoning{Text: "I think\nabout it", Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(4, 0)}},
		&lathe.Text{Text: "I will *look*."},
		&lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: input, Output: "ok  a\nok  b", Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(2, 0)}}},
		&lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Input: edit, Metadata: map[string]any{"diff": "--- a\n+++ b\n@@ -3 +3 @@\n-old\n+new\n"}}},
		&lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: input, Error: "boom\x07"}},
		&lathe.Text{Text: "Done."}))
	want := []string{
		" ▌ fix it", "", " ▸ thought for 4s I think", "", "   I will look.", "",
		" ● $ go test ./...  2s", "   │ ok  a", "   │ ok  b", "",
		" ● edit main.go  +1 −1", "   │    3 - old", "   │    3 + new", "",
		" ✗ $ go test ./...", "   │ boom", "", "   Done.", "", "   build · acme/big · 3s",
	}
	got := d.lines()
	if diff := cmp.Diff(want, got[1:1+len(want)]); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
	d.shows("12k 12%", " A title ──")
	d.press("ctrl+x", "i")
	d.shows("┊ I think", "┊ about it")
}

func TestStreaming(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"))
	m := reply(2)
	m.Info.(*lathe.Assistant).Completed = time.Time{}
	open := part(m, 1, &lathe.Text{})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: open})
	for _, s := range []string{"Some **bo", "ld** text\n\n- a", "\n- b"} {
		d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: open.ID, Delta: s})
	}
	d.now = d.now.Add(5 * time.Second)
	d.shows("Some bold text", "• a", "• b", "working 5s", "esc stops", "second thing (1 of 2 done)")
	d.event(lathe.PartDelta{SessionID: "ses_other", MessageID: m.ID, PartID: open.ID, Delta: "intruder"})
	d.hides("intruder")
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Retrying{Attempt: 2, Message: "overloaded", Next: d.now.Add(9 * time.Second)}})
	d.shows("overloaded; attempt 3 in 9s")
	d.press("esc")
	d.shows("again to stop")
	d.press("esc")
	if diff := cmp.Diff([]string{"abort ses_1"}, d.engine.noted()); diff != "" {
		t.Error(diff)
	}
	d.app.toast = toast{}
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.hides("working")
}

func TestPermission(t *testing.T) {
	ask := lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"rm *"}, Always: []string{"rm *"}, Metadata: map[string]any{"command": "rm -rf \x1b[8mx"}}
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{"y"}, `reply per_1 once "" project=false`},
		{[]string{"enter"}, `reply per_1 once "" project=false`},
		{[]string{"a", "ctrl+y"}, `reply per_1 always "" project=false patterns=[rm *]`},
		{[]string{"a", "tab", "down", "enter"}, `reply per_1 always "" project=true patterns=[rm *]`},
		{[]string{"a", "esc", "esc"}, `reply per_1 reject "" project=false`},
		{[]string{"esc"}, `reply per_1 reject "" project=false`},
		{[]string{"t", "n", "o", "enter"}, `reply per_1 reject "no" project=false`},
	} {
		d := withHistory(t, Options{})
		d.event(lathe.PermissionAsked{Ask: ask}, lathe.PermissionAsked{Ask: ask})
		d.shows("permission: bash", "$ rm -rf x", "allow from now on")
		d.press(tt.keys...)
		if diff := cmp.Diff([]string{tt.want}, d.engine.noted()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.keys, diff)
		}
		d.hides("permission:")
	}
}

// TestAskDoesNotTakeTypedKeys holds that an ask which appears while the person
// types is not answered by what they were typing.
func TestAskDoesNotTakeTypedKeys(t *testing.T) {
	d := withHistory(t, Options{})
	d.typed("why")
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"x"}}})
	d.typed(" yes any")
	if calls := d.engine.noted(); calls != nil || d.app.input.Text() != "why yes any" {
		t.Errorf("calls %v, input %q", calls, d.app.input.Text())
	}
	d.lines()
	d.now = d.now.Add(2 * dialog.Quiet)
	d.shows("you are writing · tab turns to this")
	d.press("tab", "y")
	if diff := cmp.Diff([]string{`reply per_1 once "" project=false`}, d.engine.noted()); diff != "" {
		t.Error(diff)
	}
	d.shows("❯ why yes any")
}

func TestAskAnsweredElsewhere(t *testing.T) {
	d := withHistory(t, Options{})
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", Permission: "edit"}})
	d.shows("permission: edit")
	d.event(lathe.PermissionReplied{AskID: "per_1", Reply: lathe.Once})
	d.hides("permission:")
}

func TestQuestions(t *testing.T) {
	d := withHistory(t, Options{})
	d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{
		{Text: "Which one?", Options: []lathe.QuestionOption{{Label: "A"}, {Label: "B"}}},
		{Text: "Which of these?", Multiple: true, Options: []lathe.QuestionOption{{Label: "C"}, {Label: "D"}, {Label: "E"}}},
		{Text: "Why?", Custom: true},
	}}})
	d.shows("question 1 of 3", "Which one?")
	d.press("2")
	d.shows("question 2 of 3")
	d.press("space", "down", "down", "space", "enter")
	d.typed("just so")
	d.shows("your answer: just so")
	d.press("enter")
	if diff := cmp.Diff([]string{`answer que_1 [["B"] ["C" "E"] ["just so"]]`}, d.engine.noted()); diff != "" {
		t.Error(diff)
	}
	d.hides("question")
}

func TestChoosing(t *testing.T) {
	d := withHistory(t, Options{})
	d.press("ctrl+x", "m")
	d.shows("models", "Small", "$0.25/$1")
	d.typed("sma")
	d.press("enter")
	d.shows("build · acme/small")
	d.press("tab")
	d.shows("plan · acme/small")
	d.press("shift+tab")
	d.typed("x")
	d.press("enter")
	if diff := cmp.Diff([]string{`prompt ses_1 "x" build acme/small`}, d.engine.noted()); diff != "" {
		t.Error(diff)
	}
	d.press("ctrl+x", "t")
	before := d.app.look.Theme.Name
	d.press("down")
	if d.app.look.Theme.Name == before {
		t.Error("the theme is not shown while it is gone through")
	}
	d.press("esc")
	if d.app.look.Theme.Name != before {
		t.Error("leaving the list keeps another theme")
	}
	d.press("f1", "/")
	d.typed("/rename")
	d.shows("help", "/rename")
	d.press("esc", "esc")
	d.typed("/ren")
	d.shows("/rename")
	d.press("enter")
	d.shows("rename the session")
	d.typed("!")
	d.press("enter")
	if diff := cmp.Diff([]string{"rename ses_1 A title!"}, d.engine.noted()); diff != "" {
		t.Error(diff)
	}
}

func TestConnect(t *testing.T) {
	d := drive(t, Options{})
	d.typed("/conn")
	d.press("enter")
	d.shows("connect a provider", "usual", "OpenAI", "others", "Acme")
	d.press("enter")
	d.send(tea.PasteMsg{Content: "sk-secret"})
	d.shows("key for OpenAI", "•••••••••")
	d.hides("secret")
	d.press("enter")
	if diff := cmp.Diff([]string{"connect openai sk-secret"}, d.engine.noted()); diff != "" {
		t.Error(diff)
	}
	d.shows("connected OpenAI", "models", "Big")
}

func TestCompletion(t *testing.T) {
	d := withHistory(t, Options{})
	d.typed("see @doc")
	d.shows("docs/guide.md")
	d.press("tab")
	if got := d.app.input.Text(); got != "see @docs/" {
		t.Errorf("input %q", got)
	}
	d.shows("docs/guide.md")
	d.press("tab", "enter")
	if got := d.app.input.Text(); got != "see @docs/guide.md " {
		t.Errorf("input %q", got)
	}
	d.press("ctrl+u")
	d.typed("see @docs/")
	d.press("enter")
	if got := d.app.input.Text(); got != "see @docs/ " {
		t.Errorf("input %q", got)
	}
	d.press("backspace")
	d.typed("g")
	d.press("enter")
	if got := d.app.input.Text(); got != "see @docs/guide.md " {
		t.Errorf("input %q", got)
	}
	d.typed("@ex")
	d.shows("explore", "agent:")
	d.press("esc")
	d.hides("agent:")
}

func TestDraftsAndSessions(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "one"))
	d.engine.sessions["ses_2"] = lathe.Session{ID: "ses_2", Title: "Other", Updated: d.now}
	d.typed("half a thou")
	d.press("ctrl+x", "l")
	d.typed("other")
	d.press("enter")
	d.shows("Other ──")
	d.hides("half a thou")
	d.press("ctrl+x", "n")
	d.shows("lathe " + lathe.Version)
	d.press("ctrl+x", "l")
	d.typed("title")
	d.press("enter")
	d.shows("❯ half a thou", "▌ one")
}

func TestScrolling(t *testing.T) {
	var list []lathe.Message
	for i := 1; i <= 200; i++ {
		list = append(list, question(i, fmt.Sprintf("message number %d", i)))
	}
	d := withHistory(t, Options{}, list...)
	d.shows("message number 200")
	d.press("home")
	d.press("home")
	d.press("home")
	d.shows("message number 1\n", "earlier messages")
	if len(d.app.conv.Messages()) != 200 {
		t.Errorf("%d messages were read", len(d.app.conv.Messages()))
	}
	d.press("pgdown")
	d.hides("message number 1\n")
	d.press("end")
	d.shows("message number 200")
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	d.hides("message number 200")
	before := d.text()
	d.event(lathe.MessageUpdated{Message: question(201, "")}, lathe.PartUpdated{Part: question(201, "new text").Parts[0]})
	if diff := cmp.Diff(before, d.text()); diff != "" {
		t.Errorf("new text moved what is read (-before +after):\n%s", diff)
	}
	d.press("ctrl+x", "g")
	d.typed("number 50")
	d.press("enter", "enter")
	d.shows("message number 50\n")
}

func TestLeaving(t *testing.T) {
	d := withHistory(t, Options{})
	d.typed("text")
	d.press("ctrl+c")
	if d.quit || !d.app.input.Empty() {
		t.Fatal("ctrl+c did not clear the input")
	}
	d.press("ctrl+c")
	d.shows("press it again to leave")
	d.press("ctrl+c")
	if !d.quit {
		t.Error("it did not leave")
	}
}

func TestCopyAndUndone(t *testing.T) {
	d := withHistory(t, Options{Desk: Desk{Getenv: func(k string) string { return map[string]string{"TMUX": "x"}[k] }}},
		question(1, "one"), reply(2, &lathe.Text{Text: "答え"}), question(3, "two"), reply(4))
	d.press("ctrl+x", "y")
	if want := []string{"\x1b]52;c;562U44GI\x07\x1bPtmux;\x1b\x1b]52;c;562U44GI\x07\x1b\\"}; !cmp.Equal(d.raw, want) {
		t.Errorf("copied %q, want %q", d.raw, want)
	}
	s := d.engine.sessions["ses_1"]
	s.Revert = &lathe.Revert{MessageID: "msg_3"}
	d.event(lathe.SessionUpdated{Session: s})
	d.hides("▌ two")
	d.shows("later messages are undone")
}

func TestASCII(t *testing.T) {
	d := withHistory(t, Options{ASCII: true}, question(1, "x"), reply(2, &lathe.Text{Text: "- a\n\n> b"}, &lathe.ToolCall{Tool: "read", State: &lathe.ToolRunning{}}))
	d.press("ctrl+p")
	if text := strings.ReplaceAll(d.text(), "·", ""); strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f }) {
		t.Errorf("not ASCII:\n%s", text)
	}
}

// TestAnything holds that whatever happens in whatever order at whatever size,
// the screen is as large as the terminal and no line is wider.
func TestAnything(t *testing.T) {
	words := []string{"plain words ", "漢字かな ", "👩‍👩‍👧 ", "`code` ", "\n\n- item ", "\x1b[2J", "\u202e", "| a | b |\n|---|---|\n| 漢 | x |\n", "```go\nfunc f() {}\n", "averyveryveryverylongwordwithoutanyspaceinit "}
	strokes := []string{"a", "漢", "@", "/", "enter", "esc", "up", "down", "left", "backspace", "tab", "pgup", "pgdown", "home", "end", "ctrl+p", "ctrl+x", "m", "l", "g", "t", "ctrl+c", "ctrl+w", "alt+enter", "f1", "y"}
	rapid.Check(t, func(rt *rapid.T) {
		d := withHistory(t, Options{ASCII: rapid.Bool().Draw(rt, "ascii")}, question(1, "one"), reply(2, &lathe.Text{Text: "two"}))
		next := 3
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 8).Draw(rt, "kind") {
			case 0:
				d.send(tea.WindowSizeMsg{Width: rapid.IntRange(1, 140).Draw(rt, "width"), Height: rapid.IntRange(1, 40).Draw(rt, "height")})
			case 1:
				m := reply(next, &lathe.Text{Text: rapid.SampledFrom(words).Draw(rt, "word")})
				next++
				d.event(lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: m.Parts[0]})
			case 2:
				id := lathe.MessageID(fmt.Sprintf("msg_%d", next-1))
				d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: id, PartID: lathe.PartID(fmt.Sprintf("prt_%s_1", id)), Delta: rapid.SampledFrom(words).Draw(rt, "delta")})
			case 3:
				d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", Permission: "bash", Patterns: words, Always: words, Metadata: map[string]any{"diff": "@@ -1 +1 @@\n-漢字\n+" + words[9]}}})
			case 4:
				d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", Questions: []lathe.Question{{Text: words[9] + words[9], Options: []lathe.QuestionOption{{Label: words[1]}}, Custom: true}}}})
			case 6:
				x, y := rapid.IntRange(0, 150).Draw(rt, "x"), rapid.IntRange(0, 45).Draw(rt, "y")
				for _, m := range rapid.SliceOfN(rapid.SampledFrom([]tea.Msg{
					tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, tea.MouseMotionMsg{X: y, Y: x, Button: tea.MouseLeft},
					tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft}, tea.MouseWheelMsg{Button: tea.MouseWheelUp},
				}), 1, 4).Draw(rt, "mouse") {
					d.send(m)
				}
			case 5:
				d.send(tea.PasteMsg{Content: strings.Repeat(rapid.SampledFrom(words).Draw(rt, "pasted"), 8)})
			default:
				d.now = d.now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(rt, "ms")) * time.Millisecond)
				d.press(rapid.SampledFrom(strokes).Draw(rt, "stroke"))
			}
			d.app.flow()
			if n := len(d.app.region().Lines); n > d.app.height {
				rt.Fatalf("the region has %d lines on a screen of %d", n, d.app.height)
			}
			for _, l := range d.app.region().Lines {
				if w := l.Width(styled.WcWidth); w > d.app.look.Width {
					rt.Fatalf("a line of the region is %d wide, more than %d: %q", w, d.app.look.Width, l.Text())
				}
			}
			lines, cursor := d.app.screen()
			if len(lines) != d.app.height {
				rt.Fatalf("%d lines on a screen of %d", len(lines), d.app.height)
			}
			for _, l := range lines {
				if w := l.Width(styled.WcWidth); w > d.app.look.Width {
					rt.Fatalf("a line is %d wide, more than %d: %q", w, d.app.look.Width, l.Text())
				}
				if strings.ContainsAny(l.Text(), "\x1b\n\u202e") {
					rt.Fatalf("line %q", l.Text())
				}
			}
			if cursor != nil && (cursor.X < 0 || cursor.X >= d.app.look.Width || cursor.Y < 0 || cursor.Y >= d.app.height) {
				rt.Fatalf("cursor at %v", cursor.Position)
			}
		}
	})
}

func TestErrorsAreShown(t *testing.T) {
	d := withHistory(t, Options{})
	d.app.fail(errors.New("it \x1b[31mbroke"))
	d.shows("it broke")
	d.now = d.now.Add(time.Minute)
	d.send(tickMsg{})
	d.hides("it broke")
}
