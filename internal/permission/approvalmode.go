package permission

import (
	"slices"

	"lathe"
)

// Bound returns the policy within a session's mode of approval, for everything that judges by
// rules without asking: what is confined, and what is refused. Only a mode that denies says
// something here.
func (p Policy) Bound(m lathe.ApprovalMode, paths Paths) Policy {
	if m != lathe.PlanOnly {
		return p
	}
	everything := []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Allow}}
	rules := slices.DeleteFunc(planRules(paths), func(r lathe.Rule) bool { return r.Permission == "task" }) // a subagent is in the same mode
	return p.Below(Policy{Rules: slices.Concat(everything, rules)})
}

// quiet names what is done without being asked about in ask mode: it changes nothing and runs
// nothing. What is not named, such as the tools of servers, is asked about.
var quiet = []string{
	"read", "grep", "glob", "list", "lsp", "skill", "todoread", "todowrite", "question", "plan_enter", "plan_exit", "recall",
	"task", "external_directory", "doom_loop", "budget", Change, Network, "invalid",
}

// askFirst is the ceiling of the modes that ask before things are done: quiet things are left to
// the rules, the others need an answer.
func askFirst() []lathe.Rule {
	rules := []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.AskMe}}
	for _, name := range quiet {
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Allow})
	}
	return rules
}

// In returns what is asked in a session's mode of approval. What [Policy.Bound] says holds
// already.
func (in AskInput) In(m lathe.ApprovalMode) AskInput {
	switch m {
	case lathe.AskFirst:
		in.Policy = in.Below(Policy{Rules: askFirst()})
	case lathe.AcceptEdits:
		in.Policy = in.Below(Policy{Rules: append(askFirst(), lathe.Rule{Permission: "edit", Pattern: "*", Action: lathe.Allow})})
		in.Freely = []string{"edit"}
	case lathe.Auto:
		in.Freely = []string{"edit", "bash"}
	}
	return in
}

// free reports whether the session's mode answers a request that the rules ask about. What needs
// a person's consent for the particular call always needs it.
func (in AskInput) free(permission string, meta map[string]any) bool {
	return slices.Contains(in.Freely, permission) && !protected(meta)
}
