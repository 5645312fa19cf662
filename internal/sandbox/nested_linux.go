//go:build amd64 || arm64

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"lathe/internal/order"
)

// Checkouts below the project (a clone that a command made, a vendored one) have hooks and
// settings that git executes, too. Mounts would keep commands from removing such a checkout,
// so the calls that change them are refused as they are seen; see barsGit. A repository that
// the command itself makes is its own until it ends: templates may bring hooks, and tests
// make repositories with some. Then it is looked at like everything else that is new.

// maxBorn bounds how many new repositories are followed. What comes after them is treated
// as if it had been there.
const maxBorn = 4096

// nested follows what a command does to git's directories below the project. It is safe
// for concurrent use.
type nested struct {
	policy *Policy
	own    []string // git's directories that the policy protects itself

	mu sync.Mutex
	// noted are files and directories to look at in the end, with what a file held before:
	// what is called .git, settings, and directories that were moved here.
	noted map[string][]byte
}

func newNested(policy *Policy) *nested {
	n := &nested{policy: policy, noted: map[string][]byte{}}
	for _, dir := range policy.Checkouts {
		n.own = append(n.own, filepath.Join(dir, ".git"))
		if filepath.Base(dir) == ".git" || strings.Contains(dir, "/.git/") {
			n.own = append(n.own, dir)
		}
	}
	return n
}

// bars reports whether a command may not make a change, and notes what has to be looked at
// when it has ended.
func (n *nested) bars(c change) bool {
	if c.op == "rename" && c.from != "" {
		n.moved(c.from, c.path)
	}
	git, name, inside := inGit(c.path)
	called := filepath.Base(c.path) == ".git"
	switch {
	case !inside && !called || !n.covers(c.path):
		return false
	case called:
		return n.called(c)
	case n.isBorn(git):
		return false
	case name == "commondir" && strings.Contains(git, "/worktrees/") && !exists(c.path):
		return !n.note(c.path, nil) // git writes where it leads, which is read in the end
	case !isConfig(name) && n.policy.given(c.path):
		return false
	case barsGit(git, name, c):
		return true
	case isConfig(name) && c.from != "": // who has it open may still write
		before, _ := readBounded(c.path)
		return !n.note(c.path, before)
	}
	return false
}

// called is bars for what is itself called .git.
func (n *nested) called(c change) bool {
	switch info, err := os.Lstat(c.path); {
	case c.away || c.op == "remove":
		return false
	case err != nil:
		return !n.note(c.path, nil) && c.from != "" && steersGit(c.from)
	case info.IsDir():
		return c.from != "" && steersGit(c.from)
	case info.Mode().IsRegular():
		text, _ := readBounded(c.path)
		n.note(c.path, text)
	}
	return false
}

// covers reports whether a path lies in a checkout, and not in git's directory of the
// project itself, of which only other worktrees' parts count.
func (n *nested) covers(path string) bool {
	if !within(path, n.policy.Checkouts) {
		return false
	}
	for _, dir := range n.own {
		if rest, ok := strings.CutPrefix(path, dir+"/"); path == dir || ok && !strings.HasPrefix(rest, "worktrees/") {
			return false
		}
	}
	return true
}

func within(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return below(path, dir) })
}

func (n *nested) isBorn(git string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ; len(git) > 1; git = filepath.Dir(git) {
		if _, noted := n.noted[git]; noted && filepath.Base(git) == ".git" {
			return true
		}
	}
	return false
}

// note has a path looked at in the end, and reports false if there are too many.
func (n *nested) note(path string, before []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, there := n.noted[path]; there {
		return true
	}
	if len(n.noted) < maxBorn {
		n.noted[path] = before
		return true
	}
	return false
}

// moved follows what is new to another place, and notes directories that come from outside.
func (n *nested) moved(from, to string) {
	if within(to, n.policy.Checkouts) && !within(from, n.policy.Checkouts) {
		if info, err := os.Lstat(from); err == nil && info.IsDir() {
			n.note(to, nil)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for path, before := range n.noted {
		if below(path, from) && len(n.noted) < 2*maxBorn {
			n.noted[to+path[len(from):]] = before
		}
	}
}

// check moves away what makes git execute something in what was noted.
func (n *nested) check() (refused []Refusal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := &guard{policy: n.policy.later(), level: Files, configs: map[string][]byte{}}
	for path, before := range n.noted {
		if realPath(filepath.Dir(path)) != filepath.Dir(path) {
			continue // it is gone, or its directory leads elsewhere now
		}
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case isConfig(filepath.Base(path)):
			if before != nil {
				g.configs[path] = before
			}
			refused = append(refused, g.checkConfig(path)...)
		case info.IsDir():
			refused = append(refused, n.checkTree(g, path)...)
		case !n.leadsHome(path, before):
			refused = append(refused, g.aside(path, "create"))
		}
	}
	clear(n.noted)
	order.Stable(refused, func(a, b Refusal) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(refused, func(a, b Refusal) bool { return a.Path == b.Path })
}

// checkTree looks at a new repository, or at those in a directory.
func (n *nested) checkTree(g *guard, dir string) (refused []Refusal) {
	for _, path := range steeringBelow(dir) {
		switch {
		case n.policy.given(path) || !exists(path):
		case filepath.Base(path) == ".git" && n.leadsHome(path, nil):
		default:
			refused = append(refused, g.aside(path, "create"))
		}
	}
	return refused
}

// leadsHome reports whether a file, which says where git's directory or the one that it
// shares is, says nothing new or names one whose hooks and settings are followed.
func (n *nested) leadsHome(path string, before []byte) bool {
	text, err := readAlone(path)
	switch {
	case err != nil:
		return false
	case before != nil && string(text) == string(before):
		return true
	case filepath.Base(path) == "commondir":
		return leadsUp(text)
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if to = strings.TrimSpace(to); !ok || to == "" {
		return true // git does not read it either
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	real := realPath(to)
	if real == "" {
		real = to
	}
	if at := strings.LastIndex(real+"/", "/.git/"); at >= 0 && within(real, n.policy.Checkouts) {
		rest := (real + "/")[at+len("/.git/"):]
		odd := slices.ContainsFunc(strings.Split(rest, "/"), func(name string) bool { return slices.Contains(noGitDirs, name) })
		return rest == "" || !odd && (strings.HasPrefix(rest, "modules/") || strings.HasPrefix(rest, "worktrees/"))
	}
	return !within(real, n.policy.later().existing(n.policy.Write))
}

// leadsUp reports whether a worktree's part of git's directory names the rest of it.
func leadsUp(commondir []byte) bool { return strings.TrimSpace(string(commondir)) == "../.." }

// maxSteeringLook bounds how many files are looked at in a directory that was moved.
const maxSteeringLook = 200_000

// steeringBelow lists what makes git execute something in any of git's directories below
// one, or in itself. Files called .git are listed, too: they lead to another one.
func steeringBelow(dir string) (list []string) {
	left := maxSteeringLook
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case err != nil:
		case !d.IsDir():
			if d.Name() == ".git" {
				list = append(list, path)
			}
		case d.Name() == ".git":
			for _, git := range gitDirs(path) {
				list = append(list, steering(git)...)
			}
			return fs.SkipDir
		}
		return nil
	})
	return list
}

// bringsGit reports whether git would execute something in a directory of it below one.
func bringsGit(dir string) bool {
	return slices.ContainsFunc(steeringBelow(dir), func(path string) bool { return filepath.Base(path) != ".git" })
}

// steering lists what makes git execute something in a directory of it: hooks, settings,
// and another directory that those are taken from.
func steering(git string) (list []string) {
	hooks := filepath.Join(git, "hooks")
	if info, err := os.Lstat(hooks); err == nil && info.IsDir() {
		entries, _ := os.ReadDir(hooks)
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".sample") {
				list = append(list, filepath.Join(hooks, e.Name()))
			}
		}
	} else if err == nil {
		list = append(list, hooks)
	}
	for _, name := range []string{"config", "config.worktree", "commondir"} {
		path := filepath.Join(git, name)
		text, err := readAlone(path)
		switch {
		case os.IsNotExist(err):
		case err == nil && name == "commondir" && leadsUp(text):
		case err == nil && name != "commondir" && !executesMore(nil, text, strings.Contains(git, "/modules/")):
		default:
			list = append(list, path)
		}
	}
	return list
}

// steersGit reports whether a directory that is put in the place of one of git's, or of one
// that holds some, would make git execute something.
func steersGit(dir string) bool {
	return slices.ContainsFunc(gitDirs(dir), func(git string) bool { return len(steering(git)) > 0 })
}

// noGitDirs are in git's directories and hold none themselves.
var noGitDirs = []string{"objects", "refs", "logs", "hooks"}

// gitDirs lists a directory of git and those in it that may be one of a submodule or worktree.
func gitDirs(dir string) (list []string) {
	left := maxSteeringLook
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case err != nil || !d.IsDir():
		case path != dir && slices.Contains(noGitDirs, d.Name()):
			return fs.SkipDir
		default:
			list = append(list, path)
		}
		return nil
	})
	return list
}

// readAlone reads a file that has no other name by which it could be changed later.
func readAlone(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return nil, fs.ErrInvalid
	}
	return readBounded(path)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isConfig(name string) bool { return name == "config" || name == "config.worktree" }

// barsGit decides about files that git executes, or executes by, in any checkout: a
// configuration may be replaced, as git does, by one that executes nothing new.
func barsGit(git, name string, c change) bool {
	switch {
	case c.op == "remove":
		return false
	case strings.HasPrefix(name, "hooks/"):
		return !strings.HasSuffix(name, ".sample")
	case isConfig(name):
		return barsConfig(git, name, c)
	case c.away:
		return false
	case name == "hooks":
		return c.whole && (c.from == "" || !harmless(c.from))
	case name == "commondir":
		return true
	}
	part := strings.HasPrefix(name+"/", "modules/") || strings.HasPrefix(name+"/", "worktrees/")
	return part && c.from != "" && steersGit(c.from)
}

func barsConfig(git, name string, c change) bool {
	if c.from == "" || c.op == "link" {
		return true // git itself replaces it
	}
	old, _ := readBounded(filepath.Join(git, name))
	fresh, err := readAlone(c.from)
	if os.IsNotExist(err) {
		return false
	}
	return err != nil || executesMore(old, fresh, strings.Contains(git, "/modules/"))
}

// inGit splits the path of a file in a directory of git: one called .git, or one of a
// submodule or worktree in it.
func inGit(path string) (git, name string, ok bool) {
	at := strings.LastIndex(path, "/.git/")
	if at < 0 {
		return "", "", false
	}
	git, name = path[:at+len("/.git")], path[at+len("/.git/"):]
	if !strings.HasPrefix(name, "modules/") && !strings.HasPrefix(name, "worktrees/") {
		return git, name, true
	}
	for _, end := range []string{"hooks/", "hooks", "config", "config.worktree", "commondir"} {
		i := strings.LastIndex(name, "/"+end)
		whole := strings.HasSuffix(end, "/") || i+1+len(end) == len(name)
		if i >= 0 && whole && !strings.Contains(name[:i]+"/", "/refs/") && !strings.Contains(name[:i]+"/", "/logs/") {
			return filepath.Join(git, name[:i]), name[i+1:], true
		}
	}
	return git, name, true
}
