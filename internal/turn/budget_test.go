package turn_test

import (
	"errors"
	"testing"

	"lathe"
	"lathe/internal/turn"
)

func TestSharedBudget(t *testing.T) {
	spent := &turn.Spent{}
	first := newRig(t, "text one\nusage in=100 out=1")
	first.Spent, first.Limits = spent, turn.Limits{Tokens: 50}
	if out := first.run(t); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	second := newRig(t, "text two")
	second.Spent, second.Limits = spent, turn.Limits{Tokens: 50}
	var limit *lathe.LimitFailure
	if out := second.run(t); !errors.As(out.Failure, &limit) || limit.Limit != "tokens" {
		t.Errorf("outcome %+v", out)
	}
	if n := len(second.server.Requests()); n != 0 {
		t.Errorf("%d requests were made beyond the budget", n)
	}
	if steps, _, tokens := spent.Total(); steps != 1 || tokens.Total() != 101 {
		t.Errorf("spent %d steps, %d tokens", steps, tokens.Total())
	}
}
