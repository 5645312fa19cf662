package turn_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
)

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
