package guide

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
)

// TestReplaceConversation drives the guide through a whole request, as the turn does.
func TestReplaceConversation(t *testing.T) {
	req := request("replace foo with bar in a.txt")
	names, last := drive(t, New(Options{}), req, "ok")
	if diff := cmp.Diff([]string{"read", "edit"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !strings.Contains(last, "I replaced `foo` with `bar` in a.txt.") || !strings.Contains(last, "not a language model") {
		t.Errorf("final answer is %q", last)
	}
}

func request(prompt string) *llm.Request {
	return &llm.Request{
		System:   []string{"<env>\n  Working directory: /r\n</env>"},
		Tools:    []llm.Tool{{Name: "bash"}, {Name: "read"}, {Name: "edit"}, {Name: "glob"}, {Name: "grep"}, {Name: "write"}},
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: prompt}}}},
	}
}

// drive answers calls with the outputs, the last of them again and again, and
// returns the names of the tools and the final answer.
func drive(t *testing.T, m *Model, req *llm.Request, outputs ...string) (names []string, last string) {
	t.Helper()
	for range 8 {
		calls, text, fin := collect(t, m, req)
		last = text
		if fin.Reason != llm.FinishToolCalls {
			return names, last
		}
		var said, results []llm.Content
		for _, c := range calls {
			names = append(names, c.Name)
			said = append(said, llm.ToolUse{ID: c.CallID, Name: c.Name, Input: json.RawMessage(c.Input)})
			results = append(results, llm.ToolResult{ID: c.CallID, Name: c.Name, Output: outputs[0]})
			if len(outputs) > 1 {
				outputs = outputs[1:]
			}
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: said}, llm.Message{Role: llm.RoleTool, Content: results})
	}
	t.Fatalf("the guide comes to no end: %q", names)
	return nil, ""
}

func TestTitle(t *testing.T) {
	calls, text, fin := collect(t, New(Options{}), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{
		llm.Text{Text: "Generate a title for this conversation:\n"}, llm.Text{Text: "fix the door\nnow"},
	}}}})
	if text != "fix the door" || len(calls) != 0 || fin.Reason != llm.FinishStop {
		t.Errorf("title is %q with %d calls, %v", text, len(calls), fin)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for ev, err := range New(Options{}).Stream(ctx, &llm.Request{}) {
		if err == nil {
			t.Errorf("got %v after cancel", ev)
		}
	}
}

func collect(t *testing.T, m *Model, req *llm.Request) (calls []llm.ToolEnd, text string, fin llm.Finish) {
	t.Helper()
	for ev, err := range m.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			text += ev.Text
		case llm.ToolEnd:
			calls = append(calls, ev)
		case llm.Finish:
			fin = ev
		}
	}
	return calls, text, fin
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"find x", "replace a with b in c", "创建 a 内容为 b", "run `x`", "修正 a 的错别字", "make it `so`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		if r := New(Options{}).answer(request(prompt)); r.text == "" && len(r.calls) == 0 {
			t.Errorf("no answer to %q", prompt)
		}
	})
}
