package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lathe"
)

// TestLongToasts holds that what to do is not cut off, with and without a dialog.
func TestLongToasts(t *testing.T) {
	d := withHistory(t, Options{})
	long := lathe.Errorf(lathe.CodeInvalid, "do this to mend it", "%s", strings.Repeat("something is wrong ", 8))
	d.app.fail(long)
	d.shows("something is wrong", "do this to mend it", "❯ ask anything", "A title ──")
	d.press("ctrl+p")
	d.app.fail(long)
	d.shows("do this to mend it", "commands")
	d.press("esc")
	d.app.fail(errors.New(strings.Repeat("much too long ", 80)))
	if n := strings.Count(d.text(), "much too long"); n > 5*maxTold {
		t.Errorf("%d times on screen", n)
	}
	d.app.toast = toast{}
	d.app.fail(errors.New("short"))
	d.shows("── short ─")
}

// TestLeaderInAnAsk holds that a person can look around before they answer.
func TestLeaderInAnAsk(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "first"))
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_child", Permission: "bash", Metadata: map[string]any{"command": "ls"}}})
	d.shows("── permission: bash (another session, such as a subagent's) ──")
	d.press("ctrl+x", "g")
	d.shows("timeline")
	d.press("esc")
	d.shows("permission: bash")
	if got := d.engine.noted(); len(got) > 0 {
		t.Errorf("answered: %q", got)
	}
}

func TestQuestionsShowAll(t *testing.T) {
	d := withHistory(t, Options{})
	d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_1", Questions: []lathe.Question{{
		Text: "Which?", Options: []lathe.QuestionOption{{Label: "Red", Description: strings.Repeat("as red as it can be ", 5) + "END"}, {Label: "Blue", Description: "short"}},
	}}}})
	d.shows("END")
	d.press("down")
	d.hides("END")
}

// TestQuestionOfAnotherSession holds that it says so, as permission asks do, for as
// long as it is another one.
func TestQuestionOfAnotherSession(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "first"))
	d.event(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", SessionID: "ses_2", Questions: []lathe.Question{{Header: "Size", Text: "How large?", Custom: true}}}})
	d.shows("── question: Size (another session) ──")
	d.engine.sessions["ses_2"] = lathe.Session{ID: "ses_2", Title: "Another"}
	d.do(d.app.open("ses_2"))
	d.shows("── question: Size ──")
}

func TestAnswersAreShown(t *testing.T) {
	input, _ := json.Marshal(map[string]any{"questions": []any{map[string]any{"question": "Which?"}, map[string]any{"question": "How many?"}}})
	failed, _ := json.Marshal(map[string]any{"command": "false"})
	stopped, _ := json.Marshal(map[string]any{"command": "sleep 9"})
	d := withHistory(t, Options{}, question(1, "go"), reply(2,
		&lathe.ToolCall{Tool: "question", State: &lathe.ToolDone{Input: input, Title: "Asked 2 questions", Metadata: map[string]any{"answers": []any{[]any{"Red", "Blue"}, []any{}}}}},
		&lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: failed, Metadata: map[string]any{"exit": 1}}},
		&lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: stopped, Metadata: map[string]any{"exit": -1}}}))
	d.shows("● bash $ sleep 9  stopped", "│ Which? Red, Blue", "│ How many? no answer", "● bash $ false  exit 1")
}

// TestNoUnicode holds that what the screen itself draws is ASCII where that is asked.
func TestNoUnicode(t *testing.T) {
	input, _ := json.Marshal(map[string]any{"command": strings.Repeat("long ", 40)})
	d := withHistory(t, Options{ASCII: true}, question(1, "first"), reply(2,
		&lathe.Reasoning{Text: "I think", Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(4, 0)}},
		&lathe.Text{Text: "# Head\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n---\n\n```go\nx := 1\n```"},
		&lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: input, Output: strings.Repeat("x\n", 30)}}))
	for _, keys := range [][]string{{}, {"ctrl+p"}, {"f1"}, {"ctrl+x", "l"}, {"ctrl+x", "m"}, {"ctrl+x", "g"}, {"ctrl+x", "t"}} {
		d.press(keys...)
		for _, line := range strings.Split(ansi.Strip(d.app.View().Content), "\n") {
			if i := strings.IndexFunc(line, func(r rune) bool { return r > 126 }); i >= 0 {
				t.Errorf("after %q: %q", keys, line)
			}
		}
		d.press("esc")
	}
}

// TestResizeKeepsThePlace holds that what is read stays on screen in a long answer.
func TestResizeKeepsThePlace(t *testing.T) {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "- line %03d of the answer, with enough words to need several rows where it is narrow\n", i)
	}
	d := withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: text.String()}))
	for range 10 {
		d.press("pgup")
	}
	middle := func() (n int) {
		for _, l := range d.lines() {
			if _, err := fmt.Sscanf(strings.TrimSpace(l), "• line %d", &n); err == nil {
				return n
			}
		}
		return -1
	}
	was := middle()
	for _, w := range []int{30, 200, 80} {
		d.send(tea.WindowSizeMsg{Width: w, Height: 24})
		if now := middle(); max(now-was, was-now) > 12 {
			t.Errorf("at %d columns line %d is on top, before %d", w, now, was)
		}
	}
}

// TestAgainIsSoon holds that a key that was pressed long ago does not count.
func TestAgainIsSoon(t *testing.T) {
	d := withHistory(t, Options{})
	d.press("ctrl+c")
	d.now = d.now.Add(again + time.Second)
	d.press("ctrl+c")
	if d.quit {
		t.Error("it left")
	}
	d.press("ctrl+c")
	if !d.quit {
		t.Error("it did not leave")
	}
}

// TestUndoThatFails holds that a refused undo leaves the input alone.
func TestUndoThatFails(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "first"))
	d.engine.fail = lathe.Errorf(lathe.CodeBusy, "wait for it", "the session is busy")
	d.press("ctrl+x", "u")
	d.shows("the session is busy")
	if !d.app.input.Empty() {
		t.Errorf("the input holds %q", d.app.input.Text())
	}
}
