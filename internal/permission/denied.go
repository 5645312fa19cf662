package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// Denied means that a rule forbids the call.
type Denied struct {
	Permission string
	Pattern    string     // what was refused
	Rule       lathe.Rule // that refused it
	Mode       Mode       // whose built-in rule it is
	Allowed    []string   // patterns that rules allow for the permission
	// Doing says what the call would have done, and Instead what could be done
	// instead; either may be empty.
	Doing, Instead string
}

// Mode is what an agent is for, if its built-in rules bound it.
type Mode int

// Modes of agents.
const (
	NoMode  Mode = iota
	Plan         // works out a plan and changes nothing
	Looking      // searches and reads
)

const maxAllowed = 5 // patterns that are named

// Error says what refused the call and what would be allowed, for the model.
func (e *Denied) Error() string {
	doing := e.Doing
	if doing == "" {
		doing = fmt.Sprintf("this call needs permission for %s: %s", e.Permission, e.Pattern)
	}
	switch e.Mode {
	case Plan:
		instead := "leave it out"
		if e.Instead != "" {
			instead = e.Instead
		}
		return fmt.Sprintf("Plan mode changes no files; %s: %s, or put it into the plan.", doing, instead)
	case Looking:
		return fmt.Sprintf("This agent only searches and reads; %s: leave it out, and say in your answer what should be done.", doing)
	}
	text := fmt.Sprintf("Refused by the permission rules: %s %q is denied, and %s.", e.Permission, e.Pattern, doing)
	if len(e.Allowed) > 0 {
		text += " Allowed: " + strings.Join(e.Allowed, ", ") + "."
	}
	return text + " Do without it, or in another way that the rules allow, and say in your answer what was left out."
}

// denied makes the error for a request that the policy refuses.
func denied(req tool.Request, p Policy) *Denied {
	e := &Denied{Permission: req.Permission, Pattern: strings.Join(req.Patterns, ", "), Doing: req.Doing, Instead: req.Instead}
	for _, rules := range append([][]lathe.Rule{p.Rules}, p.Ceilings...) {
		for _, pattern := range refusable(req) {
			r := Evaluate(req.Permission, pattern, rules)
			if r.Action != lathe.Deny {
				continue
			}
			e.Rule, e.Pattern, e.Allowed = r, pattern, allowed(req.Permission, rules)
			if m := mode(rules); m == Plan && slices.Contains(planRules(Paths{}), r) || m == Looking && Everything(r.Pattern) {
				e.Mode = m
			}
			return e
		}
	}
	return e
}

// refusable lists the texts of a request that a rule may deny.
func refusable(req tool.Request) []string {
	return slices.Concat(req.Patterns, texts(req.Metadata, tool.MetaRuns))
}

// mode tells from an agent's rules what it is for.
func mode(rules []lathe.Rule) Mode {
	switch {
	case !slices.Contains(rules, lathe.Rule{Permission: Change, Pattern: "*", Action: lathe.Deny}):
		return NoMode
	case slices.Contains(rules, lathe.Rule{Permission: "plan_exit", Pattern: "*", Action: lathe.Allow}):
		return Plan
	}
	return Looking
}

// allowed lists what rules allow by name.
func allowed(permission string, rules []lathe.Rule) []string {
	var out []string
	for _, r := range rules {
		if r.Permission == permission && r.Action == lathe.Allow && !Everything(r.Pattern) &&
			!slices.Contains(out, r.Pattern) && Evaluate(permission, r.Pattern, rules).Action == lathe.Allow {
			out = append(out, r.Pattern)
		}
	}
	return out[:min(len(out), maxAllowed)]
}

// unanswered is the refusal of requests that nobody was there to answer, described by
// what the call would have done.
func unanswered(wants []tool.Request, message string) *Unanswered {
	var doing []string
	for _, req := range wants {
		doing = append(doing, cmp.Or(req.Doing, req.Permission+": "+strings.Join(req.Patterns, ", ")))
	}
	return &Unanswered{Why: "Refused: " + strings.Join(doing, ", and ") + ". " + cmp.Or(message, "Nobody can be asked.")}
}
