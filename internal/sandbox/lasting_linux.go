//go:build amd64 || arm64

package sandbox

import (
	"path/filepath"
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
	away     bool   // the path is where a rename or a link takes something from
}

// barred reports whether the process may not do that. A lasting one may change no protected
// file and make none; others may not make git execute something in a checkout below.
func (t *teller) barred(c change) bool {
	if !t.lasting.Load() {
		return t.nested.bars(c)
	}
	git, name, ok := inGit(c.path)
	if t.policy.given(c.path) && !isConfig(name) {
		return false
	}
	for _, shut := range t.shut {
		if below(c.path, shut) || c.op == "rename" && below(shut, c.path) {
			return true
		}
	}
	if within(c.path, t.policy.Checkouts) {
		if c.op == "rename" && c.from != "" && !within(c.from, t.policy.Checkouts) && bringsGit(c.from) {
			return true
		}
		if filepath.Base(c.path) == ".git" && c.from != "" {
			return steersGit(c.from)
		}
		if ok {
			return barsGit(git, name, c)
		}
	}
	return t.policy.Forbid != nil && t.policy.Forbid(c.path, c.whole)
}
