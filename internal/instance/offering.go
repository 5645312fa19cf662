package instance

import (
	"slices"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/turn"
)

// Offering returns the rules that decide which tools an agent is shown. They are
// the agent's own, except that build and plan are shown the same tools:
// switching between them must not change the beginning of requests, which the
// provider has cached. What plan may do is decided when it tries. Rules that the
// person wrote hide tools from either agent as they say.
func (g *Agents) Offering(a turn.Agent, rules []lathe.Rule) []lathe.Rule {
	if a.Prompt != "" || !slices.Contains([]string{"build", "plan"}, a.Name) {
		return rules
	}
	agent, err := g.Get(a.Name)
	if err != nil || len(rules) < len(agent.Rules) {
		return rules
	}
	var own []lathe.Rule
	if c := g.conf.Agent(a.Name); c != nil {
		own = c.Permission
	}
	shared := []lathe.Rule{
		{Permission: "question", Pattern: "*", Action: lathe.Allow},
		{Permission: "plan_enter", Pattern: "*", Action: lathe.Allow},
		{Permission: "plan_exit", Pattern: "*", Action: lathe.Allow},
	}
	merged := g.conf.Tighten(a.Name, permission.Merge(g.paths, shared, g.conf.Permission, own))
	return slices.Concat(merged, rules[len(agent.Rules):])
}
