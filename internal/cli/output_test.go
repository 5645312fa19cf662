package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/turn"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// told is what a run prints for events of the session "s".
func told(t *testing.T, o runOptions, events ...lathe.Event) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	shown := newOutput(&Env{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}, o)
	for _, ev := range events {
		shown.event(lathe.Envelope{Event: ev, Time: noon}, "s")
	}
	shown.end(turn.Outcome{}, 0)
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
	out, errs := told(t, runOptions{format: "default"}, events...)
	if diff := cmp.Diff("the answer\n", out); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("let me see\n● bash  now\n    out of now\n", errs); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
	out, errs = told(t, runOptions{format: "json"}, events...)
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

func TestCutLines(t *testing.T) {
	for _, tt := range []struct {
		in, name, query string
		ok              bool
	}{
		{"a.go:5", "a.go", "end=5&start=5", true},
		{"a.go:5-20", "a.go", "end=20&start=5", true},
		{"dir/a:b:7-7", "dir/a:b", "end=7&start=7", true},
		{"a.go", "", "", false}, {"a.go:", "", "", false}, {":5", "", "", false},
		{"a.go:0", "", "", false}, {"a.go:9-5", "", "", false}, {"a.go:5-", "", "", false}, {"a.go:x", "", "", false},
	} {
		name, query, ok := cutLines(tt.in)
		if name != tt.name || query.Encode() != tt.query || ok != tt.ok {
			t.Errorf("%q: %q %q %v", tt.in, name, query.Encode(), ok)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// TestSink holds that a failed write ends the work once and fails all later ones.
func TestSink(t *testing.T) {
	stops := 0
	s := &sink{to: brokenWriter{bytes.ErrTooLarge}, stop: func(error) { stops++ }}
	for range 3 {
		if n, err := s.Write([]byte("x")); n != 0 || err == nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if stops != 1 || s.failed() == nil {
		t.Errorf("stopped %d times, %v", stops, s.failed())
	}
}

// TestOutputCommand holds that a command is shown as it ran, with how it ended.
func TestOutputCommand(t *testing.T) {
	call := func(meta map[string]any, output string) *lathe.ToolCall {
		return &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{
			Title: "Tidies up", Input: json.RawMessage(`{"command":"rm -r old","description":"Tidies up"}`), Output: output, Metadata: meta,
		}}
	}
	_, errs := told(t, runOptions{format: "default"},
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
	_, errs := told(t, runOptions{format: "default"}, lathe.SessionFailed{SessionID: "s", Failure: &lathe.OutputLengthFailure{}})
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
