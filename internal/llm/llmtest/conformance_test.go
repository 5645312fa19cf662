package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"lathe/internal/llm"
	"lathe/internal/llm/adapter"
	"lathe/internal/llm/anthropic"
	"lathe/internal/llm/google"
	. "lathe/internal/llm/llmtest"
	"lathe/internal/llm/openai"
	"lathe/internal/llm/openaichat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var adapters = []struct {
	name string
	new  func(adapter.Endpoint) llm.Model
}{
	{"anthropic", anthropic.New},
	{"openai", openai.New},
	{"openaichat", openaichat.New},
	{"google", google.New},
}

var object = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)

func request(name string) *llm.Request {
	return &llm.Request{
		Model: "model-1", System: []string{"You are a test.", "Be\nbrief. \"Ünï\" \u2028"}, MaxTokens: 4000, Origin: name + "/model-1",
		Tools:    []llm.Tool{{Name: "read", Description: "Read <a> file & more", Schema: object}, {Name: "list", Description: "List", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Choice:   llm.ChoiceAuto,
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: "hello 世界 🌍"}, llm.Media{MIME: "image/png", Name: "a.png", Data: []byte("\x89PNG")}, llm.Media{MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")}}}},
	}
}

var usage = &llm.Usage{Input: 12, Output: 7, CacheRead: 100, Reported: true}

var conversations = []struct {
	name  string
	steps Script
}{
	{"text", Script{{Blocks: []Block{Text("hi there, 世界 🌍 \"quoted\" \\ \u2028 done")}, Usage: usage}}},
	{"tool", Script{
		{Blocks: []Block{Text("I look."), Call{Name: "read", Args: `{"path":"ä b.txt"}`}}},
		{Blocks: []Block{Text("it says 😀")}, Usage: usage}}},
	{"parallel", Script{
		{Blocks: []Block{Call{Name: "read", Args: `{"path":"a"}`}, Call{Name: "read", Args: `{"path":"a"}`}, Call{Name: "list", Args: `{}`}}},
		{Blocks: []Block{Call{Name: "list", Args: `{}`}}},
		{Blocks: []Block{Text("done")}}}},
	{"reasoning", Script{
		{Blocks: []Block{Reasoning{Text: "let me think 思考 about it"}, Text("so"), Call{Name: "read", Args: `{"path":"x"}`}},
			Usage: &llm.Usage{Input: 5, Output: 3, Reasoning: 4, Reported: true}},
		{Blocks: []Block{Reasoning{Text: "again"}, Text("done")}, Finish: llm.FinishLength}}},
	{"same ids", Script{
		{Blocks: []Block{Call{ID: "call_0", Name: "list", Args: `{}`}, Call{ID: "call_0", Name: "list", Args: `{}`}}},
		{Blocks: []Block{Call{ID: "call_0", Name: "list", Args: `{}`}}},
		{Blocks: []Block{Text("done")}, Finish: llm.FinishFilter}}},
	{"whole", Script{
		{Blocks: []Block{Reasoning{Text: "hm"}, Text("so"), Call{Name: "read", Args: `{"path":"x"}`}}, Whole: true},
		{Blocks: []Block{Text("done")}, Whole: true, Usage: usage}}},
	{"no usage", Script{{Blocks: []Block{Text("x")}, Usage: &llm.Usage{}}}},
}

// want returns what the adapter should make of a step.
func want(s Step) Outcome {
	out := Outcome{Finish: llm.Finish{Reason: s.Finish, Usage: llm.Usage{Input: 100, Output: 10, Reported: true}}}
	if s.Usage != nil {
		out.Finish.Usage = *s.Usage
	}
	reason := llm.FinishStop
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case Text:
			out.Content = append(out.Content, llm.Text{Text: string(b)})
		case Reasoning:
			out.Content = append(out.Content, llm.Reasoning{Text: b.Text})
		case Call:
			out.Content = append(out.Content, llm.ToolUse{Name: b.Name, Input: json.RawMessage(b.Args)})
			reason = llm.FinishToolCalls
		}
	}
	if s.Finish == "" {
		out.Finish.Reason = reason
	}
	return out
}

var loose = []cmp.Option{
	cmpopts.IgnoreFields(llm.ToolUse{}, "ID", "Meta", "Origin"),
	cmpopts.IgnoreFields(llm.Reasoning{}, "Meta", "Origin"),
	cmpopts.IgnoreFields(llm.Finish{}, "Raw"),
	cmpopts.EquateEmpty(),
}

// results answers the calls of an answer, one with an image and one failed.
func results(content []llm.Content) []llm.Content {
	var out []llm.Content
	for _, c := range content {
		if u, ok := c.(llm.ToolUse); ok {
			r := llm.ToolResult{ID: u.ID, Name: u.Name, Output: "output of " + u.Name}
			switch len(out) {
			case 0:
				r.Media = []llm.Media{{MIME: "image/png", Name: "x.png", Data: []byte("\x89PNG")}}
			case 1:
				r.Failed, r.Output = true, ""
			}
			out = append(out, r)
		}
	}
	return out
}

func TestConversations(t *testing.T) {
	for _, a := range adapters {
		for i, conv := range conversations {
			for _, marks := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", a.name, conv.name, marks), func(t *testing.T) {
					client := adapter.NewClient()
					defer client.CloseIdleConnections()
					srv := New(t, conv.steps, Chunks(uint64(i)+1))
					model := a.new(adapter.Endpoint{BaseURL: srv.URL + "/v1", Key: "secret-key", Client: client})
					req := request(a.name)
					req.CacheMarks = marks
					converse(t, model, req, conv.steps)
					checkRequests(t, srv.Requests())
				})
			}
		}
	}
}

func converse(t *testing.T, model llm.Model, req *llm.Request, steps Script) {
	t.Helper()
	for n, s := range steps {
		got, err := Fold(model.Stream(t.Context(), req), req.Origin)
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		if diff := cmp.Diff(want(s), got, loose...); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", n, diff)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: got.Content})
		if r := results(got.Content); len(r) > 0 {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, Content: r})
		}
	}
}

// checkRequests holds that a request only appends to the one before it.
func checkRequests(t *testing.T, requests []Request) {
	t.Helper()
	for i, r := range requests {
		if r.Rejected != "" {
			t.Errorf("request %d was refused: %s", i, r.Rejected)
		}
		if i > 0 && !isPrefix(requests[i-1].Body, r.Body) {
			t.Errorf("request %d does not begin with the one before it:\n%s\n%s", i, requests[i-1].Body, r.Body)
		}
	}
}

// isPrefix reports whether the longer body begins with the shorter one, without
// its closing brackets and without breakpoints.
func isPrefix(short, long []byte) bool {
	mark := []byte(`,"cache_control":{"type":"ephemeral"}`)
	short = bytes.ReplaceAll(short, mark, nil)
	return bytes.HasPrefix(bytes.ReplaceAll(long, mark, nil), bytes.TrimRight(short, "]}"))
}

// An answer that is cut anywhere is a retryable error, or complete when only
// the end mark is missing. It is never silently shorter.
func TestCutAnywhere(t *testing.T) {
	for _, a := range adapters {
		for _, conv := range conversations {
			if conv.name == "same ids" || conv.name == "no usage" {
				continue // cut like "parallel" and "text"
			}
			t.Run(a.name+"/"+conv.name, func(t *testing.T) {
				t.Parallel()
				step := conv.steps[0]
				body, err := Transcript(a.name, step)
				if err != nil {
					t.Fatal(err)
				}
				req := request(a.name)
				stride := 1
				if testing.Short() {
					stride = 7
				}
				for n := 0; n < len(body); n += stride {
					end := []error{io.EOF, io.ErrUnexpectedEOF}[n%2]
					got, err := Fold(a.new(Fixed{Body: body[:n], End: end}.Endpoint()).Stream(t.Context(), req), req.Origin)
					checkCut(t, n, step, got, err)
				}
			})
		}
	}
}

func checkCut(t *testing.T, n int, step Step, got Outcome, err error) {
	t.Helper()
	if err == nil {
		if diff := cmp.Diff(want(step).Content, got.Content, loose...); diff != "" {
			t.Fatalf("cut at %d: complete, yet (-want +got):\n%s", n, diff)
		}
		return
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || !e.Retryable || e.Kind != llm.KindCut && !(step.Whole && e.Kind == llm.KindProtocol) {
		t.Fatalf("cut at %d: error %#v, want a retryable cut", n, err)
	}
}

func TestAnySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := adapters[rapid.IntRange(0, len(adapters)-1).Draw(t, "adapter")]
		conv := conversations[rapid.IntRange(0, len(conversations)-1).Draw(t, "conversation")]
		step := conv.steps[0]
		body, err := Transcript(a.name, step)
		if err != nil {
			t.Fatal(err)
		}
		split := rapid.IntRange(1, 50).Draw(t, "split")
		got, err := Fold(a.new(Fixed{Body: body, Split: split}.Endpoint()).Stream(context.Background(), request(a.name)), "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want(step), got, loose...); diff != "" {
			t.Fatalf("answer (-want +got):\n%s", diff)
		}
	})
}
