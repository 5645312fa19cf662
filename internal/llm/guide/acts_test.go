package guide

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
)

// TestNoMarkup: what tools mark up for models is not shown to people.
func TestNoMarkup(t *testing.T) {
	file := "<path>/r/a.md</path>\n<type>file</type>\n<content>\n1: ```\n2: <content>\n3: 3: x\n\n(End of file - total 3 lines)\n</content>"
	for prompt, outputs := range map[string][]string{
		"read a.md":     {file},
		"读取 a.md":       {file},
		"list files":    {"<path>/r</path>\n<type>directory</type>\n<entries>\na.md\n\n(1 entries)\n</entries>"},
		"run true":      {"begun\n\n<bash_metadata>\nThe command was stopped.\n</bash_metadata>"},
		"improve a.md":  {file},
		"find x":        {"Found 1 matches\n/r/a.md:\n  Line 3: 3: x"},
		"explain a.png": {"Image read successfully"},
	} {
		_, got := drive(t, New(Options{}), request(prompt), outputs...)
		for _, bad := range []string{"<path>", "<type>", "</content>", "<entries>", "<bash_metadata>", "1: ```", "/r/a.md"} {
			if strings.Contains(got, bad) {
				t.Errorf("the answer to %q shows %q:\n%s", prompt, bad, got)
			}
		}
	}
	_, got := drive(t, New(Options{}), request("read a.md"), file)
	if want := "`a.md`:\n\n````\n```\n<content>\n3: x\n````\n"; !strings.HasPrefix(got, want) {
		t.Errorf("a.md is shown as %q, want %q", got, want)
	}
}

func TestProofread(t *testing.T) {
	text := "<content>\n1: # Teh title\n2: \n3: We recieve the the mail, `teh` code.\n4: \n5: ```\n6: teh\n7: ```\n\n(End of file - total 7 lines)\n</content>"
	m, req := New(Options{}), request("fix the typo in README")
	calls, _, _ := collect(t, m, req)
	if len(calls) != 1 || calls[0].Input != `{"filePath":"README.md"}` {
		t.Fatalf("first calls are %+v", calls)
	}
	names, got := drive(t, m, req, text, "ok")
	if diff := cmp.Diff([]string{"read", "edit", "edit"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if want := "I mended README.md: `Teh` → `The`, `recieve` → `receive`, `the the` → `the`."; !strings.HasPrefix(got, want) {
		t.Errorf("answer is %q, want %q", got, want)
	}
	want := []slip{{"recieve", "receive", "We recieve the the mail, `teh` code.", "We receive the mail, `teh` code."}, {"the the", "the", "We recieve the the mail, `teh` code.", "We receive the mail, `teh` code."}}
	if diff := cmp.Diff(want, slips("We recieve the the mail, `teh` code.\n"), cmp.AllowUnexported(slip{})); diff != "" {
		t.Errorf("slips (-want +got):\n%s", diff)
	}
	if _, got := drive(t, m, request("fix the typo in README"), "<content>\n1: Fine.\n</content>"); !strings.Contains(got, "found none") {
		t.Errorf("a clean file is answered with %q", got)
	}
}

// TestDemo: the demonstration shows a change, and asks only where somebody can answer.
func TestDemo(t *testing.T) {
	for _, tt := range []struct {
		attended bool
		want     []string
	}{
		{false, []string{"glob", "write", "edit"}},
		{true, []string{"glob", "write", "edit", "read"}},
	} {
		names, got := drive(t, New(Options{Attended: tt.attended}), request("show me a change"), "No files found")
		if diff := cmp.Diff(tt.want, names); diff != "" {
			t.Errorf("attended %v: calls (-want +got):\n%s", tt.attended, diff)
		}
		if !strings.Contains(got, "lathe session revert") || !strings.Contains(got, "/undo") {
			t.Errorf("attended %v: the answer does not say how to undo: %q", tt.attended, got)
		}
	}
	names, got := drive(t, New(Options{}), request("demo"), "/r/lathe-demo.md")
	if diff := cmp.Diff([]string{"glob"}, names); diff != "" || !strings.Contains(got, "already") {
		t.Errorf("with the file there already: %q, calls (-want +got):\n%s", got, diff)
	}
}

// TestReadNear: a file that is named roughly is read all the same.
func TestReadNear(t *testing.T) {
	m, req := New(Options{}), request("show me the README")
	calls, _, _ := collect(t, m, req)
	if len(calls) != 1 {
		t.Fatalf("calls are %+v", calls)
	}
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: []llm.Content{llm.ToolUse{ID: "1", Name: "read", Input: json.RawMessage(calls[0].Input)}}},
		llm.Message{Role: llm.RoleTool, Content: []llm.Content{llm.ToolResult{ID: "1", Name: "read", Failed: true, Output: "File not found: /r/README\n\nDid you mean one of these?\n/r/README.md"}}})
	if calls, _, _ = collect(t, m, req); len(calls) != 1 || calls[0].Input != `{"filePath":"/r/README.md"}` {
		t.Errorf("then %+v", calls)
	}
}
