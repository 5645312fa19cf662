package permission

import (
	"slices"
	"strings"

	"lathe"
)

// Paths are the directories that the built-in rules name.
type Paths struct {
	ToolOutput string   // where full tool output is kept
	Temp       string   // the agent's own temporary directory; may be empty
	Plans      string   // lathe's own plans directory; may be empty
	Readable   []string // skill and reference directories
}

// allowed lists the patterns of directories outside the project that are not asked about.
func (p Paths) allowed() []string {
	var out []string
	if p.ToolOutput != "" {
		out = append(out, Literal(p.ToolOutput), under(p.ToolOutput))
	}
	if p.Temp != "" {
		out = append(out, under(p.Temp))
	}
	for _, dir := range p.Readable {
		out = append(out, under(dir))
	}
	return out
}

func under(dir string) string { return Literal(strings.TrimSuffix(dir, "/")) + "/*" }

// Defaults returns the rules that every agent begins with.
func Defaults(p Paths) []lathe.Rule {
	rules := []lathe.Rule{
		{Permission: "*", Pattern: "*", Action: lathe.Allow},
		{Permission: "doom_loop", Pattern: "*", Action: lathe.AskMe},
		{Permission: "budget", Pattern: "*", Action: lathe.AskMe},
		{Permission: "external_directory", Pattern: "*", Action: lathe.AskMe},
		{Permission: Network, Pattern: "*", Action: lathe.AskMe},
	}
	rules = append(rules, p.external()...)
	rules = append(rules,
		lathe.Rule{Permission: "question", Pattern: "*", Action: lathe.Deny},
		lathe.Rule{Permission: "plan_enter", Pattern: "*", Action: lathe.Deny},
		lathe.Rule{Permission: "plan_exit", Pattern: "*", Action: lathe.Deny},
	)
	return append(rules, readRules()...)
}

// readRules allow reading, but ask for files that hold secrets.
func readRules() []lathe.Rule {
	return []lathe.Rule{
		{Permission: "read", Pattern: "*", Action: lathe.Allow},
		{Permission: "read", Pattern: "*.env", Action: lathe.AskMe},
		{Permission: "read", Pattern: "*.env.*", Action: lathe.AskMe},
		{Permission: "read", Pattern: "*.env.example", Action: lathe.Allow},
	}
}

func (p Paths) external() []lathe.Rule {
	var rules []lathe.Rule
	for _, pattern := range p.allowed() {
		rules = append(rules, lathe.Rule{Permission: "external_directory", Pattern: pattern, Action: lathe.Allow})
	}
	return rules
}

// Builtin returns the rules of a built-in agent, which follow the defaults; nil
// for any other name.
func Builtin(agent string, p Paths) []lathe.Rule {
	switch agent {
	case "build":
		return []lathe.Rule{
			{Permission: "question", Pattern: "*", Action: lathe.Allow},
			{Permission: "plan_enter", Pattern: "*", Action: lathe.Allow},
		}
	case "plan":
		return planRules(p)
	case "general":
		return []lathe.Rule{
			{Permission: "todoread", Pattern: "*", Action: lathe.Deny},
			{Permission: "todowrite", Pattern: "*", Action: lathe.Deny},
		}
	case "explore":
		return exploreRules(p)
	case "compaction", "title", "summary":
		return []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Deny}}
	}
	return nil
}

func planRules(p Paths) []lathe.Rule {
	rules := []lathe.Rule{
		{Permission: "question", Pattern: "*", Action: lathe.Allow},
		{Permission: "plan_exit", Pattern: "*", Action: lathe.Allow},
		{Permission: "edit", Pattern: "*", Action: lathe.Deny},
		{Permission: Change, Pattern: "*", Action: lathe.Deny},
		{Permission: "edit", Pattern: ".opencode/plans/*.md", Action: lathe.Allow},
		{Permission: "edit", Pattern: ".lathe/plans/*.md", Action: lathe.Allow},
	}
	if p.Plans != "" {
		plans := under(p.Plans)
		rules = append(rules,
			lathe.Rule{Permission: "external_directory", Pattern: plans, Action: lathe.Allow},
			lathe.Rule{Permission: "edit", Pattern: plans + ".md", Action: lathe.Allow})
	}
	return append(rules, lathe.Rule{Permission: "task", Pattern: "general", Action: lathe.Deny})
}

func exploreRules(p Paths) []lathe.Rule {
	rules := []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Deny}}
	for _, name := range []string{"grep", "glob", "list", "bash", "webfetch", "websearch", "codesearch"} {
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Allow})
	}
	rules = append(rules, readRules()...)
	rules = append(rules, lathe.Rule{Permission: Change, Pattern: "*", Action: lathe.Deny})
	rules = append(rules, lathe.Rule{Permission: "external_directory", Pattern: "*", Action: lathe.AskMe})
	return append(rules, p.external()...)
}

// Merge returns an agent's whole ruleset: the defaults, the rules built into the
// agent, the user's, and the agent's own from its configuration. Unless a rule
// denies the tool output directory by name, it stays readable.
func Merge(p Paths, builtin, user, agent []lathe.Rule) []lathe.Rule {
	rules := slices.Concat(Defaults(p), builtin, user, agent)
	if p.ToolOutput == "" {
		return rules
	}
	for _, r := range rules {
		if r.Permission == "external_directory" && r.Action == lathe.Deny &&
			(r.Pattern == under(p.ToolOutput) || r.Pattern == Literal(p.ToolOutput)) {
			return rules
		}
	}
	own := Paths{ToolOutput: p.ToolOutput}
	return append(rules, own.external()...)
}

// Expand replaces a leading "~" or "$HOME" of a configured pattern by the home
// directory. What is asked for is never expanded.
func Expand(pattern, home string) string {
	for _, name := range []string{"~", "$HOME"} {
		rest, ok := strings.CutPrefix(pattern, name)
		if ok && home != "" && (rest == "" || rest[0] == '/') {
			return Literal(strings.TrimSuffix(home, "/")) + rest
		}
	}
	return pattern
}
