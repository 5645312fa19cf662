package turn_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
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
