package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm/llmtest"
	"lathe/internal/tool"
)

// cut is an answer that its limit ends within a call.
var cut = llmtest.Step{Finish: "length", Blocks: []llmtest.Block{
	llmtest.Text("I write it."), llmtest.Call{Name: "echo", Args: `{}`}, llmtest.Call{Name: "write", Args: `{"filePath":"a","content":"half of i`},
}}

func cutRig(t *testing.T, steps ...llmtest.Step) *rig {
	write := newTool("write", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, errors.New("a call that was cut off is run")
	})
	r := newRig(t, "text unused", echo(), write)
	r.server = llmtest.New(t, steps)
	return r
}

// A call that was cut off by the output limit is not run; the model is told what
// happened and how to go on, and the turn goes on.
func TestCallCutOffByTheLimit(t *testing.T) {
	r := cutRig(t, cut, llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("in parts, then")}})
	if out := r.run(t); out.Failure != nil || out.Steps != 2 {
		t.Fatalf("outcome %+v", out)
	}
	const told = `Your answer was cut off at its output limit of 32,000 tokens, in the middle of the arguments of "write". The call was not run and nothing was changed. ` +
		"Do it in several answers: write the first part, then add one part after the other with edit."
	var states []string
	for _, p := range r.History[1].Parts {
		if c, ok := p.Body.(*lathe.ToolCall); ok {
			switch s := c.State.(type) {
			case *lathe.ToolDone:
				states = append(states, c.Tool+" done")
			case *lathe.ToolFailed:
				states = append(states, c.Tool+" failed: "+s.Error)
			}
		}
	}
	if diff := cmp.Diff([]string{"echo done", "write failed: " + told}, states); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if last := r.server.Requests()[1]; !strings.Contains(last.LastText(), told) || last.Rejected != "" {
		t.Errorf("the model is told %q (%s)", last.LastText(), last.Rejected)
	}
}

// A model that is cut off again and again does not go on for ever.
func TestCutOffAgainAndAgain(t *testing.T) {
	r := cutRig(t, cut, cut, cut, cut)
	out := r.run(t)
	if _, ok := out.Failure.(*lathe.OutputLengthFailure); !ok || out.Steps != 3 {
		t.Errorf("outcome %+v", out)
	}
}
