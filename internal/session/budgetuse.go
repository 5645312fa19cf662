package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/turn"
)

// Budget says how much of the budget that is configured for a session is used.
func (v *Windows) Budget(ctx context.Context, id lathe.SessionID) (api.Budget, error) {
	r, err := v.s.runner(ctx, id)
	if err != nil {
		return api.Budget{}, err
	}
	uses, err := r.budgetUse(ctx)
	out := api.Budget{Uses: uses}
	money := func(u api.BudgetUse) bool { return u.Limit == "cost" }
	if err != nil || !slices.ContainsFunc(uses, money) {
		return out, err
	}
	if m, err := r.inst.Models.GetFor(ctx, r.current().Model); err == nil && !m.Priced() {
		out.Unpriced = m.Ref.String()
	}
	return out, nil
}

// budgetUse says how much of the configured budget is used, by this process and others.
func (r *runner) budgetUse(ctx context.Context) ([]api.BudgetUse, error) {
	p := newPurse(r, &turn.Spent{})
	if p == nil {
		return nil, nil
	}
	if err := p.readUsed(ctx); err != nil {
		return nil, err
	}
	var out []api.BudgetUse
	for s := range scopes {
		a, u := p.allowance(s), p.used[s]
		add := func(limit, used, allowed string, part float64) {
			out = append(out, api.BudgetUse{For: s.String(), Limit: limit, Used: used, Allowed: allowed, Percent: int64(part * 100)})
		}
		if a.Cost > 0 {
			add("cost", u.cost.String(), lathe.Money(a.Cost*1e12).String(), u.cost.USD()/a.Cost)
		}
		if a.Tokens > 0 {
			add("tokens", fmt.Sprint(u.tokens), say.Plural(a.Tokens, "token"), float64(u.tokens)/float64(a.Tokens))
		}
		if a.Steps > 0 {
			add("steps", fmt.Sprint(u.steps), say.Plural(a.Steps, "step"), float64(u.steps)/float64(a.Steps))
		}
		if a.Time > 0 {
			add("time", u.time.Round(time.Second).String(), time.Duration(a.Time).String(), float64(u.time)/float64(a.Time))
		}
	}
	return out, nil
}
