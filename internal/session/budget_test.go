package session_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// budgeted is a play with a budget, whose model never has enough. A step takes 11 tokens.
func budgeted(t *testing.T, budget string, answer func(*llm.Request) say) *play {
	if answer == nil {
		n := 0
		answer = func(*llm.Request) say {
			n++ // or it repeats itself
			return say{calls: []use{{"read", args{"filePath": "main.go", "offset": n}}}}
		}
	}
	return newPlay(t, map[string]string{"home/lathe/config/lathe.json": `{"budget": ` + budget + `}`}, answer).open()
}

// titled returns a new session that needs no title, which would count.
func (p *play) titled() lathe.SessionID {
	p.t.Helper()
	s, err := p.svc.Create(p.t.Context(), session.Create{Directory: p.dir, Title: "A session"})
	if err != nil {
		p.t.Fatal(err)
	}
	return s.ID
}

// replies answers the budget's asks in turn; those beyond are rejected. It returns what
// was asked.
func (p *play) replies(kinds ...lathe.ReplyKind) func() []string {
	var mu sync.Mutex
	var asked []string
	sub := p.bus.Subscribe(p.t.Context(), bus.Filter{}, bus.Limits{})
	go func() { // ends with the test
		for e, err := range sub.All() {
			if err != nil {
				return
			}
			ask, ok := e.Event.(lathe.PermissionAsked)
			if !ok || ask.Ask.Permission != "budget" || e.Elsewhere {
				continue
			}
			reply := lathe.Reject
			mu.Lock()
			asked = append(asked, ask.Ask.Metadata["reason"].(string))
			if len(asked) <= len(kinds) {
				reply = kinds[len(asked)-1]
			}
			mu.Unlock()
			if err := p.svc.Instances.Reply(p.t.Context(), p.dir, ask.Ask.ID, lathe.Reply{Kind: reply}); err != nil {
				p.t.Error(err)
			}
		}
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

func limitOf(t *testing.T, f lathe.Failure) lathe.LimitFailure {
	t.Helper()
	var limit *lathe.LimitFailure
	if !errors.As(f, &limit) {
		t.Fatalf("the turn ended with %v", f)
	}
	return *limit
}

// Where a limit is reached the person is asked; a yes is worth as much again.
func TestBudgetAsks(t *testing.T) {
	p := budgeted(t, `{"session": {"steps": 3}}`, nil)
	asked := p.replies(lathe.Once)
	id := p.titled()
	out := p.prompt(id, session.Prompt{}, "go")
	want := lathe.LimitFailure{Limit: "steps", Message: "the budget for this session is used up: 6 of 6 steps"}
	if d := cmp.Diff(want, limitOf(t, out.Failure)); d != "" {
		t.Errorf("the end (-want +got):\n%s", d)
	}
	if n := len(p.asked()); n != 6 {
		t.Errorf("%d requests were made", n)
	}
	if d := cmp.Diff([]string{"the budget for this session is used up: 3 of 3 steps", want.Message}, asked()); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	p.prompt(id, session.Prompt{}, "again") // what was used before counts
	if n := len(p.asked()); n != 6 {
		t.Errorf("%d requests were made with a new prompt", n)
	}
}

// A day's budget is one for all sessions, of this process and those before.
func TestBudgetOfADay(t *testing.T) {
	p := budgeted(t, `{"day": {"tokens": 22}}`, func(*llm.Request) say { return say{text: "Done."} })
	p.replies()
	p.prompt(p.titled(), session.Prompt{}, "one")
	p.serve()
	p.prompt(p.titled(), session.Prompt{}, "two")
	out := p.prompt(p.titled(), session.Prompt{}, "three")
	if got := limitOf(t, out.Failure); got.Limit != "tokens" || !strings.Contains(got.Message, "today") {
		t.Errorf("the third prompt ended with %+v", got)
	}
	if n := len(p.asked()); n != 2 {
		t.Errorf("%d requests were made", n)
	}
}

// What subagents use counts, and they are stopped by it.
func TestBudgetOfSubagents(t *testing.T) {
	p := budgeted(t, `{"project": {"steps": 3}}`, func(req *llm.Request) say {
		if asked, _, _ := strings.Cut(last(req), "\n"); asked == "go" {
			return say{calls: []use{task("general", "loop")}}
		}
		return say{calls: []use{{"glob", args{"pattern": "*"}}}}
	})
	p.replies()
	out := p.prompt(p.titled(), session.Prompt{}, "go")
	if got := limitOf(t, out.Failure); got.Message != "the budget for this project is used up: 3 of 3 steps" {
		t.Errorf("the turn ended with %+v", got)
	}
	if n := len(p.asked()); n != 3 {
		t.Errorf("%d requests were made", n)
	}
}

// A repository that is not trusted sets no budget: it could keep the person from working.
func TestBudgetOfARepository(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/lathe.json": `{"budget": {"session": {"steps": 1}}}`}, func(*llm.Request) say { return say{text: "Done."} })
	p.env["LATHE_TRUST"] = ""
	p.open()
	id := p.titled()
	p.prompt(id, session.Prompt{}, "one")
	if out := p.prompt(id, session.Prompt{}, "two"); out.Failure != nil {
		t.Errorf("the turn ended with %v", out.Failure)
	}
}
