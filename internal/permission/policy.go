package permission

import (
	"slices"

	"lathe"
)

// Policy is what requests are judged by: rules, the last match of which counts,
// and ceilings, each of which is a complete set of rules. No answer is looser
// than that of any ceiling, whatever the rules say.
type Policy struct {
	Rules    []lathe.Rule
	Ceilings [][]lathe.Rule
}

// Action judges a request for one pattern.
func (p Policy) Action(permission, pattern string) lathe.Action {
	return p.strictest(func(rules []lathe.Rule) lathe.Action { return Evaluate(permission, pattern, rules).Action })
}

// ActionUnder judges a request for anything that begins with the prefix; see
// [EvaluateUnder].
func (p Policy) ActionUnder(permission, prefix string) lathe.Action {
	return p.strictest(func(rules []lathe.Rule) lathe.Action { return EvaluateUnder(permission, prefix, rules) })
}

// Hidden reports whether a tool is not worth offering; see [Hidden].
func (p Policy) Hidden(permission string) bool {
	return Hidden(permission, p.Rules) ||
		slices.ContainsFunc(p.Ceilings, func(rules []lathe.Rule) bool { return Hidden(permission, rules) })
}

// Below returns the policy with another one as its ceiling.
func (p Policy) Below(ceiling Policy) Policy {
	p.Ceilings = slices.Concat(p.Ceilings, [][]lathe.Rule{ceiling.Rules}, ceiling.Ceilings)
	return p
}

// unnamed reports whether the same is said of a pattern as of everything: no rule
// that applies to it names anything.
func (p Policy) unnamed(permission, pattern string) bool {
	for _, rules := range append([][]lathe.Rule{p.Rules}, p.Ceilings...) {
		if r := Evaluate(permission, pattern, rules); r.Action != lathe.Allow && !Everything(r.Pattern) {
			return false
		}
	}
	return true
}

// without returns the policy without the rules that have an action.
func (p Policy) without(action lathe.Action) Policy {
	drop := func(rules []lathe.Rule) []lathe.Rule {
		return slices.DeleteFunc(slices.Clone(rules), func(r lathe.Rule) bool { return r.Action == action })
	}
	out := Policy{Rules: drop(p.Rules)}
	for _, rules := range p.Ceilings {
		out.Ceilings = append(out.Ceilings, drop(rules))
	}
	return out
}

// Change is the permission for calls that change what they do not name: the state of
// a repository, installed packages, files that a script writes. Only rules that name
// it count, because nobody who denies everything else means it: agents that must not
// change anything have such a rule.
const Change = "change"

// naming returns the policy with only the rules that name a permission, which is
// allowed if there are none.
func (p Policy) naming(permission string) Policy {
	only := func(rules []lathe.Rule) []lathe.Rule {
		out := []lathe.Rule{{Permission: permission, Pattern: "*", Action: lathe.Allow}}
		for _, r := range rules {
			if r.Permission == permission {
				out = append(out, r)
			}
		}
		return out
	}
	out := Policy{Rules: only(p.Rules)}
	for _, rules := range p.Ceilings {
		out.Ceilings = append(out.Ceilings, only(rules))
	}
	return out
}

func (p Policy) strictest(judge func([]lathe.Rule) lathe.Action) lathe.Action {
	action := judge(p.Rules)
	for _, rules := range p.Ceilings {
		action = stricter(action, judge(rules))
	}
	return action
}

func stricter(a, b lathe.Action) lathe.Action {
	for _, action := range []lathe.Action{lathe.Deny, lathe.AskMe, lathe.Review} {
		if a == action || b == action {
			return action
		}
	}
	return a
}
