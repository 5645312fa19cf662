package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/turn"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// told is what a run prints for events of the session "s".
func told(t *testing.T, o Options, events ...lathe.Event) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	shown := New(&console.Env{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}, o)
	for _, ev := range events {
		shown.Event(lathe.Envelope{Event: ev, Time: noon}, "s")
	}
	shown.End(turn.Outcome{}, 0)
	return out.String(), errs.String()
}

func assistant(id string, completed time.Time) lathe.MessageUpdated {
	return lathe.MessageUpdated{Message: lathe.Message{ID: lathe.MessageID(id), SessionID: "s", Info: &lathe.Assistant{Completed: completed}}}
}

func part(message, id string, body lathe.PartBody) lathe.PartUpdated {
	return lathe.PartUpdated{Part: lathe.Part{ID: lathe.PartID(id), MessageID: lathe.MessageID(message), SessionID: "s", Body: body}}
}

func done(command string) *lathe.ToolCall {
	input, _ := json.Marshal(map[string]string{"command": command})
	return &lathe.ToolCall{Tool: "bash", CallID: "c", State: &lathe.ToolDone{Input: input, Metadata: map[string]any{"output": "out of " + command}}}
}

func words(text string) *lathe.Text {
	return &lathe.Text{Text: text, Time: lathe.Span{Start: noon, End: noon}}
}

// TestOutputOldNews holds that changes to parts of earlier answers (a call that
// a crash left open, an output that is pruned, a summary) are not shown as work
// of this run.
func TestOutputOldNews(t *testing.T) {
	events := []lathe.Event{
		part("old", "p1", done("earlier")),
		lathe.MessageUpdated{Message: lathe.Message{ID: "user", SessionID: "s", Info: &lathe.User{}}},
		part("user", "p2", words("what was asked")),
		assistant("new", time.Time{}),
		part("new", "p3", words("let me see")),
		part("new", "p4", done("now")),
		part("new", "p4", done("now")), // its end is told twice
		part("new", "p5", words("the answer")),
		assistant("new", noon),
		part("old", "p6", done("pruned")),
		assistant("summary", noon),
		part("summary", "p7", words("a summary")),
	}
	out, errs := told(t, Options{}, events...)
	if diff := cmp.Diff("the answer\n", out); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("let me see\n● bash  now\n    out of now\n", errs); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
	out, errs = told(t, Options{JSON: true}, events...)
	if n := strings.Count(out, "\n"); n != 3 || errs != "" {
		t.Errorf("%d JSON lines, want 3\n%s%s", n, out, errs)
	}
	for line := range strings.Lines(out) {
		var v struct {
			Type, SessionID string
			Timestamp       int64
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.SessionID != "s" || v.Timestamp != noon.UnixMilli() {
			t.Errorf("line %q: %+v, %v", line, v, err)
		}
	}
}

// TestOutputCommand holds that a command is shown as it ran, with how it ended.
func TestOutputCommand(t *testing.T) {
	call := func(meta map[string]any, output string) *lathe.ToolCall {
		return &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{
			Title: "Tidies up", Input: json.RawMessage(`{"command":"rm -r old","description":"Tidies up"}`), Output: output, Metadata: meta,
		}}
	}
	_, errs := told(t, Options{},
		assistant("a", time.Time{}),
		part("a", "p1", call(map[string]any{"output": "gone", "exit": 0}, "gone")),
		part("a", "p2", call(map[string]any{"output": "no such", "exit": 3}, "no such")),
		part("a", "p3", call(map[string]any{"output": "", "exit": nil}, "(no output)\n\n<bash_metadata>\nended after 2s\n</bash_metadata>")),
	)
	want := "● bash  rm -r old\n    gone\n● bash  rm -r old\n    no such\n    exit code 3\n● bash  rm -r old\n    ended after 2s\n"
	if diff := cmp.Diff(want, errs); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}

func TestOutputFailure(t *testing.T) {
	_, errs := told(t, Options{}, lathe.SessionFailed{SessionID: "s", Failure: &lathe.OutputLengthFailure{}})
	want := "lathe: error: the answer was cut at the model's output limit\nlathe: hint: go on where it stopped with: lathe run -c \"go on\", or ask for less at once\n"
	if diff := cmp.Diff(want, errs); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}

func TestGlobTitle(t *testing.T) {
	for _, tt := range []struct{ where, input, want string }{
		{".", `{"pattern":"**/*.go"}`, "**/*.go"},
		{"internal", `{"pattern":"*.go","path":"internal"}`, "*.go in internal"},
		{"internal", `{}`, "internal"}, {"x", `{`, "x"}, {"*.go", `{"pattern":"*.go"}`, "*.go"},
	} {
		if got := globTitle(tt.where, json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%q %s: %q, want %q", tt.where, tt.input, got, tt.want)
		}
	}
}
