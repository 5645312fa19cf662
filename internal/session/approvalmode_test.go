package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// askedAbout answers asks with no, and returns what they were about when it is stopped.
func askedAbout(p *play) (stop func() []string) {
	w := p.svc.Subscribe(p.t.Context(), bus.Filter{Match: func(ev lathe.Event) bool { _, ok := ev.(lathe.PermissionAsked); return ok }})
	done := make(chan []string)
	go func() {
		var out []string
		for ev, err := range w.All() {
			if err != nil {
				break
			}
			a := ev.Event.(lathe.PermissionAsked).Ask
			out = append(out, a.Permission)
			_ = p.svc.Instances.Reply(p.t.Context(), p.dir, a.ID, lathe.Reply{Kind: lathe.Reject, Message: "no"})
		}
		done <- out
	}()
	return func() []string {
		w.Close()
		return <-done
	}
}

// editor plays a model that edits a file, then runs a command, or has a subagent do it.
func editor(req *llm.Request) say {
	switch text := last(req); {
	case strings.HasPrefix(text, "edit "):
		return say{calls: []use{{"write", args{"filePath": strings.TrimPrefix(text, "edit "), "content": "x\n"}}}}
	case strings.HasPrefix(text, "run "):
		return say{calls: []use{{"bash", args{"command": strings.TrimPrefix(text, "run "), "description": "x"}}}}
	case strings.HasPrefix(text, "let "):
		return say{calls: []use{{"task", args{"description": "d", "prompt": strings.TrimPrefix(text, "let "), "subagent_type": "general"}}}}
	}
	return say{text: "done"}
}

// TestModeOfApproval holds that the engine keeps to the mode of a session, for its subagents as
// well and from the next call on, and that it is the same after a restart, but for auto.
func TestModeOfApproval(t *testing.T) {
	p := newPlay(t, nil, editor).open()
	id := p.session()
	for i, tt := range []struct {
		mode   lathe.ApprovalMode
		prompt string
		asked  []string
		done   bool
	}{
		{lathe.ByRules, "edit ", nil, true},
		{lathe.AskFirst, "edit ", []string{"edit"}, false},
		{lathe.AskFirst, "run touch ", []string{"bash"}, false}, // one ask, for what it writes and what it runs
		{lathe.AskFirst, "let edit ", []string{"edit"}, false},
		{lathe.AcceptEdits, "edit ", nil, true},
		{lathe.AcceptEdits, "run true; touch ", []string{"bash"}, false},
		{lathe.PlanOnly, "edit ", nil, false},
		{lathe.PlanOnly, "run touch ", nil, false},
		{lathe.PlanOnly, "let run touch ", nil, false},
		{lathe.ByRules, "let run touch ", nil, true},
	} {
		if err := p.svc.Modes.Set(t.Context(), id, tt.mode); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(p.dir, "made"+string(rune('a'+i)))
		stop := askedAbout(p)
		p.prompt(id, session.Prompt{}, tt.prompt+file)
		if diff := cmp.Diff(tt.asked, stop()); diff != "" {
			t.Errorf("%d %s, %s: asked about (-want +got):\n%s\n%s", i, tt.mode, tt.prompt, diff, strings.Join(p.tools(id), "\n"))
		}
		if got := exists(file); got != tt.done {
			t.Errorf("%d %s, %s: it was done: %t\n%s", i, tt.mode, tt.prompt, got, strings.Join(p.tools(id), "\n"))
		}
	}
	tools := map[string]bool{}
	for _, req := range p.asked() {
		if about(req, "todowrite") != "" { // not a subagent
			tools[strings.Join(offered(req), " ")] = true
		}
	}
	if len(tools) != 1 {
		t.Errorf("what the model is offered depends on the mode: %v", tools)
	}
	if err := p.svc.Modes.Set(t.Context(), id, lathe.PlanOnly); err != nil {
		t.Fatal(err)
	}
	p.serve()
	if mode, err := p.svc.Modes.Of(t.Context(), id); err != nil || mode != lathe.PlanOnly {
		t.Errorf("after a restart the mode is %q, %v", mode, err)
	}
	if err := p.svc.Modes.Set(t.Context(), id, "yolo"); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("a mode that does not exist: %v", err)
	}
}

// TestAutoNeedsConfinement holds that nothing runs unasked in mode auto where commands are not
// confined, that it ends with lathe, and that it lifts no denial.
func TestAutoNeedsConfinement(t *testing.T) {
	rules := []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}, {Permission: "edit", Pattern: "*secret*", Action: lathe.Deny}}
	off := newPlay(t, map[string]string{"home/lathe/config/lathe.json": `{"sandbox": "off"}`}, editor).open()
	err := off.svc.Modes.Set(t.Context(), off.session(), lathe.Auto)
	if e, ok := errors.AsType[*lathe.Error](err); !ok || e.Code != lathe.CodeInvalid || !strings.Contains(e.Msg, "needs confined commands") {
		t.Errorf("without confinement: %v", err)
	}
	p := newPlay(t, nil, editor).open()
	id := p.session(rules...)
	if err := p.svc.Modes.Set(t.Context(), id, lathe.Auto); err != nil {
		t.Skipf("commands cannot be confined here: %v", err)
	}
	stop := askedAbout(p)
	p.prompt(id, session.Prompt{}, "run touch "+filepath.Join(p.dir, "made"))
	free := p.session()
	unseen := filepath.Join(p.dir, "unseen") // what the words of a command do not say, its confinement stops
	p.prompt(free, session.Prompt{}, `run awk 'BEGIN { print "x" > "`+unseen+`" }'`)
	if !exists(unseen) {
		t.Fatal("the command writes no file in any mode")
	}
	if err := os.Remove(unseen); err != nil {
		t.Fatal(err)
	}
	if err := p.svc.Modes.Set(t.Context(), free, lathe.PlanOnly); err != nil {
		t.Fatal(err)
	}
	p.prompt(free, session.Prompt{}, `run awk 'BEGIN { print "x" > "`+unseen+`" }'`)
	if exists(unseen) {
		t.Error("a command changed the project in mode plan")
	}
	p.prompt(id, session.Prompt{}, "edit "+filepath.Join(p.dir, "secret"))
	if got := stop(); len(got) > 0 || !exists(filepath.Join(p.dir, "made")) || exists(filepath.Join(p.dir, "secret")) {
		t.Errorf("asked about %q\n%s", got, strings.Join(p.tools(id), "\n"))
	}
	p.serve()
	if mode, err := p.svc.Modes.Of(t.Context(), id); err != nil || mode != lathe.ByRules {
		t.Errorf("after a restart the mode is %q, %v", mode, err)
	}
}
