package tui

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe"
)

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
	d.shows("● $ sleep 9  stopped", "│ Which? Red, Blue", "│ How many? no answer", "● $ false  exit 1")
}
