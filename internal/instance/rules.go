package instance

import (
	"lathe"
	"lathe/internal/permission"
)

// SourcedRule is a rule and where it comes from.
type SourcedRule struct {
	lathe.Rule
	Source string // "default", "built into NAME", or the place it was written at
}

// Rules returns the effective rules of an agent in order, the last that matches
// wins, with their sources.
func (g *Agents) Rules(a Agent) []SourcedRule {
	var own []lathe.Rule
	if c := g.conf.Agent(a.Name); c != nil {
		own = c.Permission
	}
	merged := len(permission.Merge(g.paths, permission.Builtin(a.Name, g.paths), g.conf.Permission, own))
	out := make([]SourcedRule, 0, len(a.Rules))
	add := func(n int, source func(lathe.Rule) string) {
		for _, r := range a.Rules[len(out):min(len(a.Rules), len(out)+n)] {
			out = append(out, SourcedRule{r, source(r)})
		}
	}
	always := func(name string) func(lathe.Rule) string { return func(lathe.Rule) string { return name } }
	add(len(permission.Defaults(g.paths)), always("default"))
	add(len(permission.Builtin(a.Name, g.paths)), always("built into "+a.Name))
	add(len(g.conf.Permission), func(r lathe.Rule) string { return g.written(r, "permission") })
	add(len(own), func(r lathe.Rule) string { return g.written(r, "agent", a.Name, "permission") })
	add(merged-len(out), always("default"))
	add(len(a.Rules), always("this repository, which is not trusted"))
	return out
}

// written returns the place of a rule in the configuration, as near as it is known.
func (g *Agents) written(r lathe.Rule, keys ...string) string {
	for _, tail := range [][]string{{r.Permission, r.Pattern}, {r.Permission}, {}} {
		if o, ok := g.conf.Origin(append(keys[:len(keys):len(keys)], tail...)...); ok && !o.Pos.IsZero() {
			return o.Pos.String()
		}
	}
	return "configuration"
}
