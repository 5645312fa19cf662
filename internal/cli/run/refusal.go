package run

import (
	"slices"
	"strings"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/tool"
)

// What happens when a permission is refused because nobody is there to grant it.
const (
	refusalContinue = "continue" // the model is told and goes on
	refusalFail     = "fail"     // the same, but the run counts as refused
	refusalStop     = "stop"     // the run ends
)

// checkRefusal fills in and validates what happens after a refusal.
func (o *Options) checkRefusal(env *console.Env) error {
	from := "--on-refusal"
	if o.onRefusal == "" {
		o.onRefusal, from = env.Getenv("LATHE_ON_REFUSAL"), "LATHE_ON_REFUSAL"
	}
	switch o.onRefusal {
	case "":
		o.onRefusal = refusalContinue
	case refusalContinue, refusalFail, refusalStop:
	default:
		return console.Usagef("%s %q is not one of continue, fail, stop", from, o.onRefusal)
	}
	return nil
}

// refusals are the permissions that were not granted in a run.
type refusals struct {
	list []refusal
	// step is the message whose call was last refused, tool the tool it called; redone
	// says that a later call may have made up for it.
	step   lathe.MessageID
	tool   string
	redone bool
	told   map[lathe.PartID]bool // calls of which the sandbox's refusals were noted
}

// refusal is one of them.
type refusal struct {
	what      string // on one line
	rule      string // a rule for --allow; empty if none would help
	protected bool
	question  bool
	person    bool // a person was asked and said no
	denied    bool // a rule denies it
}

func (r *refusals) add(one refusal, tool string, ref *lathe.ToolRef) {
	r.list, r.tool, r.redone = append(r.list, one), tool, false
	if ref != nil {
		r.step = ref.MessageID
	}
}

// Tools that can stand in for each other.
var (
	changing = []string{"edit", "multiedit", "write", "apply_patch", "patch"}
	looking  = []string{"read", "glob", "grep", "list", "webfetch", "websearch", "codesearch"}
)

// standsFor reports whether another tool may have done what the refused tool was meant to do.
func standsFor(other, refused string) bool {
	switch {
	case other == refused, refused == "bash" && slices.Contains(changing, other), other == "bash" && slices.Contains(looking, refused):
		return true
	case slices.Contains(changing, refused):
		return slices.Contains(changing, other)
	}
	return slices.Contains(looking, refused) && slices.Contains(looking, other)
}

// toolOf returns the tool whose call an ask is about.
func toolOf(a lathe.Ask) string {
	if _, ok := a.Metadata["command"]; ok {
		return "bash"
	}
	if name, ok := a.Metadata["tool"].(string); ok {
		return name
	}
	return a.Permission
}

// saw notes a tool call that went well.
func (r *refusals) saw(p lathe.Part) {
	if len(r.list) == 0 || p.MessageID == r.step {
		return
	}
	if c, ok := p.Body.(*lathe.ToolCall); ok && standsFor(c.Tool, r.tool) {
		if _, done := c.State.(*lathe.ToolDone); done {
			r.redone = true
		}
	}
}

// unfinished reports whether a run that ended normally counts as refused: either no
// later call could have made up for the refusal, or every refusal counts.
func (r *refusals) unfinished(onRefusal string) bool {
	return len(r.list) > 0 && (onRefusal != refusalContinue || !r.redone)
}

// refuse makes the reply for an ask that nobody is there to answer, or may not.
func (v *view) refuse(a lathe.Ask, what string) lathe.Reply {
	protected := a.Metadata[tool.MetaProtected] == true
	if a.Permission != "doom_loop" || v.opts.onRefusal != refusalContinue { // a model that heeds the refusal can go on
		v.refusals.add(refusal{what: what, rule: ruleFor(a), protected: protected}, toolOf(a), a.Tool)
	}
	reply := lathe.Reply{Kind: lathe.Reject}
	if v.opts.onRefusal == refusalStop {
		return reply
	}
	reply.Alone = true
	reply.Message = "Nobody can be asked in this run."
	if protected {
		reply.Message = "It is protected, and only a person at a terminal can allow it."
	}
	reply.Message += " Go on without it or in another way, and say in your answer what was left out."
	return reply
}

// ruleFor returns a rule for --allow that would allow an ask; empty if there is none,
// or if its text cannot be given to a shell as a single pattern.
func ruleFor(a lathe.Ask) string {
	if a.Permission == "doom_loop" || a.Metadata[tool.MetaProtected] == true || a.Metadata[tool.MetaAlso] != nil || len(a.Patterns) != 1 {
		return ""
	}
	pattern := a.Patterns[0]
	if pattern == "" || len(pattern) >= 120 || strings.HasPrefix(pattern, "<") || strings.ContainsAny(pattern, ",(…'\n\x1b") {
		return ""
	}
	return console.Clean(a.Permission + ":" + pattern)
}

// tellRefused prints what was refused, and what would allow it.
func (v *view) tellRefused() {
	o := v.out
	var rules []string
	protected, question, other, denied := false, false, false, false
	for _, r := range v.refusals.list {
		o.ErrLine(o.Style.Yellow("lathe: ") + v.say("refused:") + " " + console.Clean(r.what))
		protected, question = protected || r.protected, question || r.question
		if r.rule != "" && !slices.Contains(rules, r.rule) {
			rules = append(rules, r.rule)
		}
		denied = denied || r.denied
		other = other || !r.protected && !r.question && !r.person && !r.denied
	}
	hint := func(text string) { o.ErrLine(o.Style.Yellow("lathe: ") + v.say(text)) }
	switch {
	case len(rules) > 0:
		hint("to let it through, use --permission allow or a rule such as --allow '" + rules[0] + "'")
	case other:
		hint("to let it through, use --permission allow")
	}
	if protected {
		hint("what is protected only a person can allow: go on at a terminal with: lathe run -c")
	}
	if denied {
		hint("a rule that denies a host has to be changed where it stands: lathe config shows that")
	}
	if question {
		hint("to answer it, go on at a terminal with: lathe run -c")
	}
}
