package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tool"
)

func TestTask(t *testing.T) {
	var got SpawnInput
	out := SpawnResult{Session: "ses_child", Text: " found it \n", Metadata: m{"sessionId": "ses_child"}}
	r := newRig(t, func(e *Env) {
		e.Subagents = func() []Subagent { return []Subagent{{Name: "explore", Description: "Finds\nthings."}, {Name: "mine"}} }
		e.Spawn = func(_ context.Context, in SpawnInput) (SpawnResult, error) {
			got = in
			return out, nil
		}
	})
	in := m{"description": "find it", "prompt": "where is it?", "subagent_type": "explore", "session_id": "ses_child", "command": "c"}
	res := r.ok("task", in)
	want := "<task id=\"ses_child\" state=\"completed\">\n<task_result>\nfound it\n</task_result>\n</task>\n\n<task_metadata>\nsession_id: ses_child\n</task_metadata>"
	if diff := cmp.Diff(want, res.Output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	got.Call = nil
	if diff := cmp.Diff(SpawnInput{Agent: "explore", Description: "find it", Prompt: "where is it?", Resume: "ses_child", Command: "c"}, got); diff != "" {
		t.Errorf("spawned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"task explore"}, r.asked()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	out.Failure = "it broke"
	r.fails("task", in, "Subagent failed (task_id: ses_child): it broke")
	in["subagent_type"] = "nobody"
	r.fails("task", in, "Unknown agent type: nobody is not a valid agent type. The subagents are: explore, mine")
	in["subagent_type"], in["prompt"] = "explore", " "
	r.fails("task", in, "prompt is empty")
	r.asked()
	in["prompt"] = "x"
	r.deny = func(tool.Request) error { return errDenied }
	if _, err := r.run("task", in); !errors.Is(err, errDenied) {
		t.Errorf("a denied task gave %v", err)
	}
}

func TestTaskIsNotAskedForByTheUser(t *testing.T) {
	r := newRig(t, func(e *Env) {
		e.Subagents = func() []Subagent { return []Subagent{{Name: "explore"}} }
		e.Spawn = func(context.Context, SpawnInput) (SpawnResult, error) { return SpawnResult{Session: "ses_c"}, nil }
	})
	call := r.call(m{"description": "d", "prompt": "p", "subagent_type": "explore"})
	call.UserAsked = true
	tl, _ := r.tools.Lookup("task")
	res, err := tl.Run(t.Context(), call)
	if err != nil || !strings.Contains(res.Output, "(the subagent said nothing)") || len(r.asked()) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestDescribeTask(t *testing.T) {
	r := newRig(t, func(e *Env) {
		e.Subagents = func() []Subagent { return nil }
		e.Spawn = func(context.Context, SpawnInput) (SpawnResult, error) { return SpawnResult{}, nil }
	})
	tl, _ := r.tools.Lookup("task")
	got := DescribeTask(tl, []Subagent{{Name: "explore", Description: "Finds\nthings."}, {Name: "mine"}}).Spec().Description
	want := "\n\nThe subagents:\n- explore: Finds things.\n- mine: Call it only when the user asks for it."
	if !strings.HasPrefix(got, tl.Spec().Description) || !strings.HasSuffix(got, want) {
		t.Errorf("description is %q", got)
	}
}
