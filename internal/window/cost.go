package window

import (
	"slices"

	"lathe"
	"lathe/internal/api"
)

// ByModel sums what each model cost, the dearest first.
func ByModel(messages []lathe.Message) []api.ModelCost {
	type sum struct {
		n      int
		tokens lathe.Tokens
		cost   lathe.Money
	}
	sums := map[string]*sum{}
	var names []string
	for _, m := range messages {
		info, ok := m.Info.(*lathe.Assistant)
		if !ok {
			continue
		}
		name := info.Model.String()
		s := sums[name]
		if s == nil {
			s = &sum{}
			sums[name] = s
			names = append(names, name)
		}
		s.n++
		s.cost += info.Cost
		s.tokens = s.tokens.Add(info.Tokens)
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(min(1, max(-1, sums[b].cost-sums[a].cost))) })
	out := []api.ModelCost{}
	for _, name := range names {
		s := sums[name]
		out = append(out, api.ModelCost{
			Model: name, Answers: s.n, Sent: s.tokens.Prompt(), Cached: s.tokens.CacheRead, Answered: s.tokens.Output + s.tokens.Reasoning, Cost: s.cost.String(),
		})
	}
	return out
}
