package permission

import (
	"slices"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// nameOf returns how a protected request can be allowed by a rule; empty: it cannot.
func nameOf(meta map[string]any) string {
	name, _ := meta[tool.MetaNamed].(string)
	return name
}

// named reports whether a protected request is allowed by its name: by an approval
// if the request offers to be allowed for good, or by rules, those of every ceiling
// too.
func (s *Service) named(req tool.Request, p Policy) bool {
	if len(req.Always) > 0 && byName(req, s.approved) {
		return true
	}
	return byName(req, p.Rules) && !slices.ContainsFunc(p.Ceilings, func(rules []lathe.Rule) bool { return !byName(req, rules) })
}

// byName reports whether each pattern has a rule that allows it and begins with
// the name.
func byName(req tool.Request, rules []lathe.Rule) bool {
	name := nameOf(req.Metadata)
	if name == "" {
		return false
	}
	for _, pattern := range req.Patterns {
		if !slices.ContainsFunc(rules, func(r lathe.Rule) bool {
			return r.Action == lathe.Allow && (strings.HasPrefix(r.Pattern, name) || req.Permission == Network && namesHost(r.Pattern)) &&
				covers(r, req.Permission, pattern)
		}) {
			return false
		}
	}
	return len(req.Patterns) > 0
}
