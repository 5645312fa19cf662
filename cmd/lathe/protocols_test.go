package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm"
	"lathe/internal/llm/llmtest"
)

// TestProtocols does the same work through each protocol: two steps with
// parallel tools, reasoning and a picture, then more of it in a new process.
func TestProtocols(t *testing.T) {
	for _, protocol := range []string{"anthropic", "openai", "openaichat", "google"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("a.txt", "alpha\n")
			w.write("b.txt", "beta\n")
			w.write("pic.png", string(tinyPNG()))
			path := func(name string) string { return filepath.Join(w.dir, name) }
			s := w.model(protocol, llmtest.Script{
				{Blocks: []llmtest.Block{
					llmtest.Reasoning{Text: "read both files first"},
					llmtest.Text("Reading."),
					llmtest.Call{Name: "read", Args: fmt.Sprintf(`{"filePath":%q}`, path("a.txt"))},
					llmtest.Call{Name: "read", Args: fmt.Sprintf(`{"filePath":%q}`, path("b.txt"))},
				}},
				{Blocks: []llmtest.Block{
					llmtest.Reasoning{Text: "now change one"},
					llmtest.Call{Name: "edit", Args: fmt.Sprintf(`{"filePath":%q,"oldString":"alpha","newString":"ALPHA"}`, path("a.txt"))},
					llmtest.Call{Name: "bash", Args: `{"command":"printf gamma","description":"print"}`},
				}},
				{Blocks: []llmtest.Block{llmtest.Text("Both are read and a.txt is changed.")}},
				{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"cat a.txt","description":"look"}`}}},
				{Blocks: []llmtest.Block{llmtest.Text("It says ALPHA.")}},
			})
			first := w.must(w.run("run", "-f", "pic.png", "change a.txt"))
			second := w.must(w.run("run", "-c", "check it"))
			if diff := cmp.Diff("Both are read and a.txt is changed.\nIt says ALPHA.\n", first+second); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			reqs := asked(t, s)
			if len(reqs) != 5 {
				t.Fatalf("%d requests, want 5", len(reqs))
			}
			// Chat completions have no signed reasoning: it is not sent back.
			thought := func(words string) string {
				if protocol == "openaichat" {
					return ""
				}
				return "signed reasoning " + words + "; "
			}
			want := []string{
				"media image/png; text change a.txt",
				thought("read both files first") + "text Reading.; call read; call read",
				"result read alpha; result read beta",
				thought("now change one") + "call edit; call bash",
				"result bash gamma; result edit Edit applied",
				"text Both are read and a.txt is changed.",
				"text check it",
				"call bash",
				"result bash ALPHA",
			}
			if diff := cmp.Diff(want, conversation(reqs[4])); diff != "" {
				t.Errorf("the last request (-want +got):\n%s", diff)
			}
			for i := 1; i < len(reqs); i++ {
				if diff := cmp.Diff(reqs[i-1].System, reqs[i].System); diff != "" {
					t.Errorf("the system prompt changed with request %d (-before +after):\n%s", i+1, diff)
				}
				if diff := cmp.Diff(conversation(reqs[i-1]), conversation(reqs[i])[:len(reqs[i-1].Messages)]); diff != "" {
					t.Errorf("request %d does not begin with the one before (-before +after):\n%s", i+1, diff)
				}
			}
		})
	}
}

// conversation says in a line each what the messages of a request hold.
func conversation(r llmtest.Request) []string {
	var out []string
	names := map[string]string{}
	for _, m := range r.Messages {
		var words []string
		for _, c := range m.Content {
			if w := contentWords(r.Protocol, c, names); w != "" {
				words = append(words, w)
			}
		}
		if m.Role != llm.RoleAssistant {
			slices.Sort(words) // protocols differ in where they put a picture
		}
		out = append(out, strings.Join(words, "; "))
	}
	return out
}

// contentWords describes a piece of a message; names maps the calls before it.
func contentWords(protocol string, c llm.Content, names map[string]string) string {
	switch c := c.(type) {
	case llm.Text:
		if strings.HasPrefix(c.Text, "Called the Read tool") || strings.HasPrefix(c.Text, "<system-reminder>") {
			return "" // what lathe says beside the person
		}
		return "text " + c.Text
	case llm.Reasoning:
		if len(c.Meta[protocol]) > 0 {
			return "signed reasoning " + c.Text
		}
		return "reasoning " + c.Text
	case llm.Media:
		return "media " + c.MIME
	case llm.ToolUse:
		names[c.ID] = c.Name
		return "call " + c.Name
	case llm.ToolResult:
		for _, told := range []string{"alpha", "beta", "gamma", "ALPHA", "Edit applied"} {
			if strings.Contains(c.Output, told) {
				return "result " + names[c.ID] + " " + told
			}
		}
		return "result " + names[c.ID] + " of " + c.Output
	}
	return fmt.Sprintf("%T", c)
}
