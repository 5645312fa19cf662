package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// A turn that its step limit ends has an answer: the model is asked once more, without
// tools, and the limit is told all the same.
func TestStepLimitEndsWithAnAnswer(t *testing.T) {
	r := newRig(t, "tool echo {}\n---\ntext this was done, that was not", echo())
	r.Limits = turn.Limits{Steps: 1}
	out := r.run(t)
	if f, ok := out.Failure.(*lathe.LimitFailure); !ok || f.Limit != "steps" || out.Steps != 2 {
		t.Errorf("%v after %d steps", out.Failure, out.Steps)
	}
	if d := cmp.Diff([]string{"step start", "text this was done, that was not", "step finish stop"}, r.log.last()); d != "" {
		t.Errorf("last message (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]lathe.Failure{&lathe.LimitFailure{Limit: "steps", Message: "the limit of 1 step was reached"}}, r.log.failures); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}
	requests := r.server.Requests()
	body := string(requests[1].Body)
	if !strings.Contains(body, `"tool_choice":"none"`) || !strings.Contains(body, "step limit") || strings.Contains(string(requests[0].Body), "step limit") {
		t.Errorf("the last request is %s", body)
	}
}

// What asks for tools all the same gets none.
func TestNoToolRunsAfterTheStepLimit(t *testing.T) {
	ran := 0
	count := newTool("count", func(context.Context, *tool.Call) (tool.Result, error) {
		ran++
		return tool.Result{Output: "done"}, nil
	})
	r := newRig(t, "tool count {}\n---\ntool count {\"a\":1}\n---\ntext late", count)
	r.Limits = turn.Limits{Steps: 1}
	out := r.run(t)
	if f, ok := out.Failure.(*lathe.LimitFailure); !ok || f.Limit != "steps" || ran != 1 || len(r.server.Requests()) != 2 {
		t.Errorf("%v, %d calls, %d requests", out.Failure, ran, len(r.server.Requests()))
	}
	want := []string{"step start", "count failed: The step limit is reached: no more tools can be called, and nothing was done.", "step finish tool-calls"}
	if d := cmp.Diff(want, r.log.last()); d != "" {
		t.Errorf("last message (-want +got):\n%s", d)
	}
}

// An answer without a word is asked about once.
func TestEmptyAnswersAreAskedAbout(t *testing.T) {
	for name, script := range map[string]string{
		"only reasoning": "reasoning I think\n---\ntext here it is",
		"after tools":    "tool echo {}\n---\nreasoning hm\n---\ntext here it is",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script, echo())
			if out := r.run(t); out.Failure != nil {
				t.Fatal(out.Failure)
			}
			if d := cmp.Diff([]string{"step start", "text here it is", "step finish stop"}, r.log.last()); d != "" {
				t.Errorf("last message (-want +got):\n%s", d)
			}
			requests := r.server.Requests()
			for i, req := range requests {
				if asked := strings.Contains(string(req.Body), "Your last answer was empty"); asked != (i == len(requests)-1) {
					t.Errorf("request %d asks: %v", i, asked)
				}
			}
		})
	}
	r := newRig(t, "reasoning one\n---\nreasoning two\n---\ntext three", echo())
	if r.run(t); len(r.server.Requests()) != 2 {
		t.Errorf("%d requests: asked more than once", len(r.server.Requests()))
	}
}

// An answer that stops in the middle of the work is asked about, and the work goes on.
func TestLapsesAreAskedAbout(t *testing.T) {
	for name, c := range map[string]struct{ script, told string }{
		"announced":      {"text I found it. Let me edit it now.\n---\ntool echo {}\n---\ntext done", "announces what you do next"},
		"a call as text": {"text <tool_call>{\"name\": \"echo\", \"arguments\": {}}</tool_call>\n---\ntool echo {}\n---\ntext done", "has a tool call in its text"},
		"cut off":        {"text First I look at\nfinish length\n---\ntool echo {}\n---\ntext done", "was cut off at your output limit"},
	} {
		for _, anthropic := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %v", name, anthropic), func(t *testing.T) {
				r := newRig(t, c.script, echo())
				r.anthropic = anthropic
				if out := r.run(t); out.Failure != nil || out.Steps != 3 {
					t.Fatalf("%v after %d steps", out.Failure, out.Steps)
				}
				for i, req := range r.server.Requests() {
					if told := strings.Contains(string(req.Body), c.told); told != (i == 1) {
						t.Errorf("request %d tells: %v", i, told)
					}
				}
			})
		}
	}
	r := newRig(t, "text Let me edit it now.\ntimes 5", echo())
	if r.run(t); len(r.server.Requests()) != 2 {
		t.Errorf("%d requests: asked more than once", len(r.server.Requests()))
	}
}

// A call that waited behind one that was aborted is told as not started.
func TestCallBehindAnAbortedOne(t *testing.T) {
	r := newRig(t, "tool slow {\"path\":\"a\"}\ntool edit {\"path\":\"a\"}")
	r.anthropic = true
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	started := make(chan struct{})
	r.tools = append(r.tools, newTool("slow", func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	}), newTool("edit", func(context.Context, *tool.Call) (tool.Result, error) {
		t.Error("the edit was started")
		return tool.Result{}, nil
	}))
	r.log.onPart = func(what string) {
		if what == "edit running" {
			go func() { <-started; cancel(turn.ErrAborted) }()
		}
	}
	if _, err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"step start", "slow failed: Tool execution aborted",
		"edit failed: Not started, nothing changed: the turn was aborted before this call could begin.",
	}
	got := slices.DeleteFunc(r.log.last(), func(what string) bool { return what == "step finish tool-calls" }) // if the answer was whole by then
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("last message (-want +got):\n%s", d)
	}
}

// TestUnusableCalls holds that an agent hears what was wrong with a call, and which tools
// there are, also where it has no tool for such calls.
func TestUnusableCalls(t *testing.T) {
	r := newRig(t, "tool nothing {}\ntool echo {\"a\n---\ntext done")
	r.tools = []tool.Tool{echo()}
	if out := r.run(t); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	text := r.server.Requests()[1].LastText()
	for _, want := range []string{`there is no tool "nothing"; the tools are: echo`, "the arguments are not JSON"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}
