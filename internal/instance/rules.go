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
func (i *Instance) Rules(a Agent) []SourcedRule {
	var own []lathe.Rule
	if c := i.Config.Agent(a.Name); c != nil {
		own = c.Permission
	}
	merged := len(permission.Merge(i.rulePaths, permission.Builtin(a.Name, i.rulePaths), i.Config.Permission, own))
	out := make([]SourcedRule, 0, len(a.Rules))
	add := func(n int, source func(lathe.Rule) string) {
		for _, r := range a.Rules[len(out):min(len(a.Rules), len(out)+n)] {
			out = append(out, SourcedRule{r, source(r)})
		}
	}
	always := func(name string) func(lathe.Rule) string { return func(lathe.Rule) string { return name } }
	add(len(permission.Defaults(i.rulePaths)), always("default"))
	add(len(permission.Builtin(a.Name, i.rulePaths)), always("built into "+a.Name))
	add(len(i.Config.Permission), func(r lathe.Rule) string { return i.written(r, "permission") })
	add(len(own), func(r lathe.Rule) string { return i.written(r, "agent", a.Name, "permission") })
	add(merged-len(out), always("default"))
	add(len(a.Rules), always("this repository, which is not trusted"))
	return out
}

// written returns the place of a rule in the configuration, as near as it is known.
func (i *Instance) written(r lathe.Rule, keys ...string) string {
	for _, tail := range [][]string{{r.Permission, r.Pattern}, {r.Permission}, {}} {
		if o, ok := i.Config.Origin(append(keys[:len(keys):len(keys)], tail...)...); ok && !o.Pos.IsZero() {
			return o.Pos.String()
		}
	}
	return "configuration"
}
