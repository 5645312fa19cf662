// Package approval puts permission asks into words: what is asked for, and what an
// answer would allow from then on. Every face that asks a person says it with
// these, so that the same ask reads the same wherever it is answered. Texts of
// models and files are passed on as they came; the face makes them harmless.
package approval

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

// Kind says what a [Fact] tells.
type Kind int

// The kinds of facts, in the order in which they are told.
const (
	Purpose Kind = iota // what a call is for, in the words of the model
	Command             // a command, whole
	Step                // one of the commands that a command is made of
	Subject             // what is used: a tool, a file, an address
	Also                // a permission that is asked for beside it, in words that a face translates
	Careful             // why a person should look twice
	Content             // text that would be written, whole
	Diff                // a change, as a unified diff
)

// Fact is something that a person has to know to answer an ask.
type Fact struct {
	Kind  Kind
	Label string // such as "file"; may be empty
	Text  string
}

// Protected reports an ask that is asked each time, whatever was answered before.
// One that offers to be allowed by its name is not.
func Protected(a lathe.Ask) bool {
	yes, _ := a.Metadata[tool.MetaProtected].(bool)
	return yes && (a.Metadata[tool.MetaNamed] == nil || len(a.Always) == 0)
}

// Facts returns all that an ask is about.
func Facts(a lathe.Ask) []Fact {
	var out []Fact
	text := func(key string) string { s, _ := a.Metadata[key].(string); return s }
	add := func(kind Kind, label, s string) {
		if strings.TrimSpace(s) != "" {
			out = append(out, Fact{kind, label, s})
		}
	}
	add(Purpose, "", text("description"))
	if text("command") == "" { // a command speaks for itself
		add(Subject, "tool", text("tool"))
	}
	add(Subject, "MCP server", text("server"))
	add(Subject, "which claims of it", text("hints"))
	cmd := text("command")
	add(Command, "", cmd)
	if label, about := subject(a); cmd == "" || a.Permission != "bash" {
		add(Subject, label, about)
	}
	add(Careful, "careful", text("reason")) // before what may be long
	for _, r := range texts(a.Metadata["risks"]) {
		add(Careful, "careful", r)
	}
	for _, r := range texts(a.Metadata["reasons"]) {
		add(Careful, "since", r)
	}
	if cmd != "" && a.Permission == "bash" && (len(a.Patterns) != 1 || strings.TrimSpace(a.Patterns[0]) != strings.TrimSpace(cmd)) {
		for i, name := range Named(a) {
			add(Step, fmt.Sprint(i+1), name)
		}
	}
	for _, w := range also(a) {
		for _, words := range w.words(w.patterns) {
			add(Also, "also for", words)
		}
	}
	add(Content, "with", text("arguments"))
	add(Content, "the model would be told", text("prompt"))
	add(Content, "writes", text("content"))
	add(Diff, "", text("diff"))
	return out
}

// subject names what an ask is about, beside a command.
func subject(a lathe.Ask) (label, text string) {
	if a.Permission != "external_directory" {
		return "", strings.Join(Named(a), ", ")
	}
	if file, _ := a.Metadata["filepath"].(string); file != "" {
		return "outside the project", file
	}
	dirs := make([]string, len(a.Patterns))
	for i, p := range a.Patterns {
		dirs[i] = or(strings.TrimSuffix(p, "/*"), "/")
	}
	return "outside the project", strings.Join(dirs, ", ")
}

// Named returns what an ask names, each once: its patterns, and of what is known only
// when it runs the words that stand for it.
func Named(a lathe.Ask) []string {
	var out []string
	for _, p := range a.Patterns {
		if src, ok := unsettled(p); ok {
			p = src
			if a.Permission != "bash" {
				p = fmt.Sprintf(whatever, src)
			}
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// want is a permission that an ask is about beside its own.
type want struct {
	permission       string
	patterns, always []string
}

func (w want) words(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = Words(w.permission, p)
	}
	return out
}

func also(a lathe.Ask) []want {
	list, _ := a.Metadata[tool.MetaAlso].([]any)
	var out []want
	for _, v := range list {
		m, _ := v.(map[string]any)
		name, _ := m["permission"].(string)
		if name != "" {
			out = append(out, want{name, texts(m["patterns"]), texts(m["always"])})
		}
	}
	return out
}

// texts reads a list of strings, which has another type when it came over the wire.
func texts(v any) []string {
	if list, ok := v.([]string); ok {
		return list
	}
	var out []string
	list, _ := v.([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Offer is something that an answer can allow from then on.
type Offer struct {
	Permission string
	Patterns   []string
	also       []want
	shared     bool // by several servers
}

// Offers returns what can be allowed from then on, the least first. It is empty
// where every such call is asked about, and where nothing less than everything
// could be remembered.
func Offers(a lathe.Ask) []Offer {
	if Protected(a) || len(a.Always) == 0 {
		return nil
	}
	base := Offer{Permission: a.Permission, Patterns: narrow(a.Patterns, a.Always)}
	base.shared, _ = a.Metadata[tool.MetaShared].(bool)
	if len(base.Patterns) == 0 {
		return nil
	}
	for _, w := range also(a) {
		w.always = narrow(w.patterns, w.always)
		base.also = append(base.also, w)
	}
	out := []Offer{base}
	if a.Permission == "edit" || a.Permission == "read" {
		if dirs := directories(a.Patterns); len(dirs) > 0 {
			out = append(out, Offer{a.Permission, dirs, base.also, base.shared})
		}
	}
	return out
}

// narrow returns what may be remembered of what an ask offers.
func narrow(asked, offered []string) []string {
	var out []string
	for _, o := range offered {
		for _, p := range permission.Narrow(asked, o) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// directories returns patterns for all in the directories of files. Files at the
// top have none: that would be everything.
func directories(files []string) []string {
	var out []string
	for _, f := range files {
		dir := path.Dir(f)
		if dir == "." || dir == "/" || strings.HasPrefix(f, "<") {
			return nil
		}
		if p := permission.Literal(dir) + "/*"; !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Words says in plain words what is allowed, one line for each pattern.
func (o Offer) Words() []string {
	out := want{permission: o.Permission}.words(o.Patterns)
	for _, w := range o.also {
		out = append(out, w.words(w.always)...)
	}
	return out
}

// Reply is the answer that allows it: for a while, see [Offer.Where], or in this project for
// good.
func (o Offer) Reply(project bool) lathe.Reply {
	return lathe.Reply{Kind: lathe.Always, Project: project, Patterns: o.Patterns}
}

// Check says what is wrong with patterns that a person wrote, or "".
func Check(patterns []string) string {
	if len(patterns) == 0 {
		return "a pattern is needed"
	}
	for _, p := range patterns {
		if permission.Everything(p) {
			return fmt.Sprintf("%q would allow everything: name what it begins with", p)
		}
	}
	return ""
}

// Where says how long a grant lasts that is about to be given.
func (o Offer) Where(project bool) string {
	if o.shared && !project {
		return "for 24 hours, at all servers"
	}
	return Lasts(project, time.Time{})
}

// Lasts says how long a grant lasts: for good if it is stored, else until a time, or, if that is
// zero, as long as its lathe runs.
func Lasts(stored bool, until time.Time) string {
	switch {
	case stored:
		return "in this project, for good"
	case !until.IsZero():
		return "until " + until.Format("2 Jan 15:04")
	}
	return "until lathe ends"
}

// Granted says what was allowed. What takes it back is for the face to say.
func (o Offer) Granted(project bool) string {
	return "allowed " + o.Where(project) + ": " + strings.Join(o.Words(), "; ")
}

// Revoke is the command that takes a grant for the project back.
func (o Offer) Revoke() string {
	var args []string
	add := func(name string, patterns []string) {
		for _, p := range patterns {
			args = append(args, "'"+strings.ReplaceAll(name+":"+p, "'", `'\''`)+"'")
		}
	}
	add(o.Permission, o.Patterns)
	for _, w := range o.also {
		add(w.permission, w.always)
	}
	return "lathe permissions revoke " + strings.Join(args, " ")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
