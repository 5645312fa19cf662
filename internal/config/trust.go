package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/jsonc"
)

// What an untrusted repository may say: rules that deny or ask, and what cannot
// run a program, reach an address, read a file outside, or loosen a rule.

// kept lists the keys that pass, with what is left of their value. A key that
// is not listed is left out for the reason in blocked, or a general one.
var kept = map[string]func(*filter, *jsonc.Value, string) bool{
	"$schema":            pass,
	"theme":              pass,
	"watcher":            pass,
	"subagent_depth":     pass,
	"subagent_limit":     pass,
	"compaction":         pass,
	"tool_output":        pass,
	"attachment":         pass,
	"layout":             pass,
	"disabled_providers": pass,
	"model":              passModel,
	"small_model":        passModel,
	"share":              onlyShareOff,
	"snapshot":           onlyTrue,
	"instructions":       localPaths,
	"skills":             localSkills,
	"permission":         nil, // taken out by the caller
	"tools":              nil,
	"agent":              nil,
	"command":            nil,
}

var blocked = map[string]string{
	"provider":   "it could send requests and keys to another address",
	"mcp":        "it starts programs or reaches servers",
	"plugin":     "it runs code",
	"lsp":        "it starts programs",
	"formatter":  "it starts programs",
	"hooks":      "it runs programs",
	"languages":  "it could take your machine's memory and time",
	"shell":      "it names a program to run",
	"server":     "it could open a port",
	"limits":     "it could take your machine's memory and processes",
	"keep_env":   "it would hand your keys to commands",
	"enterprise": "it could send sessions to another address",

	"default_agent": "it would choose an agent in place of yours",
}

const generalReason = "only a trusted repository may set it"

// filter removes from a repository's tree what needs trust and notes it.
type filter struct {
	left    []LeftOut
	rules   []lathe.Rule            // top-level rules that deny or ask, in written order
	agents  map[string][]lathe.Rule // denials for single agents, in written order
	defined int                     // agents
	ruled   int                     // rules for single agents
	// mine reports whether somebody other than untrusted repositories defines an agent.
	mine func(agent string) bool
}

func (f *filter) out(path string, pos jsonc.Pos, reason string) {
	f.left = append(f.left, LeftOut{path, pos, reason})
}

func pass(*filter, *jsonc.Value, string) bool { return true }

// personal leaves out of a repository's configuration, trusted or not, what only the
// person says: whether commands, servers and plugins are confined.
func (l *loader) personal(root *jsonc.Value) {
	if v := root.Delete("sandbox"); v != nil {
		l.c.LeftOut = append(l.c.LeftOut, LeftOut{"sandbox", v.Pos(), "only your own configuration says how commands are confined"})
	}
	if v := root.Delete("plugin_sandbox"); v != nil {
		l.c.LeftOut = append(l.c.LeftOut, LeftOut{"plugin_sandbox", v.Pos(), "only your own configuration says how plugins are confined"})
	}
	if v := root.Delete("retention"); v != nil {
		l.c.LeftOut = append(l.c.LeftOut, LeftOut{"retention", v.Pos(), "only your own configuration says when sessions are removed"})
	}
	for _, of := range [][2]string{{"mcp", "servers"}, {"lsp", "language servers"}, {"formatter", "formatters"}} {
		entries := root.Get(of[0])
		if entries == nil {
			continue
		}
		for _, m := range entries.Members {
			l.personalEntry(of[0]+"."+m.Key, m.Value, of[1])
		}
	}
}

// personalEntry does so for a server or formatter.
func (l *loader) personalEntry(path string, entry *jsonc.Value, of string) {
	if v := entry.Delete("sandbox"); v != nil {
		l.c.LeftOut = append(l.c.LeftOut, LeftOut{path + ".sandbox", v.Pos(), "only your own configuration says how " + of + " are confined"})
	}
	if !strings.HasPrefix(path, "mcp.") {
		return
	}
	if v := entry.Delete("network"); v != nil {
		l.c.LeftOut = append(l.c.LeftOut, LeftOut{path + ".network", v.Pos(), "only your own configuration says which hosts servers reach"})
	}
}

// What an untrusted repository may define in all its files together. Every agent
// has every rule: without a limit, a file of a few megabytes could fill the
// memory.
const (
	mostAgents = 500
	mostRules  = 1000 // at the top, and as many for single agents
)

// few returns as many of the rules as there is room for, given those already kept.
func (f *filter) few(rules Rules, held int, path string, v *jsonc.Value) Rules {
	room := max(0, mostRules-held)
	if len(rules) <= room {
		return rules
	}
	f.out(path, v.Pos(), fmt.Sprintf("an untrusted repository may have %d rules, and this has more", mostRules))
	return rules[:room]
}

// bound leaves out agents beyond the limit.
func (f *filter) bound(agents *jsonc.Value) {
	room := max(0, mostAgents-f.defined)
	if n := len(agents.Members); n > room {
		f.out("agent", agents.Members[room].Pos(), fmt.Sprintf("an untrusted repository may define %d agents, and this defines %d more", mostAgents, n-room))
		agents.Members = agents.Members[:room:room]
	}
	f.defined += len(agents.Members)
}

// apply changes the tree in place. The tree must have been lowered and found valid.
func (f *filter) apply(root *jsonc.Value) {
	f.collect(root)
	var members []jsonc.Member
	for _, m := range root.Members {
		keep, known := kept[m.Key]
		switch {
		case !known:
			reason := blocked[m.Key]
			if reason == "" {
				reason = generalReason
			}
			f.out(m.Key, m.Pos(), reason)
			continue
		case m.Key == "permission", m.Key == "tools":
			continue
		case m.Key == "agent":
			f.applyAgents(m.Value)
		case m.Key == "command":
			f.applyCommands(m.Value)
		default:
			if !keep(f, m.Value, m.Key) {
				continue
			}
		}
		members = append(members, m)
	}
	root.Members = members
}

// collect takes out the top-level rules.
func (f *filter) collect(root *jsonc.Value) {
	perm := root.Clone()
	lowerTools(perm, &decoder{}, "")
	v := perm.Get("permission")
	if v == nil {
		return
	}
	var rules Rules
	rules.decode(&decoder{}, f.tighten(v, "permission", false), "permission")
	f.rules = append(f.rules, f.few(rules, len(f.rules), "permission", v)...)
}

// tighten returns the rules without those that allow, and without those that
// ask either if denyOnly is set.
func (f *filter) tighten(v *jsonc.Value, path string, denyOnly bool) *jsonc.Value {
	out := jsonc.NewObject()
	keep := func(v *jsonc.Value, at string) bool {
		switch {
		case v.Text == string(lathe.Deny), (v.Text == string(lathe.AskMe) || v.Text == string(lathe.Review)) && !denyOnly:
			return true
		case v.Kind == jsonc.Null:
			return false
		}
		f.out(at, v.Pos(), "rules of an untrusted repository can only tighten")
		return false
	}
	for _, m := range permissionObject(v).Members {
		at := join(path, m.Key)
		if m.Value.Kind != jsonc.Object {
			if keep(m.Value, at) {
				out.Put(m)
			}
			continue
		}
		inner := jsonc.NewObject()
		for _, p := range m.Value.Members {
			if keep(p.Value, join(at, p.Key)) {
				inner.Put(p)
			}
		}
		if len(inner.Members) > 0 {
			m.Value = inner
			out.Put(m)
		}
	}
	return out
}

var agentKeys = []string{"name", "description", "mode", "prompt", "temperature", "top_p", "hidden", "color", "steps", "permission", "model", "variant", "disable"}

// leaderKeys decide which agents can lead a session, and so which one does by
// default. A repository may set them only for its own agents.
var leaderKeys = []string{"mode", "hidden", "disable"}

const leaderReason = "it would change which of your agents leads"

// applyAgents leaves out what needs trust, and takes out the rules: merged with
// the person's, they could displace a stricter one.
func (f *filter) applyAgents(agents *jsonc.Value) {
	f.bound(agents)
	for _, a := range agents.Members {
		path := "agent." + a.Key
		var members []jsonc.Member
		for _, m := range a.Value.Members {
			at := join(path, m.Key)
			switch {
			case !slices.Contains(agentKeys, m.Key):
				f.out(at, m.Pos(), generalReason)
				continue
			case m.Key == "model" && !passModel(f, m.Value, at):
				continue
			case m.Key == "permission":
				var rules Rules
				rules.decode(&decoder{}, f.tighten(m.Value, at, true), at)
				rules = f.few(rules, f.ruled, at, m.Value)
				f.ruled += len(rules)
				f.agents[a.Key] = append(f.agents[a.Key], rules...)
				continue
			case slices.Contains(leaderKeys, m.Key) && f.mine(a.Key):
				f.out(at, m.Pos(), leaderReason)
				continue
			}
			members = append(members, m)
		}
		a.Value.Members = members
	}
}

// applyCommands leaves out those whose template runs a shell command, or attaches a
// file from outside.
func (f *filter) applyCommands(commands *jsonc.Value) {
	commands.Members = slices.DeleteFunc(commands.Members, func(m jsonc.Member) bool {
		switch template := textOf(m.Value.Get("template")); {
		case strings.Contains(template, "!`"):
			f.out("command."+m.Key, m.Pos(), "its template runs a shell command")
		case attachesOutside(template):
			f.out("command."+m.Key, m.Pos(), "its template reads a file outside the repository")
		default:
			model := m.Value.Get("model")
			if model != nil && !passModel(f, model, "command."+m.Key+".model") {
				m.Value.Delete("model")
			}
			return false
		}
		return true
	})
}

// attachesOutside reports whether a template names a file as "@path" that is
// not below the repository.
func attachesOutside(template string) bool {
	for rest := template; ; {
		_, after, ok := strings.Cut(rest, "@")
		if !ok {
			return false
		}
		rest = after
		path := after
		if end := strings.IndexAny(after, " \t\r\n`,;)\"'"); end >= 0 {
			path = after[:end]
		}
		if path != "" && !local(path) {
			return true
		}
	}
}

// passModel lets a repository choose among the user's models. A script plays
// answers from a file, so it is not one of them.
func passModel(f *filter, v *jsonc.Value, path string) bool {
	if strings.HasPrefix(v.Text, "script/") {
		f.out(path, v.Pos(), "it plays a script as a model")
		return false
	}
	return true
}

func onlyShareOff(f *filter, v *jsonc.Value, path string) bool {
	if v.Text == "disabled" || v.Text == "manual" {
		return v.Text == "disabled"
	}
	f.out(path, v.Pos(), "it would publish sessions")
	return false
}

func onlyTrue(f *filter, v *jsonc.Value, path string) bool {
	if v.True {
		return true
	}
	f.out(path, v.Pos(), "it would switch off undo")
	return false
}

// localPaths keeps the entries of a list that stay below the repository.
func localPaths(f *filter, v *jsonc.Value, path string) bool {
	v.Items = slices.DeleteFunc(v.Items, func(e *jsonc.Value) bool {
		if e.Kind == jsonc.String && local(e.Text) {
			return false
		}
		f.out(path, e.Pos(), "it reads from outside the repository")
		return true
	})
	return len(v.Items) > 0
}

func localSkills(f *filter, v *jsonc.Value, path string) bool {
	if v.Kind == jsonc.Array {
		return localPaths(f, v, path)
	}
	if urls := v.Delete("urls"); urls != nil {
		f.out(path+".urls", urls.Pos(), "it reads from outside the repository")
	}
	paths := v.Get("paths")
	return paths != nil && localPaths(f, paths, path+".paths")
}

func local(path string) bool {
	path = filepath.ToSlash(path)
	return path != "" && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "$") &&
		!strings.Contains(path, "://") && !filepath.IsAbs(path) && !slices.Contains(strings.Split(path, "/"), "..")
}

// Tighten lays the rules of an untrusted repository over an agent's whole
// ruleset, built-in rules included, so that no answer becomes looser: those for
// all agents, then what it denies this one.
func (c *Config) Tighten(agent string, rules []lathe.Rule) []lathe.Rule {
	if len(c.repoRules) > 0 {
		rules = tightened(rules, c.repoRules)
	}
	return slices.Concat(rules, c.repoAgents[agent])
}

// tightened returns the user's rules with those of an untrusted repository laid
// over them, so that no answer becomes looser. The repository's asks come after
// the user's rules. They may have overridden a deny, so the user's rules follow
// again from the first deny on, for the permissions that are asked about, and
// with "ask" for "allow". The repository's denies come last.
func tightened(user, repo []lathe.Rule) []lathe.Rule {
	var asks, denies []lathe.Rule
	for _, r := range repo {
		if r.Action == lathe.Deny {
			denies = append(denies, r)
		} else {
			r.Action = lathe.AskMe // a review would loosen a rule of the user's that asks
			asks = append(asks, r)
		}
	}
	out := append(slices.Clone(user), asks...)
	first := slices.IndexFunc(user, func(r lathe.Rule) bool { return r.Action == lathe.Deny })
	if first >= 0 && len(asks) > 0 {
		out = append(out, again(user[first:], asks)...)
	}
	return append(out, denies...)
}

// again returns the rules that apply again after the asks: narrowed to the
// permissions asked about, or all of them if one of those is a wildcard.
func again(rules, asks []lathe.Rule) []lathe.Rule {
	var names []string
	for _, a := range asks {
		if strings.ContainsAny(a.Permission, "*?") {
			names = []string{""}
			break
		}
		if !slices.Contains(names, a.Permission) {
			names = append(names, a.Permission)
		}
	}
	var out []lathe.Rule
	for _, name := range names {
		for _, r := range rules {
			if name != "" && !wildcard(r.Permission, name) {
				continue
			}
			if name != "" {
				r.Permission = name
			}
			if r.Action == lathe.Allow || r.Action == lathe.Review {
				r.Action = lathe.AskMe
			}
			out = append(out, r)
		}
	}
	return out
}

// wildcard reports whether a name matches a pattern in which "*" is any run of
// characters and "?" one byte. It goes back to the last star only, so that no
// pattern is slow.
func wildcard(pattern, name string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
