//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A lasting process is kept from protected files by refusing its calls, since nothing may
// be undone when it ends. The kernel goes on with what it read again, so a program that
// changes a path in memory while lathe looks at it gets past this; mounts and Landlock
// hold against that, too.

// outlive makes the process a lasting one.
func (t *teller) outlive() { t.lasting.Store(true) }

// change is what a call does to one of its paths.
type change struct {
	op, path string
	from     string // what a rename or a link puts there
	whole    bool   // something complete is put there: a rename or a link
}

// barred reports whether a lasting process may not do that: the path is a protected file,
// or would become one.
func (t *teller) barred(c change) bool {
	git, name, ok := inGit(c.path)
	config := name == "config" || name == "config.worktree"
	if !t.lasting.Load() || t.policy.given(c.path) && !config {
		return false
	}
	for _, shut := range t.shut {
		if below(c.path, shut) || c.op == "rename" && below(shut, c.path) {
			return true
		}
	}
	if !slices.ContainsFunc(t.policy.Checkouts, func(dir string) bool { return below(c.path, dir) }) {
		ok = false
	} else if filepath.Base(c.path) == ".git" && c.from != "" {
		return barsGit(c.path, "config", filepath.Join(c.from, "config")) || hooked(c.from)
	}
	if ok {
		return c.op != "remove" && barsGit(git, name, c.from)
	}
	return t.policy.Forbid != nil && t.policy.Forbid(c.path, c.whole)
}

// barsGit decides about files that git executes, or executes by, in any checkout: a
// configuration may be replaced, as git does, by one that executes nothing new.
func barsGit(git, name, from string) bool {
	switch {
	case strings.HasPrefix(name, "hooks/"):
		return !strings.HasSuffix(name, ".sample")
	case name != "config" && name != "config.worktree":
		return false
	case from == "":
		_, err := os.Lstat(filepath.Join(git, "HEAD"))
		return err == nil
	}
	old, _ := readBounded(filepath.Join(git, name))
	fresh, err := readBounded(from)
	if os.IsNotExist(err) {
		return false
	}
	return err != nil || executesMore(old, fresh, strings.Contains(git, "/modules/"))
}

// hooked reports whether a directory of git has hooks.
func hooked(git string) bool {
	hooks := filepath.Join(git, "hooks")
	_, err := os.Lstat(hooks)
	return err == nil && !harmless(hooks)
}

// inGit splits the path of a file in a directory of git: one called .git, or one of a
// submodule.
func inGit(path string) (git, name string, ok bool) {
	at := strings.LastIndex(path, "/.git/")
	if at < 0 {
		return "", "", false
	}
	git, name = path[:at+len("/.git")], path[at+len("/.git/"):]
	for _, end := range []string{"hooks/", "config", "config.worktree"} {
		if i := strings.LastIndex(name, "/"+end); i >= 0 && strings.HasPrefix(name, "modules/") {
			return filepath.Join(git, name[:i]), name[i+1:], true
		}
	}
	return git, name, true
}

// byProcess turns a path that names itself by way of a process's own directory of /proc,
// as that process sees it, into one that lathe can resolve.
func byProcess(pid uint32, path string) string {
	path = filepath.Clean(path)
	for from, to := range map[string]string{"/dev/fd": "fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2"} {
		if below(path, from) {
			path = "/proc/self/" + to + path[len(from):]
		}
	}
	for _, self := range []string{"/proc/self", "/proc/thread-self"} {
		if below(path, self) {
			return "/proc/" + strconv.Itoa(int(pid)) + path[len(self):]
		}
	}
	if strings.HasPrefix(path, "/proc/") {
		return "/proc/" + strconv.Itoa(int(pid)) + "/root" + path
	}
	return path
}
