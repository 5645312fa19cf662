package session_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store"
)

// beside is what was asked beside the answers, in tokens.
func (p *play) beside() map[string]int64 {
	p.t.Helper()
	out := map[string]int64{}
	err := p.store.Answers(p.t.Context(), time.Time{}, func(a store.Answer) error {
		if a.Beside() {
			out[a.Agent] += a.Tokens.Total()
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// A title, what is learned of corrections and an agent that a model designs are counted, for statistics and budgets.
func TestBesideIsCounted(t *testing.T) {
	p := budgeted(t, `{"day": {"tokens": 45}}`, func(*llm.Request) say { return say{text: "Done."} })
	p.replies()
	sub := p.bus.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})
	defer sub.Close()
	s, err := p.svc.Create(t.Context(), session.Create{Directory: p.dir})
	if err != nil {
		t.Fatal(err)
	}
	p.prompt(s.ID, session.Prompt{}, "go") // 11 tokens, and as many for the title
	for {
		e, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := e.Event.(lathe.SessionUpdated); ok && u.Session.Title == "A title" {
			break
		}
	}
	p.prompt(s.ID, session.Prompt{}, "no, do not do that") // 33
	if _, err := p.svc.Lessons.Propose(t.Context(), p.dir, api.LessonRequest{Model: "script/x"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"title": 11, "learn": 11}, p.beside()); diff != "" {
		t.Errorf("beside the answers (-want +got):\n%s", diff)
	}
	p.serve()
	if out := p.prompt(p.titled(), session.Prompt{}, "more"); out.Failure != nil { // 55
		t.Errorf("44 of 45 tokens are used, and it ends with %v", out.Failure)
	}
	_, err = p.svc.Lessons.Propose(t.Context(), p.dir, api.LessonRequest{Model: "script/x"})
	if lathe.CodeOf(err) != lathe.CodeLimit {
		t.Errorf("with nothing left: %v", err)
	}
	if got := limitOf(t, p.prompt(p.titled(), session.Prompt{}, "and more").Failure); got.Limit != "tokens" {
		t.Errorf("ended with %+v", got)
	}
}

// What a model is asked to design an agent is counted, also when its answer is of no use, and
// it is not asked where nothing of the budget is left.
func TestDesignOfAnAgentIsCounted(t *testing.T) {
	p := budgeted(t, `{"day": {"tokens": 22}}`, func(*llm.Request) say { return say{text: "Done."} })
	for range 2 {
		if _, err := p.svc.Designs.Agent(t.Context(), p.dir, "script/x", "finds races"); lathe.CodeOf(err) != lathe.CodeProvider {
			t.Errorf("an answer that is no agent: %v", err)
		}
	}
	if _, err := p.svc.Designs.Agent(t.Context(), p.dir, "script/x", "finds races"); lathe.CodeOf(err) != lathe.CodeLimit {
		t.Errorf("with nothing left: %v", err)
	}
	if diff := cmp.Diff(map[string]int64{"agent create": 22}, p.beside()); diff != "" {
		t.Errorf("beside the answers (-want +got):\n%s", diff)
	}
}

// another is a second process on the same data.
func (p *play) another() *play {
	o := &play{t: p.t, dir: p.dir, home: p.home, env: p.env, answer: p.answer, bus: bus.New(bus.Options{})}
	return o.open()
}

// A budget of a day and of a project is one for all processes that live at the same time.
func TestBudgetOfLiveProcesses(t *testing.T) {
	for name, budget := range map[string]string{"day": `{"day": {"tokens": 22}}`, "project": `{"project": {"steps": 2}}`} {
		t.Run(name, func(t *testing.T) {
			p := budgeted(t, budget, func(*llm.Request) say { return say{text: "Done."} })
			p.replies()
			other := p.another()
			other.replies()
			first, second := p.titled(), other.titled()
			p.prompt(first, session.Prompt{}, "one")
			other.prompt(second, session.Prompt{}, "two")
			for who, out := range map[string]lathe.Failure{"the first": p.prompt(first, session.Prompt{}, "three").Failure, "the other": other.prompt(second, session.Prompt{}, "four").Failure} {
				var limit *lathe.LimitFailure
				if !errors.As(out, &limit) {
					t.Errorf("%s process ends with %v", who, out)
				}
			}
			if n := len(p.asked()) + len(other.asked()); n != 2 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}
