package lsp

import (
	"slices"

	"lathe/internal/shell"
)

// Reach is what the process of a server can read and write, of the directories that may
// become its roots. It does not change while the process lives. Nil is everything.
type Reach struct {
	Write []string // directories that it can read and write
	Read  []string // directories that it can only read
}

// has reports whether the process can serve a root: one that runs what the project brings
// also has to write there what it builds, for the others reading will do.
func (r *Reach) has(w wanted) bool {
	if r == nil {
		return true
	}
	holds := func(dir string) bool { return within(dir, w.root) }
	return slices.ContainsFunc(r.Write, holds) || !w.spec.Runs && slices.ContainsFunc(r.Read, holds)
}

// reach is what a server that is started now can read and write.
func (w wanted) reach() *Reach {
	if w.by.opts.Reach == nil || w.kind() == shell.KindFreeHelper {
		return nil
	}
	return w.by.opts.Reach()
}
