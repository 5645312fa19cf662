// Package reading answers one question in one place: may the content of this file
// be shown? The rules for the permission "read" say so, for the read tool as for
// whatever else prints lines of files or tells of them.
package reading

import (
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// Name is the permission that reading is judged by.
const Name = "read"

// Rules judge files of one workspace. They are compiled once and cheap to ask
// about many files; they are safe for concurrent use.
type Rules struct {
	root     workspace.Root
	sets     []ruleset // of the policy
	approved []lathe.Rule
	links    *Links
}

var _ tool.Reading = (*Rules)(nil)

// ruleset is a list of rules, those for reading only.
type ruleset struct {
	rules []lathe.Rule
	// words are texts of which a path must contain one before a rule that denies or
	// asks can match it. They count only if rest is set.
	words []string
	// rest says that what no other rule matches is allowed.
	rest bool
}

// New returns the rules of a policy, with what was approved for reading beside
// them. Links may be nil: then hard links are not looked at.
func New(root workspace.Root, policy permission.Policy, approved []lathe.Rule, links *Links) *Rules {
	r := &Rules{root: root, links: links, approved: only(approved)}
	for _, rules := range append([][]lathe.Rule{policy.Rules}, policy.Ceilings...) {
		r.sets = append(r.sets, compile(only(rules)))
	}
	return r
}

// only returns the rules for reading. A rule that denies everything, or asks about
// it, whatever the tool, says nothing of reading: it bounds the tools themselves,
// and one that is allowed beside it is meant to work.
func only(rules []lathe.Rule) []lathe.Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r lathe.Rule) bool {
		return !permission.Match(r.Permission, Name) || r.Permission == "*" && r.Pattern == "*" && r.Action != lathe.Allow
	})
}

// compile drops what a later rule for everything overrides, and notes how to see
// quickly that a path is allowed.
func compile(rules []lathe.Rule) ruleset {
	for i, r := range slices.Backward(rules) {
		if r.Pattern == "*" {
			rules = rules[i:]
			break
		}
	}
	s := ruleset{rules: rules, rest: len(rules) > 0 && rules[0].Pattern == "*" && rules[0].Action == lathe.Allow}
	for _, r := range rules {
		if r.Action != lathe.Allow {
			s.words = append(s.words, longestWord(r.Pattern))
		}
	}
	slices.SortFunc(s.words, func(a, b string) int { return len(a) - len(b) })
	var words []string // less those that hold another
	for _, w := range s.words {
		if !slices.ContainsFunc(words, func(short string) bool { return strings.Contains(w, short) }) {
			words = append(words, w)
		}
	}
	s.words = words
	return s
}

// longestWord returns a text that whatever matches the pattern contains.
func longestWord(pattern string) string {
	if strings.HasSuffix(pattern, " *") || strings.ContainsAny(pattern, "\\[") { // optional, or not literal
		return ""
	}
	word := ""
	for _, w := range strings.FieldsFunc(pattern, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(w) > len(word) {
			word = w
		}
	}
	return word
}

func (s ruleset) judge(name string) tool.Verdict {
	if s.rest && !s.suspect(name) {
		return tool.Verdict{Action: lathe.Allow, Rule: s.rules[0]}
	}
	rule := permission.Evaluate(Name, name, s.rules)
	return tool.Verdict{Action: rule.Action, Rule: rule}
}

func (s ruleset) suspect(name string) bool {
	for _, w := range s.words {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// Restricts reports whether any file may get an answer with one of the actions.
func (r *Rules) Restricts(actions ...lathe.Action) bool {
	return slices.ContainsFunc(r.sets, func(s ruleset) bool {
		return slices.ContainsFunc(s.rules, func(rule lathe.Rule) bool { return slices.Contains(actions, rule.Action) })
	})
}

// Path judges a resolved path by its name alone.
func (r *Rules) Path(path string) tool.Verdict { return r.judge(r.rel(path)) }

// Below returns Path for what lies in a resolved directory.
func (r *Rules) Below(dir string) func(path string) tool.Verdict {
	prefix := r.rel(dir) + "/"
	if prefix == "./" {
		prefix = ""
	}
	return func(path string) tool.Verdict { return r.judge(prefix + path) }
}

// Content judges what a file with a resolved path holds: by its name, and by the
// other names that hard links give it.
func (r *Rules) Content(path string) tool.Verdict {
	v := r.Path(path)
	if v.Action == lathe.Deny || r.links == nil {
		return v
	}
	others, sure := r.links.others(r, path)
	for _, other := range others {
		v = stricter(v, r.Path(other))
		sure = sure && r.root.Contains(other)
	}
	if !sure {
		v = stricter(v, tool.Verdict{Action: lathe.AskMe})
	}
	return v
}

// Others returns the other paths of a hard-linked file under which what it holds
// is restricted. Sure is false when not all could be looked for.
func (r *Rules) Others(path string) (paths []string, sure bool) {
	if r.links == nil {
		return nil, true
	}
	return r.links.others(r, path)
}

// rel is the path as patterns have it. The path is resolved, so nothing of the
// file system has to be asked.
func (r *Rules) rel(path string) string {
	rel, err := filepath.Rel(r.root.TopLevel, path)
	if err != nil { // another volume
		rel = path
	}
	return filepath.ToSlash(rel)
}

func (r *Rules) judge(name string) tool.Verdict {
	out := tool.Verdict{Action: lathe.Allow}
	for _, set := range r.sets {
		out = stricter(out, set.judge(name))
	}
	if out.Action == lathe.AskMe && permission.Evaluate(Name, name, r.approved).Action == lathe.Allow {
		out.Action = lathe.Allow
	}
	return out
}

func stricter(a, b tool.Verdict) tool.Verdict {
	rank := func(v tool.Verdict) int {
		return slices.Index([]lathe.Action{lathe.Allow, lathe.AskMe, lathe.Deny}, v.Action)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}
