package session_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// TestPlanOnlyIsToldOnce holds that a model is told when its session begins and ends to refuse
// every change, once, while it works or with the next prompt, and that what was sent before
// stays the beginning of what is sent.
func TestPlanOnlyIsToldOnce(t *testing.T) {
	const begins, ends = "The user chose to plan only", "no longer wants planning only"
	var p *play
	var id lathe.SessionID
	set := func(m lathe.ApprovalMode) {
		t.Helper()
		if err := p.svc.Modes.Set(t.Context(), id, m); err != nil {
			t.Error(err)
		}
	}
	p = newPlay(t, nil, func(req *llm.Request) say {
		text := last(req)
		if strings.HasPrefix(text, "run true while") {
			set(lathe.PlanOnly)
		}
		if strings.HasPrefix(text, "run true") {
			return say{calls: []use{{"bash", args{"command": "true", "description": "x"}}}}
		}
		return say{text: "done"}
	}).open()
	id = p.session()
	count := func(step string, wantBegins, wantEnds int) {
		t.Helper()
		all := p.asked()
		text, err := json.Marshal(all[len(all)-1])
		if err != nil {
			t.Fatal(err)
		}
		if b, e := strings.Count(string(text), begins), strings.Count(string(text), ends); b != wantBegins || e != wantEnds {
			t.Errorf("%s: told %d times that it begins and %d that it ends", step, b, e)
		}
	}
	p.prompt(id, session.Prompt{}, "hello")
	count("before", 0, 0)
	set(lathe.PlanOnly)
	p.prompt(id, session.Prompt{}, "run true")
	count("plan only", 1, 0)
	p.prompt(id, session.Prompt{}, "hello again")
	count("still plan only", 1, 0)
	set(lathe.ByRules)
	p.prompt(id, session.Prompt{}, "hello once more")
	count("by rules", 1, 1)
	p.prompt(id, session.Prompt{}, "run true while the mode changes")
	count("while it works", 2, 1)
	p.prompt(id, session.Prompt{}, "and now")
	count("told already", 2, 1)

	var before []string
	for i, req := range p.asked() {
		var now []string
		for _, part := range append([]any{req.System, req.Tools}, messagesOf(req)...) {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			now = append(now, string(text))
		}
		for j := range before {
			if j < len(now) && about(req, "todowrite") != "" && before[j] != now[j] {
				t.Fatalf("request %d does not begin with the one before, at %d:\n%s\n%s", i, j, before[j], now[j])
			}
		}
		if about(req, "todowrite") != "" { // not a title
			before = now
		}
	}
}

func messagesOf(req llm.Request) (out []any) {
	for _, m := range req.Messages {
		out = append(out, m)
	}
	return out
}
