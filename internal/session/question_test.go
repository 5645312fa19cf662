package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/turn"
)

var which = use{"question", args{"questions": []any{args{
	"question": "Which?", "header": "W", "options": []any{args{"label": "a", "description": "A"}, args{"label": "b", "description": "B"}},
}}}}

// start sends a prompt and returns its run.
func (p *play) start(id lathe.SessionID, in session.Prompt, text string) *session.Run {
	p.t.Helper()
	in.Model = scripted
	in.Parts = append(in.Parts, &lathe.Text{Text: text})
	_, run, err := p.svc.Prompt(p.t.Context(), id, in)
	if err != nil {
		p.t.Fatal(err)
	}
	return run
}

// questioned subscribes to the questions of all sessions.
func (p *play) questioned() func() lathe.QuestionAsk {
	sub := p.svc.Subscribe(p.t.Context(), bus.Filter{Match: func(ev lathe.Event) bool { _, ok := ev.(lathe.QuestionAsked); return ok }})
	p.t.Cleanup(sub.Close)
	return func() lathe.QuestionAsk {
		p.t.Helper()
		e, err := sub.Next(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		return e.Event.(lathe.QuestionAsked).Ask
	}
}

func questioner(t *testing.T) *play {
	return newPlay(t, nil, func(req *llm.Request) say {
		if strings.HasPrefix(last(req), "go") {
			return say{calls: []use{which}}
		}
		return say{text: "thanks"}
	})
}

func TestQuestionIsAnswered(t *testing.T) {
	p := questioner(t).open()
	next := p.questioned()
	id := p.session()
	run := p.start(id, session.Prompt{}, "go")
	q := next()
	if diff := cmp.Diff([]lathe.QuestionAsk{q}, p.svc.Questions.List(p.dir)); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	if q.Tool == nil || q.SessionID != id || len(p.svc.Questions.List("/elsewhere")) != 0 {
		t.Errorf("question %+v", q)
	}
	if err := p.svc.Questions.Answer(t.Context(), q.ID, [][]string{{"a", "b"}}); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("two answers where one is taken: %v", err)
	}
	if err := p.svc.Questions.Answer(t.Context(), q.ID, [][]string{{"my own"}}); err != nil {
		t.Fatal(err)
	}
	if out := p.wait(run); out.Failure != nil || out.Blocked {
		t.Errorf("outcome %+v", out)
	}
	want := `question done: User has answered your questions: "Which?"="my own". You can now continue with the user's answers in mind.`
	if diff := cmp.Diff([]string{want}, p.tools(id)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if err := p.svc.Questions.Answer(t.Context(), q.ID, nil); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("an answered question: %v", err)
	}
}

func TestDismissedQuestionStopsTheTurn(t *testing.T) {
	p := questioner(t).open()
	next := p.questioned()
	id := p.session()
	run := p.start(id, session.Prompt{}, "go")
	if err := p.svc.Questions.Reject(t.Context(), next().ID); err != nil {
		t.Fatal(err)
	}
	out := p.wait(run)
	if !out.Blocked || len(p.asked()) != 1 {
		t.Errorf("outcome %+v after %d requests", out, len(p.asked()))
	}
	if diff := cmp.Diff([]string{"question failed: The user dismissed this question"}, p.tools(id)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAbortWithdrawsQuestion(t *testing.T) {
	p := questioner(t).open()
	next := p.questioned()
	id := p.session()
	run := p.start(id, session.Prompt{}, "go")
	next()
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if out := p.wait(run); out.Failure == nil || len(p.svc.Questions.List("")) != 0 {
		t.Errorf("outcome %+v, %d questions wait", out, len(p.svc.Questions.List("")))
	}
}

func TestQuestionIsNotOfferedWhereNobodyAnswers(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "ok"} }).open()
	p.prompt(p.session(), session.Prompt{Rules: []lathe.Rule{{Permission: "question", Pattern: "*", Action: lathe.Deny}}}, "a")
	p.prompt(p.session(), session.Prompt{}, "b")
	if names := strings.Join(offered(p.asked()[0]), " "); strings.Contains(names, "question") {
		t.Errorf("offered %s", names)
	}
	if names := strings.Join(offered(p.asked()[1]), " "); !strings.Contains(names, "question") {
		t.Errorf("offered %s", names)
	}
}

func TestPlanSwitch(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		text := last(req)
		switch {
		case strings.Contains(text, "Work out a plan and write it to"):
			return say{calls: []use{{"plan_exit", args{}}}}
		case strings.Contains(text, "The user approved the plan."):
			return say{text: "building"}
		}
		return say{text: "?"}
	})
	p.env["OPENCODE_EXPERIMENTAL_PLAN_MODE"] = "1"
	p.open()
	next := p.questioned()
	id := p.session()
	run := p.start(id, session.Prompt{Agent: "plan"}, "plan it")
	q := next()
	if len(q.Questions) != 1 || q.Questions[0].Custom {
		t.Errorf("question %+v", q)
	}
	if err := p.svc.Questions.Answer(t.Context(), q.ID, [][]string{{"Yes"}}); err != nil {
		t.Fatal(err)
	}
	out := p.wait(run)
	if out.Failure != nil || lastWords(out) != "building" || out.Last.Info.(*lathe.Assistant).Agent != "build" {
		t.Errorf("outcome %+v: %q", out, lastWords(out))
	}
	if final := last(&p.asked()[1]); !strings.Contains(final, "Plan mode is off") {
		t.Errorf("the build agent was not told that plan mode is off:\n%s", final)
	}
	run = p.start(id, session.Prompt{Agent: "plan"}, "plan again")
	if err := p.svc.Questions.Answer(t.Context(), next().ID, [][]string{{"No"}}); err != nil {
		t.Fatal(err)
	}
	if out := p.wait(run); !out.Blocked {
		t.Errorf("a no did not stop the turn: %+v", out)
	}
}

func TestBatchAndPatch(t *testing.T) {
	p := newPlay(t, nil, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{calls: []use{{"batch", args{"tool_calls": []any{
				args{"tool": "glob", "parameters": args{"pattern": "*.go"}},
				args{"tool": "nope", "parameters": args{}},
				args{"tool": "bash", "parameters": args{"command": "rm -r x", "description": "d"}},
				args{"tool": "batch", "parameters": args{}},
			}}}}}
		}
		return say{text: "ok"}
	})
	p.env["OPENCODE_CONFIG_CONTENT"] = `{"experimental":{"batch_tool":true},"permission":{"bash":{"rm *":"deny"}}}`
	p.open()
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "go"); out.Failure != nil {
		t.Fatalf("outcome %+v", out)
	}
	got := map[string]string{}
	for _, c := range p.tools(id) {
		name, rest, _ := strings.Cut(c, ": ")
		got[name] = rest
	}
	if !strings.Contains(got["glob done"], "main.go") || !strings.Contains(got["nope failed"], "not available") || !strings.Contains(got["bash failed"], "rule") {
		t.Errorf("sub-calls %q", p.tools(id))
	}
	results := p.asked()[1].Messages[2]
	if len(results.Content) != len(p.tools(id)) {
		t.Errorf("%d results for %d calls", len(results.Content), len(p.tools(id)))
	}
}

func TestPatchReplacesEdit(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "ok"} }).open()
	for _, model := range []string{"m", "gpt-5.1-codex", "gpt-4o", "gpt-oss-120b"} {
		_, run, err := p.svc.Prompt(t.Context(), p.session(), session.Prompt{
			Model: lathe.ModelRef{Provider: "script", Model: model}, Parts: []lathe.PartBody{&lathe.Text{Text: "x"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var out turn.Outcome = p.wait(run)
		if out.Failure != nil {
			t.Fatal(out.Failure)
		}
		reqs := p.asked()
		names := " " + strings.Join(offered(reqs[len(reqs)-1]), " ") + " "
		patch := model == "gpt-5.1-codex"
		if strings.Contains(names, " apply_patch ") != patch || strings.Contains(names, " edit ") == patch || strings.Contains(names, " write ") == patch {
			t.Errorf("%s got%s", model, names)
		}
	}
}
