package tui

import (
	"context"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

// limited is an engine with a budget.
type limited struct {
	*ableFake
	budget api.Budget
	asked  int
}

func (f *limited) Can() engine.Capabilities {
	c := f.ableFake.Can()
	c.Budget = f
	return c
}

func (f *limited) Budget(context.Context, lathe.SessionID) (api.Budget, error) {
	f.asked++
	return f.budget, nil
}

// The state line tells how much of the nearest limit is used, and warns when little is left;
// /status tells all of them.
func TestBudgetIsShown(t *testing.T) {
	f := &limited{ableFake: newAble()}
	f.budget.Uses = []api.BudgetUse{
		{For: "this session", Limit: "cost", Used: "$0.50", Allowed: "$2.50", Percent: 20},
		{For: "today", Limit: "tokens", Used: "410", Allowed: "1000 tokens", Percent: 41},
	}
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	d.shows("budget 41%")
	f.budget.Uses[0].Percent = 83
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.shows("budget 83% this session")
	f.budget.Unpriced = "acme/new"
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.shows("budget: price unknown")
	d.typed("/status")
	d.press("esc", "enter")
	d.shows("$0.50 of $2.50 for this session (83%)", "410 of 1000 tokens for today (41%)", "the price of acme/new is not known")
}

// Without a budget nothing is shown, and nothing is asked again.
func TestNoBudget(t *testing.T) {
	f := &limited{ableFake: newAble()}
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	for range 3 {
		d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	}
	d.hides("budget")
	if f.asked != 1 {
		t.Errorf("it was asked %d times", f.asked)
	}
}
