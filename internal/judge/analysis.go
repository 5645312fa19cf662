package judge

import (
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// Analysis is what a script would do, as far as that can be known without
// running it. A command that is not listed will not run: what cannot be judged
// is listed as dynamic, with a reason.
type Analysis struct {
	Commands []Cmd
	Reads    []PathUse
	Writes   []PathUse
	// Reaches names what uses the network, as "curl" or "npm install". A program that is
	// not in the table may use it as well.
	Reaches []string
	Reasons []string // why something cannot be judged, for people
	// Waits names a program that would wait for keys: an editor without a script.
	Waits string
	// Pipelines are those that may be the last thing the script runs, by the source of
	// their parts.
	Pipelines [][]string
	// RunsFetched is set if the script seems to run what it fetches from the network.
	RunsFetched bool
	Unparsed    error // set if this is not a shell script; then there is one dynamic command
}

// Cmd is one command that would run.
type Cmd struct {
	Text    string   // words joined by one space, without quotes, for rules
	Args    []string // the words; one that is not known is its source text
	Always  string   // pattern that an "always" reply remembers; empty: none
	Dir     string   // where it runs; empty when that is not known
	Dynamic bool     // what it does is not known; Text is the source
	// Prefix is what the text of a dynamic command is known to begin with. Empty: it
	// may run anything.
	Prefix string
	// Also lists other texts under which deny rules know it, for instance its
	// name without the directory.
	Also []string
	// Spelt lists those of Also that are other spellings of the same program's name.
	Spelt []string
	// Runs lists commands that it may run in turn. Only denials count for them:
	// a person who allows "npx *" means what npx runs.
	Runs []string
}

// PathUse is a file or directory that would be used.
type PathUse struct {
	Path    string // absolute; of a dynamic one the source text
	Dynamic bool   // which path it is cannot be known
	// Within is a directory that a dynamic path is known to lie in, or empty.
	Within string
	Tree   bool   // all that lies below Path is meant, too
	Dir    bool   // Path is used as a directory: entered or listed, not read
	By     string // the command that uses it
}

// Root says which paths belong to the project, after resolving symbolic links.
type Root interface {
	Contains(path string) bool
	Rel(path string) string // relative to the worktree, with slashes
}

// dynamicText makes the rule text of a dynamic command or path. It begins and
// ends so that no rule for a command name or option matches it, but "*" does.
func dynamicText(source string) string { return "<dynamic: " + source + ">" }

// Requests returns what permission is needed for, in the order to ask: leaving
// the project, writing files, reading files, running the commands. A script that
// only changes directory within the project needs none.
func (a Analysis) Requests(root Root) []tool.Request {
	var out []tool.Request
	if dirs := a.external(root); len(dirs) > 0 {
		out = append(out, External(dirs...))
	}
	if req, ok := fileRequest("edit", a.Writes, root); ok {
		out = append(out, req)
	}
	if req, ok := fileRequest("read", a.Reads, root); ok {
		out = append(out, req)
	}
	if req, ok := a.commandRequest(); ok {
		out = append(out, req)
	}
	return out
}

func (a Analysis) external(root Root) []string {
	var dirs list
	for _, uses := range [][]PathUse{a.Writes, a.Reads} {
		for _, u := range uses {
			dir := u.Path
			if u.Dynamic {
				dir = u.Within
			}
			if dir == "" || root.Contains(dir) {
				continue
			}
			if !u.Dir && !u.Dynamic {
				dir = filepath.Dir(dir)
			}
			dirs.add(dir)
		}
	}
	return dirs.items
}

// External is the request to leave the project for whatever is below the
// directories. It offers to remember exactly those: their names contain no
// wildcards, and the root of the file system is not offered, because that would
// be everything.
func External(dirs ...string) tool.Request {
	req := tool.Request{Permission: "external_directory"}
	for _, dir := range dirs {
		dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
		req.Patterns = append(req.Patterns, dir+"/*")
		if dir != "" {
			req.Always = append(req.Always, lathe.LiteralPattern(dir)+"/*")
		}
	}
	return req
}

func fileRequest(permission string, uses []PathUse, root Root) (tool.Request, bool) {
	var patterns, under list
	for _, u := range uses {
		switch {
		case u.Dynamic:
			patterns.add(dynamicText(u.Path))
			under.add(prefixOf(u.Within, root))
		case u.Dir && !u.Tree:
		default:
			patterns.add(root.Rel(u.Path))
			if u.Tree {
				under.add(prefixOf(u.Path, root))
			}
		}
	}
	if len(patterns.items) == 0 {
		return tool.Request{}, false
	}
	req := tool.Request{Permission: permission, Patterns: patterns.items, Always: []string{"*"}}
	if len(under.items) > 0 {
		req.Metadata = map[string]any{tool.MetaUnder: under.items}
	}
	return req, true
}

func prefixOf(dir string, root Root) string {
	if dir == "" {
		return ""
	}
	rel := root.Rel(dir)
	if rel == "." || rel == "" {
		return ""
	}
	return strings.TrimSuffix(rel, "/") + "/"
}

func (a Analysis) commandRequest() (tool.Request, bool) {
	var patterns, always, under, runs list
	for _, c := range a.Commands {
		for _, text := range c.Runs {
			runs.add(text)
		}
		if c.Dynamic {
			patterns.add(dynamicText(c.Text))
			under.add(c.Prefix)
		} else {
			patterns.add(c.Text)
		}
		for _, text := range c.Also {
			patterns.add(text)
		}
		if c.Always != "" {
			always.add(c.Always)
		}
	}
	if len(patterns.items) == 0 {
		return tool.Request{}, false
	}
	req := tool.Request{Permission: "bash", Patterns: patterns.items, Always: always.items, Metadata: map[string]any{}}
	if len(under.items) > 0 {
		req.Metadata[tool.MetaUnder] = under.items
	}
	if len(runs.items) > 0 {
		req.Metadata[tool.MetaRuns] = runs.items
	}
	if spelt := a.spelt(); len(spelt) > 0 {
		req.Metadata[tool.MetaSpelt] = spelt
	}
	return req, true
}

// spelt returns the texts that are only other spellings of a command's name, with
// the command's text. A text that is a command of its own is left out.
func (a Analysis) spelt() map[string]string {
	out := map[string]string{}
	for _, c := range a.Commands {
		for _, text := range c.Spelt {
			if !c.Dynamic {
				out[text] = c.Text
			}
		}
	}
	for _, c := range a.Commands {
		delete(out, c.Text)
		for _, text := range c.Also {
			if !slices.Contains(c.Spelt, text) {
				delete(out, text)
			}
		}
	}
	return out
}

// list keeps the order of first appearance.
type list struct {
	items []string
	seen  map[string]bool
}

func (l *list) add(s string) {
	if l.seen[s] {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[s] = true
	l.items = append(l.items, s)
}

// Env is what [Analyze] knows about where the script would run.
type Env struct {
	Dir  string // working directory, absolute
	Home string // home directory, or empty when it is not known
	// Lookup returns the value of an environment variable that is the same for
	// the script. It may be nil.
	Lookup func(name string) (string, bool)
	// FoldCase is set if the file system treats RM as rm.
	FoldCase bool
}
