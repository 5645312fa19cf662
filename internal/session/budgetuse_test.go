package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// The page about a session's window says what of each limit is used, subagents included.
func TestBudgetIsShown(t *testing.T) {
	p := budgeted(t, `{"session": {"steps": 10}, "day": {"tokens": 1000}}`, func(req *llm.Request) say {
		if last(req) == "go" {
			return say{calls: []use{task("explore", "look")}}
		}
		return say{text: "ok"}
	})
	id := p.titled()
	p.prompt(id, session.Prompt{}, "go")
	w, err := p.svc.Windows.Of(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := []api.BudgetUse{
		{For: "this session", Limit: "steps", Used: "3", Allowed: "10 steps", Percent: 30},
		{For: "today", Limit: "tokens", Used: "33", Allowed: "1000 tokens", Percent: 3},
	}
	if diff := cmp.Diff(want, w.Budget); diff != "" {
		t.Errorf("budget (-want +got):\n%s", diff)
	}
	b, err := p.svc.Windows.Budget(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(api.Budget{Uses: want}, b); diff != "" {
		t.Errorf("by itself (-want +got):\n%s", diff)
	}
	if w.Unpriced {
		t.Error("a scripted model's price is known")
	}
}
