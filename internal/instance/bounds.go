package instance

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
)

// anyFile stands for a file that no rule for particular files mentions.
const anyFile = "\x00"

// maxJudged bounds how many files of the project are compared with rules for particular
// files.
const maxJudged = 50_000

// bounds are how an agent's rules bound what its processes change and read.
type bounds struct {
	c      *Confinement
	policy permission.Policy
	edits  bool // what they ask about was allowed
	call   bool // it is a call's command: others act for calls that were judged, as formatters do
}

// bound narrows the policy of all processes.
func (b bounds) bound(p *sandbox.Policy) {
	closed := b.closed()
	open := b.opened(closed)
	p.Write = slices.Concat(p.Write, b.allowedOutside())
	p.Write = slices.DeleteFunc(p.Write, func(path string) bool { return slices.Contains(closed, path) })
	around := len(closed) > 0 && slices.ContainsFunc(p.Write, func(dir string) bool { return within(dir, closed[0]) })
	p.Write = slices.Concat(p.Write, open)
	p.Protect = func() []string {
		list := b.protected()
		if around {
			list = append(list, b.entries(closed, open)...)
		}
		return list
	}
	p.Forbid = b.forbidden()
	p.Hide = slices.Concat(p.Hide, b.deniedReads())
}

// closed lists the directories of the project in which nothing may be changed without
// asking, except for what rules open by name.
func (b bounds) closed() []string {
	if !b.call {
		if b.policy.ActionUnder("edit", "") == lathe.Deny {
			return b.c.worktree()
		}
		return nil
	}
	switch b.editing(anyFile) {
	case lathe.Allow:
		return nil
	case lathe.Deny:
		return b.c.worktree()
	}
	root := b.c.i.Root // nobody edits what git keeps for itself
	if root.VCS == "" {
		return []string{root.Dir}
	}
	return []string{root.Dir, root.TopLevel}
}

// editing is what the rules, and what was approved, say of editing a file.
func (b bounds) editing(rel string) lathe.Action {
	action := b.policy.Action("edit", rel)
	if action == lathe.Allow || action == lathe.Deny {
		return action
	}
	if b.edits || permission.Evaluate("edit", rel, b.c.i.Permission.Approved()).Action == lathe.Allow {
		return lathe.Allow
	}
	return lathe.AskMe
}

// opened lists directories of a closed project in which all may be edited.
func (b bounds) opened(closed []string) (dirs []string) {
	if len(closed) == 0 {
		return nil
	}
	for _, r := range b.policy.Rules {
		dir, whole := strings.CutSuffix(r.Pattern, "/*")
		if r.Permission != "edit" || r.Action != lathe.Allow || !whole || dir == "" || strings.ContainsAny(dir, "*?[") || !filepath.IsLocal(dir) {
			continue
		}
		if b.policy.ActionUnder("edit", dir+"/") == lathe.Allow {
			dirs = append(dirs, filepath.Join(b.c.top(), filepath.FromSlash(dir)))
		}
	}
	return dirs
}

// entries lists what the top directory of a closed project holds, for one that lies in a
// directory which may be written.
func (b bounds) entries(closed, open []string) (list []string) {
	top := b.c.top()
	entries, _ := os.ReadDir(top)
	for _, e := range entries {
		path := filepath.Join(top, e.Name())
		git := path == b.c.i.Root.GitDir && !slices.Contains(closed, path)
		if !git && !slices.Contains(open, path) {
			list = append(list, path)
		}
	}
	return list
}

// protected lists what steers programs, and what the rules do not let be edited.
func (b bounds) protected() []string {
	i := b.c.i
	list := builtin.Protected(i.Root, i.Paths.Home, i.upward())
	list = append(list, b.c.startUp()...)
	return append(list, b.deniedEdits()...)
}

// forbidden reports whether a file would be protected once it is there.
func (b bounds) forbidden() func(path string, whole bool) bool {
	i := b.c.i
	steers := builtin.Forbidden(i.Root, i.Paths.Home, i.upward())
	edits := restricts(b.policy, "edit", lathe.Deny, lathe.AskMe)
	start := b.c.startUp()
	return func(path string, whole bool) bool {
		return steers(path, whole) || slices.Contains(start, path) ||
			edits && within(b.c.top(), path) && b.editing(i.Root.Name(path)) != lathe.Allow
	}
}

// allowedOutside lists the directories outside the project that the rules let tools
// write unasked.
func (b bounds) allowedOutside() (dirs []string) {
	policy := b.policy
	if policy.ActionUnder("external_directory", "/") == lathe.Allow && policy.ActionUnder("edit", "/") == lathe.Allow {
		return []string{"/"}
	}
	for _, r := range policy.Rules {
		dir, whole := strings.CutSuffix(r.Pattern, "*")
		if r.Permission != "external_directory" || r.Action != lathe.Allow || !whole || strings.ContainsAny(dir, "*?[") || !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Clean(dir)
		if policy.Action("external_directory", r.Pattern) == lathe.Allow && policy.ActionUnder("edit", dir) == lathe.Allow && !b.c.owns(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// deniedEdits lists the files that a rule for particular files keeps from being edited
// without asking.
func (b bounds) deniedEdits() []string {
	if !restricts(b.policy, "edit", lathe.Deny, lathe.AskMe) {
		return nil
	}
	return b.c.matching(func(rel string) bool { return b.editing(rel) != lathe.Allow })
}

// deniedReads lists the files that a rule for some files denies reading.
func (b bounds) deniedReads() []string {
	if !restricts(b.policy, "read", lathe.Deny) {
		return nil
	}
	return b.c.matching(func(rel string) bool { return b.policy.Action("read", rel) == lathe.Deny })
}

// restricts reports whether a rule for some files has one of the actions.
func restricts(policy permission.Policy, name string, actions ...lathe.Action) bool {
	return slices.ContainsFunc(slices.Concat(append([][]lathe.Rule{policy.Rules}, policy.Ceilings...)...), func(r lathe.Rule) bool {
		return r.Permission == name && !permission.Everything(r.Pattern) && slices.Contains(actions, r.Action)
	})
}

// top is the directory that patterns of files are relative to.
func (c *Confinement) top() string {
	if c.i.Root.VCS != "" {
		return c.i.Root.TopLevel
	}
	return c.i.Root.Dir
}

// matching lists the files of the project, by absolute path, for which a test of the
// path that rules see holds.
func (c *Confinement) matching(test func(rel string) bool) (list []string) {
	left := maxJudged
	_ = filepath.WalkDir(c.top(), func(path string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && test(c.i.Root.Name(path)):
			list = append(list, path)
		}
		return nil
	})
	return list
}
