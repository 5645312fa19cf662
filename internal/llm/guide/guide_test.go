package guide

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
)

func TestParse(t *testing.T) {
	for prompt, want := range map[string]intent{
		"":                                   help{},
		"hello":                              help{},
		"give me a tour":                     tour{},
		"What is this project?":              tour{},
		"介绍一下这个项目":                           tour{},
		"find TODO":                          find{"TODO"},
		"where is Parse defined?":            find{"Parse"},
		"search for \"a b\"":                 find{"a b"},
		"查找 main":                            find{"main"},
		"read README.md":                     read{"README.md"},
		"show me internal/a/b.go":            read{"internal/a/b.go"},
		"count lines":                        countLines{},
		"how many lines in a.txt?":           countLines{"a.txt"},
		"count go files":                     countFiles{"go"},
		"how many files are there?":          countFiles{},
		"有多少 go 文件":                          countFiles{"go"},
		"count panic":                        count{"panic"},
		"replace foo with bar in a.txt":      replace{"foo", "bar", "a.txt"},
		`change "x y" to 'z' in dir/b.md`:    replace{"x y", "z", "dir/b.md"},
		"在 a.txt 中把 foo 改成 bar":              replace{"foo", "bar", "a.txt"},
		"create hello.txt with hello there":  create{"hello.txt", "hello there"},
		"please create a file a.md with # A": create{"a.md", "# A"},
		"run git status":                     run{"git status"},
		"run the tests":                      test{},
		"test":                               test{},
		strings.Repeat("find ", 1000):        help{},
	} {
		if diff := cmp.Diff(want, parse(prompt), cmp.AllowUnexported(find{}, read{}, count{}, countFiles{}, countLines{}, run{}, create{}, replace{})); diff != "" {
			t.Errorf("parse(%.40q) (-want +got):\n%s", prompt, diff)
		}
	}
}

// TestReplaceConversation drives the guide through a whole request, as the turn does.
func TestReplaceConversation(t *testing.T) {
	req := &llm.Request{
		Tools:    []llm.Tool{{Name: "read"}, {Name: "edit"}},
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "replace foo with bar in a.txt"}}}},
	}
	var names []string
	var last string
	for range 5 {
		calls, text, fin := collect(t, req)
		last = text
		if fin.Reason != llm.FinishToolCalls {
			break
		}
		var said, results []llm.Content
		for _, c := range calls {
			names = append(names, c.Name)
			said = append(said, llm.ToolUse{ID: c.CallID, Name: c.Name, Input: json.RawMessage(c.Input)})
			results = append(results, llm.ToolResult{ID: c.CallID, Name: c.Name, Output: "ok"})
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: said}, llm.Message{Role: llm.RoleTool, Content: results})
	}
	if diff := cmp.Diff([]string{"read", "edit"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !strings.Contains(last, "I replaced `foo` with `bar` in a.txt.") || !strings.Contains(last, "not a language model") {
		t.Errorf("final answer is %q", last)
	}
}

func TestTourAnswers(t *testing.T) {
	s := state{prompt: "tour", results: []llm.ToolResult{
		{Output: "/r/a.go\n/r/b.go\n/r/README.md\n"}, {Output: "/r/README.md\n"}, {Output: "No files found"},
		{Output: "<path>/r/README.md</path>\n<content>\n1: # Title\n2: \n3: It makes tea.\n4: \n5: More.\n"},
	}}
	got := tour{}.next(s)
	for _, want := range []string{"3 files (2 .go, 1 .md)", "It makes tea."} {
		if !strings.Contains(got.text, want) {
			t.Errorf("tour says %q, want it to say %q", got.text, want)
		}
	}
}

func TestTitle(t *testing.T) {
	calls, text, fin := collect(t, &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{
		llm.Text{Text: "Generate a title for this conversation:\n"}, llm.Text{Text: "fix the door\nnow"},
	}}}})
	if text != "fix the door" || len(calls) != 0 || fin.Reason != llm.FinishStop {
		t.Errorf("title is %q with %d calls, %v", text, len(calls), fin)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for ev, err := range New().Stream(ctx, &llm.Request{}) {
		if err == nil {
			t.Errorf("got %v after cancel", ev)
		}
	}
}

func collect(t *testing.T, req *llm.Request) (calls []llm.ToolEnd, text string, fin llm.Finish) {
	t.Helper()
	for ev, err := range New().Stream(t.Context(), req) {
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
	for _, s := range []string{"find x", "replace a with b in c", "创建 a 内容为 b", "run `x`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		req := &llm.Request{Tools: []llm.Tool{{Name: "read"}}, Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: prompt}}}}}
		if r := answer(req); r.text == "" && len(r.calls) == 0 {
			t.Errorf("no answer to %q", prompt)
		}
	})
}
