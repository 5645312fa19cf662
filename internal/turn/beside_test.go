package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

func TestBeside(t *testing.T) {
	var results []tool.Result
	var errs []error
	outer := newTool("outer", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		for _, name := range []string{"ECHO", "nope", "asks"} {
			res, err := c.Beside(ctx, name, json.RawMessage(`{"a":1}`))
			results, errs = append(results, res), append(errs, err)
		}
		return tool.Result{Output: "outer"}, nil
	})
	asks := newTool("asks", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		return tool.Result{}, c.Ask(ctx, tool.Request{Permission: "asks", Patterns: []string{"x"}})
	})
	r := newRig(t, "tool outer {}\n---\ntext ok", outer, echo(), asks)
	r.ask = func(context.Context, permission.AskInput) error { return &permission.Corrected{Feedback: "not so"} }
	if out := r.run(t); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	var got []string
	ids := map[string]bool{}
	for _, p := range r.History[1].Parts {
		if c, ok := p.Body.(*lathe.ToolCall); ok {
			got = append(got, describe(p))
			ids[c.CallID] = true
		}
	}
	want := []string{"outer done: outer", `echo done: {"a":1}`,
		`nope failed: Tool "nope" is not available here. The tools are: asks, echo, noop, outer`,
		"asks failed: " + (&permission.Corrected{Feedback: "not so"}).Error()}
	if diff := cmp.Diff(want, got); diff != "" || len(ids) != 4 {
		t.Errorf("parts, with %d ids (-want +got):\n%s", len(ids), diff)
	}
	if results[0].Output != `{"a":1}` || !results[1].Failed || errs[2] == nil {
		t.Errorf("results %+v, %v", results, errs)
	}
}

func TestSharedBudget(t *testing.T) {
	spent := &turn.Spent{}
	first := newRig(t, "text one\nusage in=100 out=1")
	first.Spent, first.Limits = spent, turn.Limits{Tokens: 50}
	if out := first.run(t); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	second := newRig(t, "text two")
	second.Spent, second.Limits = spent, turn.Limits{Tokens: 50}
	var limit *lathe.LimitFailure
	if out := second.run(t); !errors.As(out.Failure, &limit) || limit.Limit != "tokens" {
		t.Errorf("outcome %+v", out)
	}
	if n := len(second.server.Requests()); n != 0 {
		t.Errorf("%d requests were made beyond the budget", n)
	}
	if steps, _, tokens := spent.Total(); steps != 1 || tokens.Total() != 101 {
		t.Errorf("spent %d steps, %d tokens", steps, tokens.Total())
	}
}

func TestSubtasks(t *testing.T) {
	r := newRig(t, "text ok")
	r.Task = newTool("task", func(_ context.Context, c *tool.Call) (tool.Result, error) {
		if !c.UserAsked {
			t.Error("the call is not marked as the user's")
		}
		var in struct {
			Prompt string `json:"prompt"`
		}
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return tool.Result{}, err
		}
		switch in.Prompt {
		case "boom":
			panic("oops")
		case "bad":
			return tool.Failf("no"), nil
		}
		return tool.Result{Output: in.Prompt}, nil
	})
	u := r.user("x")
	u.Parts = []lathe.Part{
		{Body: &lathe.Subtask{Prompt: "good", Agent: "a", Command: "c"}}, {Body: &lathe.Subtask{Prompt: "bad", Agent: "a"}}, {Body: &lathe.Subtask{Prompt: "boom", Agent: "a"}},
	}
	r.History = []lathe.Message{u}
	if out := r.run(t); out.Failure != nil || out.Steps != 1 {
		t.Fatalf("outcome %+v", out)
	}
	got := map[string]bool{}
	for _, p := range r.History[1].Parts {
		got[describe(p)] = true
	}
	want := map[string]bool{"step start": true, "task done: good": true, "task failed: Tool execution failed: no": true,
		"task failed: Tool execution failed: the task tool failed inside lathe: oops": true, "step finish tool-calls": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if len(r.History) != 4 {
		t.Errorf("%d messages, want prompt, subtasks, the request to go on and the answer", len(r.History))
	}
}
